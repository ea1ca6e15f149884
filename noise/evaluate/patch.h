/*
 * A patch: a lattice's values (GRAPH_LATTICE) at the nodes that a chunk's samples lie between.
 * Private to noise/.
 */
#ifndef FARLANDS_PATCH_H
#define FARLANDS_PATCH_H

#include "noise/kernel/kernel.h"
#include "noise/kernel/scratch.h"

/* The nodes that a sample lies between along an axis. The first is one before the sample's cell. */
enum { TAPS = 4 };

/* A lattice's values at nodes in ascending order, which need not be neighbors. */
struct patch {
    int columns, rows;                        /* 0: empty */
    int bits;                                 /* nodes are 2 to this apart, in units */
    int64_t band_limit;                       /* of the domain that the values come from */
    bool regular;                             /* nodes are neighbors */
    int64_t x[KERNEL_CHUNK], y[KERNEL_CHUNK]; /* units */
    KERNEL_ALIGNED float value[KERNEL_CHUNK][KERNEL_CHUNK];
    bool zero[KERNEL_CHUNK];      /* rows whose values are all 0 */
    struct patch_columns samples; /* in the chunk that is evaluated */
};

/* True if PATCH has all nodes that CHUNK needs, 2^BITS units apart, with values of BAND_LIMIT. */
bool patch_covers(const struct patch *patch, int bits, int64_t band_limit,
                  const struct chunk *chunk);

/* Choose the nodes that CHUNK needs, 2^BITS units apart, and empty PATCH. Returns the nodes as a
 * chunk in the lattice. The caller then writes their values into patch->value, sets patch->zero,
 * and at last patch->columns to the chunk's width. */
struct chunk patch_place(struct patch *patch, int bits, int64_t band_limit,
                         const struct chunk *chunk);

/* Find the weights for CHUNK's samples. PATCH covers CHUNK. */
void patch_place_columns(struct patch *patch, const struct chunk *chunk);

/* True if the lattice and its slopes are 0 on CHUNK's ROWS rows from J on, because all nodes are 0.
 */
bool patch_is_zero(const struct patch *patch, const struct chunk *chunk, int j, int rows);

/* Write CHUNK's ROWS rows from J on: the lattice's values, or slopes if KIND is GRAPH_SLOPE_X or
 * GRAPH_SLOPE_Y. */
void patch_interpolate(const struct patch *patch, const struct kernel *kernel, enum graph_kind kind,
                       const struct chunk *chunk, int j, int rows, struct rows out);

/* The lattice's surface at (X, Y), in double, differentiated ALONG_X times along x and ALONG_Y
 * times along y, 0 to 2 each, per block. PATCH covers the place. */
double patch_derivative(const struct patch *patch, int64_t x, int64_t y, int along_x, int along_y);

#endif
