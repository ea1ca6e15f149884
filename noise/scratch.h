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

/* What one octave knows about the lattice under a chunk. */
struct columns {
    const struct octave *octave;
    double amplitude; /* band limit included */
    int count;        /* lattice columns in use */
    int cells;        /* cells in use; cell c lies between columns c * stride and c * stride + 1 */
    int stride;       /* 1 where samples share cells, 2 where they skip some */
    int64_t row;      /* the lattice row that the gradients are those of */
    bool row_known;
    ALIGNED int32_t cell[CHUNK]; /* of each sample */
    int32_t begin[CHUNK + 1];    /* samples begin[c] .. begin[c + 1] - 1 lie in cell c */
    ALIGNED uint64_t hash[LATTICE_COLUMNS];
};

/* What is computed with them, in float or in double. */
#define OCTAVE_SCRATCH(name, real)                                                        \
    struct name {                                                                         \
        struct columns columns;                                                           \
        /* Of each sample's column: fraction of the cell, fade of it, product of both. */ \
        ALIGNED real f[CHUNK], u[CHUNK], fu[CHUNK];                                       \
        /* Gradients of the lattice rows above and below, amplitude included. */          \
        ALIGNED real above_x[LATTICE_COLUMNS], above_y[LATTICE_COLUMNS];                  \
        ALIGNED real below_x[LATTICE_COLUMNS], below_y[LATTICE_COLUMNS];                  \
        /* The row's gradients, interpolated vertically: noise is a * f + b. */           \
        ALIGNED real a[LATTICE_COLUMNS], b[LATTICE_COLUMNS];                              \
        /* Of each cell in the current row: noise is b + a f + e u + d f u. */            \
        ALIGNED real cell_a[CHUNK], cell_b[CHUNK], cell_d[CHUNK], cell_e[CHUNK];          \
    }

OCTAVE_SCRATCH(narrow_scratch, float);
OCTAVE_SCRATCH(broad_scratch, double);

struct farlands_scratch {
    int broad, octaves; /* that the band limit leaves; the first BROAD of them are broad */
    union {
        struct narrow_scratch narrow;
        struct broad_scratch broad;
    } octave[FARLANDS_MAX_OCTAVES];
};

#endif
