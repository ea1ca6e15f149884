/* What fuzz targets share: to fail, and to cut an input into pieces that are exactly as long as
 * their memory, so that the address sanitizer sees one byte too many. */
#ifndef FARLANDS_FUZZ_H
#define FARLANDS_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* libFuzzer's: called once an input, whose SIZE bytes are a heap block of their own. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

/* An invariant: end here where it does not hold, which libFuzzer calls a crash. */
#define must(condition, ...)                                       \
    do {                                                           \
        if (!(condition)) {                                        \
            fputs("does not hold: " #condition "\nwith ", stderr); \
            fprintf(stderr, __VA_ARGS__);                          \
            fputc('\n', stderr);                                   \
            abort();                                               \
        }                                                          \
    } while (0)

/* What is left of an input. */
struct input {
    const uint8_t *at;
    size_t left;
};

/* The next byte, or 0 behind the end. */
static inline uint8_t input_byte(struct input *input)
{
    if (input->left == 0)
        return 0;
    input->left--;
    return *input->at++;
}

/* A copy of LENGTH bytes, to be freed. */
static inline void *input_copy(const void *bytes, size_t length)
{
    void *copy = malloc(length ? length : 1);
    must(copy, "out of memory");
    if (length)
        memcpy(copy, bytes, length);
    return copy;
}

/* The next line, or what is left, as far as its first NUL: terminated, to be freed. */
static inline char *input_line(struct input *input)
{
    const uint8_t *end = input->left ? memchr(input->at, '\n', input->left) : NULL;
    const size_t length = end ? (size_t)(end - input->at) : input->left;
    const size_t text_length = length ? strnlen((const char *)input->at, length) : 0;
    char *text = malloc(text_length + 1);
    must(text, "out of memory");
    if (text_length)
        memcpy(text, input->at, text_length);
    text[text_length] = '\0';
    input->at += length + (end != NULL);
    input->left -= length + (end != NULL);
    return text;
}

static inline bool is_printable(const char *text)
{
    for (; *text; text++)
        if (*text < 32 || *text > 126)
            return false;
    return true;
}

#endif
