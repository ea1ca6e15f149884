/* Declared only: functions that format text are not linked. */
#ifndef FARLANDS_WASM_STDIO_H
#define FARLANDS_WASM_STDIO_H

#include <stddef.h>

int snprintf(char *out, size_t size, const char *format, ...);

#endif
