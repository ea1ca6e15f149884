/*
 * The interface of the kernels: the inner loops, compiled once for each instruction set. All give
 * the same bits. Private to noise/.
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

/* Columns and rows of a box that are evaluated together, in all slices: no more than KERNEL_CHUNK
 * and KERNEL_BOX_ROWS, from (X, Y) on. */
struct density_block {
    const struct density *density;
    const struct noise *noise; /* whose hash and fade count */
    const struct farlands_box *box;
    int64_t x, y;
    int columns, rows;
};

struct kernel {
    const char *name;
    int lanes; /* floats in a vector */
    /* True if this machine has the instructions. */
    bool (*supported)(void);
    /* True if the compiler left its sums and products as they are: see arithmetic_is_exact. */
    bool (*exact)(void);
    /* Choose the octaves of RUN, whose first members up to MOVED are set, for samples STEP units
     * apart. Returns how many rows a band may have. */
    int (*noise_choose)(struct noise_run *run, bool band_limit, int64_t step);
    /* Begin a chunk of RUN, before its first band. */
    void (*noise_begin)(struct noise_run *run, const struct chunk *chunk);
    /* ROWS rows from J on, no more than a band, as values of CURVE; NULL: as they are. MOVE: two
     * fields that move the noise, by UNITS times their values; NULL: none. */
    void (*noise_band)(struct noise_run *run, const struct curve *curve, const struct rows *move,
                       double units, int j, int rows, struct rows out);
    /* GRAPH_DAMPED and GRAPH_ERODE. */
    void (*damped_band)(struct noise_run *run, const struct operation *operation, int j, int rows,
                        struct rows out);
    void (*erode_band)(struct noise_run *run, const struct operation *operation,
                       const struct rows *in, int j, int rows, struct rows out);
    /* An OPERATION that depends on its inputs' values alone, on ROWS rows of N of them. OUT may be
     * one of IN if operation_is_in_place. */
    void (*operate)(const struct operation *operation, const struct rows *in, int rows, int n,
                    struct rows out);
    /* True if ROWS rows of N values are 0, of either sign. */
    bool (*is_zero)(struct rows values, int rows, int n);
    /* ROWS rows of N values into OUT, which may be the same: -0 becomes +0. */
    void (*unsign_zeros)(struct rows values, int rows, int n, struct rows out);
    /* N values on a row of a lattice: LINE are four of its rows, COUNT values each, that count by
     * ROW. Sample i lies between their values FIRST[i] to FIRST[i] + 3, which count by COLUMN, rows
     * of KERNEL_CHUNK floats. */
    void (*interpolate)(const uint32_t *first, const float *column, const float *const line[4],
                        const float row[4], int count, int n, float *out);
    /* A noise at the samples of CHUNK, no more than KERNEL_POINTS, row by row: OUT and MOVE, the
     * rest as for noise_band, are single rows. They have room for whole vectors. */
    void (*noise_few)(const struct noise *noise, const struct curve *curve,
                      const struct chunk *chunk, const struct rows *move, double units, float *out);
    /* A noise at one place, as a value of CURVE; NULL: as it is. The caller has checked the bounds
     * here and below. */
    float (*point)(const struct noise *noise, const struct curve *curve, int64_t x, int64_t y);
    /* Look at PIECE from the samples of a window: for water near them, or for a valley. */
    void (*river_near)(const struct river_piece *piece, const struct river_window *window,
                       struct river_near *near);
    void (*river_valley)(const struct river_piece *piece, const struct river_window *window,
                         struct river_valleys *valleys);
    /* Add NODE to the floor of valleys, or to lakes. */
    void (*river_floor)(const struct river_node *node, const struct river_window *window,
                        struct river_valleys *valleys);
    void (*river_lake)(const struct river_node *node, const struct river_window *window,
                       struct river_lakes *lakes);
    /* Row J, N samples, of what was found: the carved ground, the ground with channels, the level
     * of the water, the order of rivers with REACH metres to both sides. SHALLOW is 1 / the depth
     * of hollows that have no lake. */
    void (*river_carve)(const struct river_valleys *valleys, float shallow, int j, int n,
                        const float *ground, float *out);
    void (*river_channel)(const struct river_near *near, int j, int n, const float *ground,
                          float *out);
    void (*river_water)(const struct river_near *near, int j, int n, const float *ground,
                        float *out);
    void (*river_order)(const struct river_near *near, int j, int n, float reach, float *out);
    /* As terrain_volume. */
    void (*volume)(const struct noise *noise, struct farlands_scratch *scratch,
                   const struct farlands_box *box, float *out);
    /* As terrain_density, into OUT, the first sample of BLOCK. Its heights are in SCRATCH, and its
     * ledges if there are any, each row in whole KERNEL_STEPs. */
    void (*density)(const struct density_block *block, struct farlands_scratch *scratch,
                    float *out);
};

/* The fastest kernel that this machine supports, or the one that the environment variable
 * FARLANDS_KERNEL names; NULL if kernel_fault names a fault. */
const struct kernel *kernel_choose(void);

/* As terrain_kernel_fault. */
const char *kernel_fault(void);

#endif
