/* Where bytes repeat those just before them, again and again. */
#ifndef FARLANDS_PNG_DEFLATE_REPEATS_H
#define FARLANDS_PNG_DEFLATE_REPEATS_H

#include <stddef.h>
#include <stdint.h>

/*
 * Bytes in a row, at least, that repeat others before a match pays: shorter
 * ones are hardly shorter than their literals, and make longer ones rarer.
 */
enum { REPEATS_MIN = 8 };

/* So many literals, and so many bytes behind them that are each the same as that DISTANCE before.
 */
struct piece {
    uint32_t literals;
    uint32_t repeats : 24, distance : 8;
};

enum { REPEATS_LENGTH_MAX = (1 << 24) - 1 };

/* How many pieces, and words for masks, LENGTH bytes may take. */
#define PIECES_MAX(length) ((length) / REPEATS_MIN + 2)
#define MASKS_MAX(length) (3 * ((length) / 64 + 3))

/*
 * Cut LENGTH <= REPEATS_LENGTH_MAX bytes into pieces by repetitions at distances 1
 * and FAR, 1 to 63; only the last piece may have none. MASKS is working memory. Up
 * to 63 bytes behind the last are read. Returns how many pieces.
 */
size_t repeats_find(struct piece *pieces, uint64_t *masks, const uint8_t *bytes, size_t length,
                    unsigned far);

#endif
