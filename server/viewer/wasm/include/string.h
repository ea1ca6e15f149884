#ifndef FARLANDS_WASM_STRING_H
#define FARLANDS_WASM_STRING_H

#include <stddef.h>

/* Instructions with -mbulk-memory. */
void *memcpy(void *to, const void *from, size_t length);
void *memset(void *to, int byte, size_t length);

int memcmp(const void *a, const void *b, size_t length);
void *memchr(const void *bytes, int byte, size_t length);
size_t strlen(const char *text);
int strcmp(const char *a, const char *b);
char *strchr(const char *text, int character);

#endif
