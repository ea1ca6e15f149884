/* See assert.h. */
#ifndef FARLANDS_WASM_STDLIB_H
#define FARLANDS_WASM_STDLIB_H

#include <stddef.h>

/* Memory is given once and never comes back: see memory.c. */
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

/* JavaScript's, which rounds as C's does: farlands.js gives it. */
__attribute__((import_module("farlands"), import_name("strtod"))) double strtod(const char *text,
                                                                                char **end);
/* Of formatting alone; see stdio.h. */
float strtof(const char *text, char **end);

#endif
