#include "paeth.h"

#include <string.h>

#include "server/core/multiversion.h"

/* Masks instead of decisions, so that a compiler finds nothing but operations on bytes. */
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
 * The predictor takes whichever of left, above and corner is nearest to
 * left + above - corner, which is |above - corner| from left, |left - corner|
 * from above, and from the corner the sum of both where they point the same
 * way, so that it is never the nearest, or else their difference: all of it
 * fits bytes.
 */
static inline uint8_t predict(uint8_t left, uint8_t above, uint8_t corner)
{
    const uint8_t from_left = distance(above, corner), from_above = distance(left, corner);
    const uint8_t apart = less(above, corner) ^ less(left, corner);
    const uint8_t from_corner = (uint8_t)(distance(from_left, from_above) | ~apart);
    const uint8_t not_left = less(from_above, from_left) | less(from_corner, from_left);
    return choose(not_left, choose(less(from_corner, from_above), corner, above), left);
}

/* Bytes that are filtered together: a whole number of vectors on any machine. */
enum { BLOCK = 64 };

static inline void filter(uint8_t *restrict out, const uint8_t *restrict row,
                          const uint8_t *restrict above, size_t length, size_t pixel)
{
    for (size_t i = 0; i < length; i++)
        out[i] = (uint8_t)(row[i] - predict(row[i - pixel], above[i], above[i - pixel]));
}

MULTIVERSION
void paeth_row(uint8_t *restrict out, const uint8_t *restrict row, const uint8_t *restrict above,
               size_t length, size_t pixel)
{
    size_t i = 0;
    if (!above) { /* all zeros: left it is */
        memcpy(out, row, pixel);
        for (i = pixel; i < length; i++)
            out[i] = (uint8_t)(row[i] - row[i - pixel]);
        return;
    }
    for (; i < pixel; i++) /* all is zero on the left: above it is */
        out[i] = (uint8_t)(row[i] - above[i]);
    for (; i + BLOCK <= length; i += BLOCK)
        filter(out + i, row + i, above + i, BLOCK, pixel);
    /* What is left over goes with some before it once more, where there are enough. */
    if (i < length && length >= BLOCK + pixel)
        filter(out + length - BLOCK, row + length - BLOCK, above + length - BLOCK, BLOCK, pixel);
    else
        filter(out + i, row + i, above + i, length - i, pixel);
}
