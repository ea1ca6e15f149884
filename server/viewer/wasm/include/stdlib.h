#ifndef FARLANDS_WASM_STDLIB_H
#define FARLANDS_WASM_STDLIB_H

#include <stddef.h>

/* Memory is never freed: see libc.c. */
void *calloc(size_t count, size_t size);
void *aligned_alloc(size_t alignment, size_t size);
static inline void free(void *memory)
{
    (void)memory;
}

/* There is no environment. */
static inline char *getenv(const char *name)
{
    (void)name;
    return NULL;
}

/* Imported from farlands.js: JavaScript rounds as C does. */
__attribute__((import_module("farlands"), import_name("strtod"))) double strtod(const char *text,
                                                                                char **end);
/* Declared only, as in stdio.h. */
float strtof(const char *text, char **end);

#endif
