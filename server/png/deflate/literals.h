/* Writes bytes as Huffman codes, which takes nearly all of the encoder's time. */
#ifndef FARLANDS_PNG_DEFLATE_LITERALS_H
#define FARLANDS_PNG_DEFLATE_LITERALS_H

#include <stddef.h>

#include "bits.h"

enum {
    LITERALS = 256,
    LITERALS_AT_ONCE = 4,
    /* The most bits per code, so that four codes can be written at once. */
    LITERAL_BITS_MAX = BITS_AT_ONCE / LITERALS_AT_ONCE,
};

/* Each byte's code, and the length, at most LITERAL_BITS_MAX. */
struct literal_codes {
    uint16_t code[LITERALS];
    uint8_t length[LITERALS];
};

/* Write LENGTH bytes. All implementations write the same bits. */
typedef void literals_put(struct bits *bits, const struct literal_codes *codes,
                          const uint8_t *bytes, size_t length);

literals_put literals_put_plain;

/* The fastest one on this machine. */
literals_put *literals_best(void);

#endif
