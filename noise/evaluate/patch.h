/*
 * A patch: values at those nodes of a lattice (GRAPH_LATTICE) that the samples of a chunk lie
 * between. Private to noise/.
 */
#ifndef FARLANDS_PATCH_H
#define FARLANDS_PATCH_H

#include "noise/kernel/kernel.h"
#include "noise/kernel/scratch.h"

/* Nodes that a sample lies between along an axis, the first of them one before its cell. */
enum { TAPS = 4 };

/* Values at nodes of a lattice, in ascending order but not necessarily neighbours. */
struct patch {
    int columns, rows;                        /* 0: empty */
    bool regular;                             /* nodes are neighbours */
    int64_t x[KERNEL_CHUNK], y[KERNEL_CHUNK]; /* units */
    KERNEL_ALIGNED float value[KERNEL_CHUNK][KERNEL_CHUNK];
    bool zero[KERNEL_CHUNK];      /* rows whose values are all 0 */
    struct patch_columns samples; /* of the chunk that is evaluated */
};

/* In what follows, nodes are 2^BITS units apart. */

/* True if PATCH has all nodes that CHUNK needs. */
bool patch_covers(const struct patch *patch, int bits, const struct chunk *chunk);

/* Choose the nodes that CHUNK needs, and empty PATCH. Returns them, as a chunk of the lattice: its
 * values are to be written into patch->value, then patch->zero and its width to patch->columns. */
struct chunk patch_place(struct patch *patch, int bits, const struct chunk *chunk);

/* Find the weights of the samples of CHUNK, which PATCH covers. */
void patch_place_columns(struct patch *patch, int bits, const struct chunk *chunk);

/* True if the lattice and its slopes are 0 on ROWS rows from J on of CHUNK, as all nodes are. */
bool patch_is_zero(const struct patch *patch, int bits, const struct chunk *chunk, int j, int rows);

/* ROWS rows from J on of CHUNK: the lattice's values, or their slopes if KIND is GRAPH_SLOPE_X or
 * GRAPH_SLOPE_Y. */
void patch_interpolate(const struct patch *patch, int bits, const struct kernel *kernel,
                       enum graph_kind kind, const struct chunk *chunk, int j, int rows,
                       struct rows out);

/* The lattice's surface at (X, Y), which PATCH covers, in double: differentiated ALONG_X times
 * along x and ALONG_Y times along y, 0 to 2 each, per block. */
double patch_derivative(const struct patch *patch, int bits, int64_t x, int64_t y, int along_x,
                        int along_y);

#endif
