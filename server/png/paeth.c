#include "paeth.h"

#include <string.h>

#include "server/core/multiversion.h"

/* Masks instead of branches, so that the compiler vectorizes byte operations only. */
static inline uint8_t less(uint8_t x, uint8_t y)
{
    return x < y ? 255 : 0;
}

static inline uint8_t distance(uint8_t x, uint8_t y)
{
    const uint8_t most = x > y ? x : y, least = x > y ? y : x;
    return (uint8_t)(most - least);
}

static inline uint8_t choose(uint8_t mask, uint8_t x, uint8_t y)
{
    return (uint8_t)((x & mask) | (y & ~mask));
}

/*
 * The predictor is left, above or corner: the one nearest to left + above - corner. The distances
 * are |above - corner| from left and |left - corner| from above. From corner it is their sum if
 * both have the same sign (then corner is never the nearest), otherwise their difference. All fit
 * in bytes.
 */
static inline uint8_t predict(uint8_t left, uint8_t above, uint8_t corner)
{
    const uint8_t from_left = distance(above, corner), from_above = distance(left, corner);
    const uint8_t apart = less(above, corner) ^ less(left, corner);
    const uint8_t from_corner = (uint8_t)(distance(from_left, from_above) | ~apart);
    const uint8_t not_left = less(from_above, from_left) | less(from_corner, from_left);
    return choose(not_left, choose(less(from_corner, from_above), corner, above), left);
}

/* Bytes per iteration: a whole number of vectors on any machine. */
enum { BLOCK = 64 };

static inline void filter(uint8_t *restrict out, const uint8_t *restrict row,
                          const uint8_t *restrict above, size_t length, size_t pixel)
{
    const uint8_t *left = row - pixel, *corner = above - pixel;
    for (size_t i = 0; i < length; i++)
        out[i] = (uint8_t)(row[i] - predict(left[i], above[i], corner[i]));
}

MULTIVERSION
void paeth_row(uint8_t *restrict out, const uint8_t *restrict row, const uint8_t *restrict above,
               size_t length, size_t pixel)
{
    size_t i = 0;
    if (!above) { /* a row of zeros: left is the predictor */
        memcpy(out, row, pixel);
        for (i = pixel; i < length; i++)
            out[i] = (uint8_t)(row[i] - row[i - pixel]);
        return;
    }
    for (; i < pixel; i++) /* zeros to the left: above is the predictor */
        out[i] = (uint8_t)(row[i] - above[i]);
    for (; i + BLOCK <= length; i += BLOCK)
        filter(out + i, row + i, above + i, BLOCK, pixel);
    /* If the row is long enough, filter the rest in a block that overlaps the one before. */
    if (i < length && length >= BLOCK + pixel)
        filter(out + length - BLOCK, row + length - BLOCK, above + length - BLOCK, BLOCK, pixel);
    else
        filter(out + i, row + i, above + i, length - i, pixel);
}
