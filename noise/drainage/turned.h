/*
 * Lattices that are turned: each level's by another angle. Private to drainage/.
 *
 * Node (i, j) has the corner (a i - b j, b i + a j), in units, and lies in the cell between its
 * corner and those of (i + 1, j) and (i, j + 1). a and b are integers, so corners are exact at any
 * distance.
 */
#ifndef FARLANDS_TURNED_H
#define FARLANDS_TURNED_H

#include <stdint.h>

struct turned {
    int64_t a, b;
    double square; /* a^2 + b^2 */
    double metres; /* the side of a cell */
    uint64_t key;  /* for random numbers */
};

/* The lattices of LEVELS levels for SEED; level 0's cells are SPACING units wide, up to rounding.
 */
void turned_make(struct turned *lattice, int levels, int64_t spacing, uint64_t seed);

/* The cell in which (X, Y) lies. */
struct turned_cell {
    int64_t i, j;
};
struct turned_cell turned_cell(const struct turned *lattice, int64_t x, int64_t y);

static inline int64_t turned_x(const struct turned *t, int64_t i, int64_t j)
{
    return t->a * i - t->b * j;
}

static inline int64_t turned_y(const struct turned *t, int64_t i, int64_t j)
{
    return t->b * i + t->a * j;
}

/* A rectangle of cells. One that is wider or higher than TURNED_MOST has that width or height. */
enum { TURNED_MOST = 1 << 20 };
struct turned_range {
    int64_t i, j;
    int width, height;
};

/* The cells of LATTICE that a rectangle touches, and AROUND cells more on each side. The corners
 * of the rectangle are given in order of rows. */
struct turned_range turned_cover(const struct turned *lattice, const int64_t x[4],
                                 const int64_t y[4], int around);

#endif
