#include "turned.h"

#include <math.h>

#include "noise/exact/arithmetic.h"
#include "noise/exact/lattice.h"
#include "noise/farlands.h"

void turned_make(struct turned *lattice, int levels, int64_t spacing, uint64_t seed)
{
    /* 27.7 degrees: the lattices of three levels in a row are far from parallel, and every 13th
     * has nearly the same direction again. */
    static const double COS = 0.885393625, SIN = 0.464842607;
    const uint64_t random = lattice_random(seed, 0);
    double x = (double)(random & 0xffff) - 0x1p15, y = (double)(random >> 16 & 0xffff) - 0x1p15;
    if (x * x + y * y < 1)
        x = 1;
    for (int k = 0; k < levels; k++) {
        struct turned *t = &lattice[k];
        const double by = (double)(spacing >> k) / sqrt(x * x + y * y);
        t->a = (int64_t)floor(x * by + 0.5);
        t->b = (int64_t)floor(y * by + 0.5);
        t->square = (double)(t->a * t->a + t->b * t->b);
        t->metres = sqrt(t->square) / FARLANDS_UNIT;
        t->key = lattice_random(seed, 1 + (uint64_t)k);
        const double turned = x * COS - y * SIN;
        y = x * SIN + y * COS;
        x = turned;
    }
}

/* (A X + B Y) / SQUARE, rounded down. The quotient in double is off by 1 at most, because it has at
 * most 48 bits. */
static int64_t quotient(int64_t a, int64_t x, int64_t b, int64_t y, const struct turned *t)
{
    const __int128 square = (__int128)t->a * t->a + (__int128)t->b * t->b;
    const double about = ((double)a * (double)x + (double)b * (double)y) / t->square;
    const int64_t near = (int64_t)floor(about);
    const __int128 rest = (__int128)a * x + (__int128)b * y - square * near;
    return near - (rest < 0) + (rest >= square);
}

struct turned_cell turned_cell(const struct turned *t, int64_t x, int64_t y)
{
    return (struct turned_cell){quotient(t->a, x, t->b, y, t), quotient(t->a, y, -t->b, x, t)};
}

struct turned_range turned_cover(const struct turned *t, const int64_t x[4], const int64_t y[4],
                                 int around)
{
    const struct turned_cell first = turned_cell(t, x[0], y[0]);
    int64_t i = first.i, i2 = i, j = first.j, j2 = j;
    for (int k = 1; k < 4; k++) {
        const struct turned_cell c = turned_cell(t, x[k], y[k]);
        i = c.i < i ? c.i : i;
        i2 = c.i > i2 ? c.i : i2;
        j = c.j < j ? c.j : j;
        j2 = c.j > j2 ? c.j : j2;
    }
    const int64_t width = i2 - i + 1 + 2 * around, height = j2 - j + 1 + 2 * around;
    return (struct turned_range){i - around, j - around,
                                 (int)(width < TURNED_MOST ? width : TURNED_MOST),
                                 (int)(height < TURNED_MOST ? height : TURNED_MOST)};
}
