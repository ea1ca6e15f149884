/* Replaces functions from wasi-libc that would import WASI (getenv, assert) or be large (malloc,
 * memcpy, strstr, strtod, strtol, printf), and one function from the compiler's runtime. */
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "noise/exact/wide.h"

enum { PAGE = 65536 };

/* Set by the linker: the end of static data. */
extern unsigned char __heap_base;

/* Memory is never freed, because an instance of the module ends as a whole. So all new memory is
 * zero. */
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

/* Each block has its size in front, for realloc. */
void *malloc(size_t size)
{
    size_t *memory = size < SIZE_MAX - 16 ? aligned_alloc(16, size + 16) : NULL;
    if (!memory)
        return NULL;
    *memory = size;
    return memory + 16 / sizeof *memory;
}

void *calloc(size_t count, size_t size)
{
    size_t bytes;
    return __builtin_mul_overflow(count, size, &bytes) ? NULL : malloc(bytes);
}

void *realloc(void *memory, size_t size)
{
    const size_t before = memory ? ((size_t *)memory)[-16 / (int)sizeof(size_t)] : 0;
    void *larger = size > before ? malloc(size) : memory;
    if (larger && larger != memory && before)
        memcpy(larger, memory, before);
    return larger;
}

void free(void *memory)
{
    (void)memory;
}

/* The builtin is one instruction, not a call to this function. */
void *memcpy(void *restrict to, const void *restrict from, size_t length)
{
    return __builtin_memcpy(to, from, length);
}

char *strstr(const char *text, const char *part)
{
    const size_t length = strlen(part);
    for (; *text; text++)
        if (strncmp(text, part, length) == 0)
            return (char *)text;
    return NULL;
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

/* Imported from farlands.js, because JavaScript rounds as C does. */
__attribute__((import_module("farlands"), import_name("strtod"))) double
imported_strtod(const char *text, char **end);

double strtod(const char *text, char **end)
{
    return imported_strtod(text, end);
}

/* Only functions that are not linked call this one. */
float strtof(const char *text, char **end)
{
    return (float)imported_strtod(text, end);
}

/* Parses nothing but decimal digits. */
long strtol(const char *text, char **end, int base)
{
    long number = 0;
    for (; *text >= '0' && *text <= '9'; text++)
        number = number * base + (*text - '0');
    *end = (char *)text;
    return number;
}

/* --- printf: what messages of config/ need --- */

struct output {
    char *at;
    size_t size, length;
};

static void put(struct output *out, const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++, out->length++)
        if (out->length + 1 < out->size)
            out->at[out->length] = text[i];
}

static void put_number(struct output *out, uint64_t number, bool negative)
{
    char digits[24];
    size_t first = sizeof digits;
    do
        digits[--first] = (char)('0' + number % 10);
    while (number /= 10);
    if (negative)
        digits[--first] = '-';
    put(out, digits + first, sizeof digits - first);
}

/* Imported from farlands.js: writes VALUE with DIGITS significant digits, at most 40 bytes. Returns
 * the length. */
__attribute__((import_module("farlands"), import_name("format"))) int
imported_format(double value, int digits, char *text);

/* The number of digits at FORMAT, or an argument if there is an asterisk; -1 if there is
 * neither. */
static int take_digits(const char **format, va_list *arguments)
{
    int number = -1;
    if (**format == '*') {
        ++*format;
        return va_arg(*arguments, int);
    }
    for (; **format >= '0' && **format <= '9'; ++*format)
        number = (number < 0 ? 0 : number * 10) + (**format - '0');
    return number;
}

static void put_integer(struct output *out, char kind, bool wide, va_list *arguments)
{
    if (kind == 'u' || kind == 'x') {
        put_number(out, wide ? va_arg(*arguments, uint64_t) : va_arg(*arguments, unsigned), false);
        return;
    }
    const int64_t number = wide ? va_arg(*arguments, int64_t) : va_arg(*arguments, int);
    put_number(out, number < 0 ? 0 - (uint64_t)number : (uint64_t)number, number < 0);
}

/* Write the conversion after a percent sign. Returns the rest of FORMAT. */
static const char *put_converted(struct output *out, const char *format, va_list *arguments)
{
    char number[40];
    bool wide = false;
    int precision = -1;
    (void)take_digits(&format, arguments); /* no message is padded */
    if (*format == '.') {
        format++;
        precision = take_digits(&format, arguments);
    }
    for (; *format == 'l' || *format == 'z' || *format == 'j'; format++)
        wide = wide || *format == 'j' || format[1] == 'l';
    if (*format == 's') {
        const char *text = va_arg(*arguments, const char *);
        put(out, text, precision < 0 ? strlen(text) : strnlen(text, (size_t)precision));
    } else if (*format == 'c') {
        number[0] = (char)va_arg(*arguments, int);
        put(out, number, 1);
    } else if (*format == 'g') {
        const double value = va_arg(*arguments, double);
        put(out, number,
            (size_t)imported_format(value,
                                    precision < 0 ? 6
                                    : precision   ? precision
                                                  : 1,
                                    number));
    } else if (*format == '%') {
        put(out, "%", 1);
    } else {
        put_integer(out, *format, wide, arguments);
    }
    return format + 1;
}

int vsnprintf(char *text, size_t size, const char *format, va_list arguments)
{
    struct output out = {text, size, 0};
    va_list copy;
    va_copy(copy, arguments);
    while (*format) {
        const char *percent = strchr(format, '%');
        put(&out, format, percent ? (size_t)(percent - format) : strlen(format));
        if (!percent)
            break;
        format = put_converted(&out, percent + 1, &copy);
    }
    va_end(copy);
    if (size > 0)
        text[out.length < size ? out.length : size - 1] = '\0';
    return (int)out.length;
}

int snprintf(char *text, size_t size, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const int length = vsnprintf(text, size, format, arguments);
    va_end(arguments);
    return length;
}

/* Because __wasm_call_ctors is called here, the linker does not wrap every export in set-up and
 * clean-up. */
void __wasm_call_ctors(void);
__attribute__((export_name("_initialize"))) void _initialize(void);
void _initialize(void)
{
    __wasm_call_ctors();
}

/* The compiler calls this for 128-bit products. Modulo 2^128 signs do not matter. */
__int128 __multi3(__int128 a, __int128 b);
__int128 __multi3(__int128 a, __int128 b)
{
    const struct wide product = wide_multiply((uint64_t)a, (uint64_t)b);
    const uint64_t high = product.high + (uint64_t)((unsigned __int128)a >> 64) * (uint64_t)b +
                          (uint64_t)((unsigned __int128)b >> 64) * (uint64_t)a;
    return (__int128)((unsigned __int128)high << 64 | product.low);
}
