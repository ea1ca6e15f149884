/* The functions of a C library that noise/ and config/ need. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "wide.h"

enum { PAGE = 65536 };

/* Set by the linker: the end of static data. */
extern unsigned char __heap_base;

/* Memory is never freed, since an instance of the module ends as a whole. So it is all zero. */
void *aligned_alloc(size_t alignment, size_t size)
{
    static uint64_t used;
    const uint64_t start = used ? used : (uintptr_t)&__heap_base;
    const uint64_t begin = (start + alignment - 1) & ~((uint64_t)alignment - 1);
    const uint64_t end = begin + size, memory = (uint64_t)__builtin_wasm_memory_size(0) * PAGE;
    if (end > UINT32_MAX)
        return NULL;
    if (end > memory &&
        __builtin_wasm_memory_grow(0, (size_t)((end - memory + PAGE - 1) / PAGE)) == SIZE_MAX)
        return NULL;
    used = end;
    return (void *)(uintptr_t)begin;
}

void *calloc(size_t count, size_t size)
{
    size_t bytes;
    return __builtin_mul_overflow(count, size, &bytes) ? NULL : aligned_alloc(16, bytes);
}

int memcmp(const void *a, const void *b, size_t length)
{
    const unsigned char *p = a, *q = b;
    for (size_t i = 0; i < length; i++)
        if (p[i] != q[i])
            return p[i] - q[i];
    return 0;
}

void *memchr(const void *bytes, int byte, size_t length)
{
    const unsigned char *p = bytes;
    for (size_t i = 0; i < length; i++)
        if (p[i] == (unsigned char)byte)
            return (void *)&p[i];
    return NULL;
}

size_t strlen(const char *text)
{
    size_t length = 0;
    while (text[length])
        length++;
    return length;
}

int strcmp(const char *a, const char *b)
{
    while (*a && *a == *b)
        a++, b++;
    return (unsigned char)*a - (unsigned char)*b;
}

char *strchr(const char *text, int character)
{
    return memchr(text, character, strlen(text) + 1);
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
