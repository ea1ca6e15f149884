/*
 * Each basis in numbers, as far as numbers describe one. README.md, "Adding a basis", leads through
 * the rest. Private to noise/.
 */
#ifndef FARLANDS_BASIS_H
#define FARLANDS_BASIS_H

#include "noise/fractal/params.h"

/* How a kernel evaluates a row of samples. */
enum basis_method {
    BASIS_LINES,  /* a weighted sum of lines, each of them a lattice row interpolated along x */
    BASIS_ROWS,   /* from lines, too, but by a separate formula */
    BASIS_POINTS, /* each sample alone, from its own lattice corners */
};

/* What a lattice corner's index, 0 .. 255, stands for. */
enum basis_corner {
    BASIS_GRADIENT, /* a vector in the gradient set */
    BASIS_FEATURE,  /* a point in the cell */
    BASIS_VALUE,    /* a number from -1 to 1 */
};

/* Averages over the plane for one octave's noise n. Measured with the quintic fade, right to a few
 * per cent. Those of gradient noise grow with the gradients' length, here 1. */
struct basis_moments {
    double mean, absolute, square; /* the means: n, |n|, n^2 */
};

struct basis {
    enum basis_method method;
    enum basis_corner corner;
    int first, corners; /* along an axis; FIRST counts from the sample's cell */
    int lines;          /* made for each lattice row */
    struct basis_moments moments;
};

/* A function instead of a table: constants fold, and the compiler names a basis left out. */
static inline struct basis basis_of(enum farlands_basis basis)
{
    switch (basis) {
    case FARLANDS_PERLIN:
        break;
    case FARLANDS_SIMPLEX:
        return (struct basis){BASIS_POINTS, BASIS_GRADIENT, 0, 2, 0, {0, 0.329, 0.1445}};
    case FARLANDS_CELLULAR:
        return (struct basis){BASIS_ROWS, BASIS_FEATURE, -1, 3, 6, {-0.141, 0.333, 0.1643}};
    case FARLANDS_VALUE:
        return (struct basis){BASIS_LINES, BASIS_VALUE, 0, 2, 1, {0, 0.3826, 0.2087}};
    }
    return (struct basis){BASIS_LINES, BASIS_GRADIENT, 0, 2, 2, {0, 0.1775, 0.0472}};
}

#endif
