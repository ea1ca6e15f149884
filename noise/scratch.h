/* Working memory of one grid evaluation. Private to noise/. */
#ifndef FARLANDS_SCRATCH_H
#define FARLANDS_SCRATCH_H

#include "terrain.h"

/* Columns worked on at once: a 256-sample tile with a border fits, and a
 * 512-sample one is two halves. A multiple of 16, for alignment. */
#define CHUNK 272
/* Two lattice columns a sample where cells are finer than the samples, and
 * otherwise one more than there are cells. */
#define LATTICE_COLUMNS (2 * CHUNK)

#define ALIGNED _Alignas(64)

/* What one octave knows about the columns of a chunk, and about its current row. */
struct octave_scratch {
    const struct octave *octave;
    float amplitude; /* band limit included */
    int columns;     /* lattice columns in use */
    int cells;       /* cells in use; cell c lies between columns first[c] and first[c] + 1 */
    int stride;      /* first[c] is c * stride: 1 where samples share cells, 2 where they skip */

    /* Of each sample's column. */
    ALIGNED float f[CHUNK];  /* fraction of the cell */
    ALIGNED float u[CHUNK];  /* fade(f) */
    ALIGNED float fu[CHUNK]; /* f * u */
    ALIGNED int32_t cell[CHUNK];
    int32_t begin[CHUNK + 1]; /* samples begin[c] .. begin[c + 1] - 1 lie in cell c */

    /* Of each lattice column. */
    ALIGNED uint64_t hash[LATTICE_COLUMNS];
    /* Gradients of the lattice rows above and below, amplitude included. */
    int64_t row;
    bool row_known;
    ALIGNED float above_x[LATTICE_COLUMNS], above_y[LATTICE_COLUMNS];
    ALIGNED float below_x[LATTICE_COLUMNS], below_y[LATTICE_COLUMNS];
    /* The row's gradients, interpolated vertically: noise is a * f + b. */
    ALIGNED float a[LATTICE_COLUMNS], b[LATTICE_COLUMNS];

    /* Of each cell in the current row: noise is b + a f + e u + d f u. */
    ALIGNED float cell_a[CHUNK], cell_b[CHUNK], cell_d[CHUNK], cell_e[CHUNK];
};

struct farlands_scratch {
    int octaves; /* that the band limit leaves */
    struct octave_scratch octave[FARLANDS_MAX_OCTAVES];
};

#endif
