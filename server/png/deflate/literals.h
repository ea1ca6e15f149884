/* Bytes, each by its Huffman code: where nearly all of an encoder's time goes. */
#ifndef FARLANDS_PNG_DEFLATE_LITERALS_H
#define FARLANDS_PNG_DEFLATE_LITERALS_H

#include <stddef.h>

#include "bits.h"

enum {
    LITERALS = 256,
    LITERALS_AT_ONCE = 4,
    /* The longest code: then four of them can be put at once. */
    LITERAL_BITS_MAX = BITS_AT_ONCE / LITERALS_AT_ONCE,
};

/* A code for each byte, and its length, up to LITERAL_BITS_MAX. */
struct literal_codes {
    uint16_t code[LITERALS];
    uint8_t length[LITERALS];
};

/* A way to put LENGTH bytes; all ways put the same bits. */
typedef void literals_put(struct bits *bits, const struct literal_codes *codes,
                          const uint8_t *bytes, size_t length);

literals_put literals_put_plain;

/* The fastest one that this machine has. */
literals_put *literals_best(void);

#endif
