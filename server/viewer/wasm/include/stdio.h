/* See assert.h. Declared alone: what formats text is left out of the module. */
#ifndef FARLANDS_WASM_STDIO_H
#define FARLANDS_WASM_STDIO_H

#include <stddef.h>

int snprintf(char *out, size_t size, const char *format, ...);

#endif
