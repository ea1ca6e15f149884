/* Shared by the fuzz targets: failing, and splitting an input into pieces. Each piece is a heap
 * block of its exact length, so that the address sanitizer detects an access beyond it. */
#ifndef FARLANDS_FUZZ_H
#define FARLANDS_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Called by libFuzzer once per input, whose SIZE bytes are a heap block of their own. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

/* An invariant: aborts if it is false, which libFuzzer reports as a crash. */
#define must(condition, ...)                                \
    do {                                                    \
        if (!(condition)) {                                 \
            fputs("failed: " #condition "\nwith ", stderr); \
            fprintf(stderr, __VA_ARGS__);                   \
            fputc('\n', stderr);                            \
            abort();                                        \
        }                                                   \
    } while (0)

/* The rest of an input. */
struct input {
    const uint8_t *at;
    size_t left;
};

/* The next byte, or 0 at the end. */
static inline uint8_t input_byte(struct input *input)
{
    if (input->left == 0)
        return 0;
    input->left--;
    return *input->at++;
}

/* A copy of LENGTH bytes, which the caller frees. */
static inline void *input_copy(const void *bytes, size_t length)
{
    void *copy = malloc(length ? length : 1);
    must(copy, "out of memory");
    if (length)
        memcpy(copy, bytes, length);
    return copy;
}

/* The next line, or the rest, up to its first NUL: terminated, freed by the caller. */
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
