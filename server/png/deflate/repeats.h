/* Finds runs of bytes that repeat the bytes just before. */
#ifndef FARLANDS_PNG_DEFLATE_REPEATS_H
#define FARLANDS_PNG_DEFLATE_REPEATS_H

#include <stddef.h>
#include <stdint.h>

/* The shortest run that is worth a match: shorter ones hardly save anything over literals, and
 * split longer runs. */
enum { REPEATS_MIN = 8 };

/* Some literals, then some bytes that each equal the byte DISTANCE before. */
struct piece {
    uint32_t literals;
    uint32_t repeats : 24, distance : 8;
};

enum { REPEATS_LENGTH_MAX = (1 << 24) - 1 };

/* The most pieces, and words of masks, for LENGTH bytes. */
#define PIECES_MAX(length) ((length) / REPEATS_MIN + 2)
#define MASKS_MAX(length) (3 * ((length) / 64 + 3))

/*
 * Cut LENGTH <= REPEATS_LENGTH_MAX bytes into pieces, by runs at distances 1 and PIXEL_BYTES, 1 to
 * 63; only the last piece may have no run. MASKS is working memory. Reads up to 63 bytes beyond the
 * end. Returns how many pieces there are.
 */
size_t repeats_find(struct piece *pieces, uint64_t *masks, const uint8_t *bytes, size_t length,
                    unsigned pixel_bytes);

#endif
