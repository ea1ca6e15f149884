/*
 * The kernels' interface. A kernel is all inner loops, compiled for one instruction set. All
 * kernels give the same bits. Private to noise/.
 */
#ifndef FARLANDS_KERNEL_H
#define FARLANDS_KERNEL_H

#include "noise/farlands.h"
#include "noise/graph/program.h"

struct chunk;
struct coordinates;
struct density;
struct noise;
struct noise_run;

struct river_lakes;
struct river_near;
struct river_node;
struct river_piece;
struct river_valleys;
struct river_window;

/* Rows of floats, STRIDE apart. */
struct rows {
    float *at;
    size_t stride;
};

/* Columns and rows in a box that are evaluated together, in all slices: at most KERNEL_CHUNK and
 * KERNEL_BOX_ROWS, from (X, Y) on. */
struct density_block {
    const struct density *density;
    const struct noise *noise; /* for hash and fade */
    const struct farlands_box *box;
    int64_t x, y;
    int columns, rows;
};

struct kernel {
    const char *name;
    int lanes; /* floats in a vector */
    /* True if this machine has the instructions. */
    bool (*supported)(void);
    /* True if the compiler left sums and products alone: see arithmetic_is_exact. */
    bool (*exact)(void);
    /* Choose RUN's octaves for samples STEP units apart. Its members up to MOVED are set. Returns
     * how many rows a band may have. */
    int (*noise_choose)(struct noise_run *run, bool band_limit, int64_t step);
    /* Begin a chunk, before its first band. */
    void (*noise_begin)(struct noise_run *run, const struct chunk *chunk);
    /* ROWS rows from J on, at most a band, as values on CURVE; NULL: as they are. MOVE: two fields
     * that move the noise, by UNITS times their values; NULL: none. */
    void (*noise_band)(struct noise_run *run, const struct curve *curve, const struct rows *move,
                       double units, int j, int rows, struct rows out);
    /* GRAPH_DAMPED and GRAPH_ERODE. */
    void (*damped_band)(struct noise_run *run, const struct operation *operation, int j, int rows,
                        struct rows out);
    void (*erode_band)(struct noise_run *run, const struct operation *operation,
                       const struct rows *in, int j, int rows, struct rows out);
    /* An OPERATION that depends on input values alone, on ROWS rows of N values. OUT may be in IN
     * if operation_is_in_place. */
    void (*operate)(const struct operation *operation, const struct rows *in, int rows, int n,
                    struct rows out);
    /* True if ROWS rows of N values are all 0, with either sign. */
    bool (*is_zero)(struct rows values, int rows, int n);
    /* ROWS rows of N values into OUT, which may be the same: -0 becomes +0. */
    void (*unsign_zeros)(struct rows values, int rows, int n, struct rows out);
    /* N values on a row between lattice nodes. LINE: four rows of nodes, COUNT values each, with
     * the weights ROW. Sample i lies between the values FIRST[i] to FIRST[i] + 3, with weights in
     * COLUMN, four rows of KERNEL_CHUNK floats. */
    void (*interpolate)(const uint32_t *first, const float *column, const float *const line[4],
                        const float row[4], int count, int n, float *out);
    /* A noise at CHUNK's samples, at most KERNEL_POINTS, row by row. OUT and MOVE are single rows
     * with room for whole vectors; the rest is as for noise_band. */
    void (*noise_few)(const struct noise *noise, const struct curve *curve,
                      const struct chunk *chunk, const struct rows *move, double units, float *out);
    /* A noise at one place, as a value on CURVE; NULL: as it is. The caller has checked the bounds,
     * as in the functions below. */
    float (*point)(const struct noise *noise, const struct curve *curve, int64_t x, int64_t y);
    /* Look at PIECE from a window's samples: for water near them, or for a valley. */
    void (*river_near)(const struct river_piece *piece, const struct river_window *window,
                       struct river_near *near);
    void (*river_valley)(const struct river_piece *piece, const struct river_window *window,
                         struct river_valleys *valleys);
    /* Add NODE to valley floors, or to lakes. */
    void (*river_floor)(const struct river_node *node, const struct river_window *window,
                        struct river_valleys *valleys);
    void (*river_lake)(const struct river_node *node, const struct river_window *window,
                       struct river_lakes *lakes);
    /* Row J, N samples, from what was found: the carved ground; the ground with channels; the water
     * level; the order of rivers, with REACH metres to both sides. SHALLOW is 1 / the least depth
     * of a hollow with a lake. */
    void (*river_carve)(const struct river_valleys *valleys, float shallow, int j, int n,
                        const float *ground, float *out);
    void (*river_channel)(const struct river_near *near, int j, int n, const float *ground,
                          float *out);
    void (*river_water)(const struct river_near *near, int j, int n, const float *ground,
                        float *out);
    void (*river_order)(const struct river_near *near, int j, int n, float reach, float *out);
    /* See terrain_volume. */
    void (*volume)(const struct noise *noise, struct farlands_scratch *scratch,
                   const struct farlands_box *box, float *out);
    /* See terrain_density. OUT: BLOCK's first sample. SCRATCH has the block's heights, and its
     * ledges if there are any, each row in whole KERNEL_STEPs. */
    void (*density)(const struct density_block *block, struct farlands_scratch *scratch,
                    float *out);
};

/* The fastest kernel that this machine supports, or the one that the environment variable
 * FARLANDS_KERNEL names. NULL if kernel_fault names a fault. */
const struct kernel *kernel_choose(void);

/* See terrain_kernel_fault. */
const char *kernel_fault(void);

#endif
