/*
 * Replaces functions of wasi-libc that would import WASI (getenv, assert) or be large (malloc,
 * strtod), and one that the compiler's runtime has.
 */
#include <stdint.h>
#include <stdlib.h>

#include "noise/wide.h"

enum { PAGE = 65536 };

/* Set by the linker: the end of static data. */
extern unsigned char __heap_base;

/* Memory is never freed, since an instance of the module ends as a whole. So it is all zero. */
void *aligned_alloc(size_t alignment, size_t size)
{
    static uint64_t used;
    const uint64_t heap = (uintptr_t)&__heap_base;
    const uint64_t begin = (heap + used + alignment - 1) & ~((uint64_t)alignment - 1);
    const uint64_t end = begin + size, memory = (uint64_t)__builtin_wasm_memory_size(0) * PAGE;
    if (end > UINT32_MAX)
        return NULL;
    if (end > memory &&
        __builtin_wasm_memory_grow(0, (size_t)((end - memory + PAGE - 1) / PAGE)) == SIZE_MAX)
        return NULL;
    used = end - heap;
    return &__heap_base + (begin - heap);
}

void *calloc(size_t count, size_t size)
{
    size_t bytes;
    return __builtin_mul_overflow(count, size, &bytes) ? NULL : aligned_alloc(16, bytes);
}

void free(void *memory)
{
    (void)memory;
}

char *getenv(const char *name)
{
    (void)name;
    return NULL;
}

_Noreturn void __assert_fail(const char *condition, const char *file, int line,
                             const char *function)
{
    (void)condition, (void)file, (void)line, (void)function;
    __builtin_trap();
}

/* Imported from farlands.js: JavaScript rounds as C does. */
__attribute__((import_module("farlands"), import_name("strtod"))) double
imported_strtod(const char *text, char **end);

double strtod(const char *text, char **end)
{
    return imported_strtod(text, end);
}

/* Only functions that are not linked call it. */
float strtof(const char *text, char **end)
{
    return (float)imported_strtod(text, end);
}

/* With a call of __wasm_call_ctors the linker does not wrap every export in set-up and clean-up. */
void __wasm_call_ctors(void);
__attribute__((export_name("_initialize"))) void _initialize(void);
void _initialize(void)
{
    __wasm_call_ctors();
}

/* Called by the compiler for products of 128 bits. Modulo 2^128 signs do not matter. */
__int128 __multi3(__int128 a, __int128 b);
__int128 __multi3(__int128 a, __int128 b)
{
    const struct wide product = wide_multiply((uint64_t)a, (uint64_t)b);
    const uint64_t high = product.high + (uint64_t)((unsigned __int128)a >> 64) * (uint64_t)b +
                          (uint64_t)((unsigned __int128)b >> 64) * (uint64_t)a;
    return (__int128)((unsigned __int128)high << 64 | product.low);
}
