/* Shared by the parts of the drainage. Private to drainage/. */
#ifndef FARLANDS_DRAINAGE_PARTS_H
#define FARLANDS_DRAINAGE_PARTS_H

#include <math.h>
#include <stdbool.h>

#include "noise/drainage/drainage.h"
#include "noise/drainage/nodes.h"
#include "noise/drainage/shared_cache.h"
#include "noise/drainage/turned.h"
#include "noise/exact/arithmetic.h"

enum {
    /* The most nodes that a patch has: those around a block on the level before. */
    PATCH_SIDE = 80,
    PATCH_NODES = PATCH_SIDE * PATCH_SIDE,
    /* A block's course may begin so many cells of the level before beside it. */
    PATCH_AROUND = 4,
    /* Samples that are evaluated together, along a side. */
    INPUT_SIDE = 132,
    BROAD_SIDE = 16, /* the same, of samples that are 8 cells apart */
};

/* What threads share: blocks; samples of several inputs, and of one (sheets.c). */
struct drainage_cache {
    int references;
    struct shared_cache *blocks, *several, *one;
};

/* Samples along a side of a sheet: of several inputs, and of one, which is sampled more finely. */
enum { SEVERAL_SIDE = 32, ONE_SIDE = 64 };
#define SEVERAL_VALUES (DRAINAGE_INPUTS * SEVERAL_SIDE * SEVERAL_SIDE)

/* The nodes that a block defines. */
struct drainage_block {
    int64_t i, j; /* the first node's column and row, in blocks */
    bool has_lakes;
    float height[BLOCK_NODES], mean[BLOCK_NODES], area[BLOCK_NODES];
    uint16_t lake[BLOCK_NODES], depth[BLOCK_NODES]; /* lake_quarters', lake_parts' */
    int8_t rock[2][BLOCK_NODES];                    /* in 1/ROCK_UNIT */
    uint8_t x[BLOCK_NODES], y[BLOCK_NODES];         /* in 1/256 cell */
    uint8_t kind[BLOCK_NODES];
    int8_t receiver[BLOCK_NODES];
};

/* The whole numbers of rock in one. */
#define ROCK_UNIT 32.0f

/* Where nodes go: places are relative to (X, Y), turned and scaled by A and B, as turned.h says.
 * Nodes matter from AROUND outside of (0, 0) to AROUND outside of (WIDTH, HEIGHT). */
struct drainage_frame {
    int64_t x, y;
    double a, b, width, height, around;
};

/* A patch's receiver of a node that does not matter, and is not known. */
enum { NODE_UNKNOWN = NO_RECEIVER - 1 };

/* What is read between the nodes of a patch. */
enum { PATCH_HEIGHT, PATCH_MEAN, PATCH_ROCK, PATCH_VALUES = PATCH_ROCK + 2 };

/* Nodes of a level, copied from blocks, in rows of RANGE's width. */
struct drainage_patch {
    struct turned_range range;
    double x[PATCH_NODES], y[PATCH_NODES];
    float value[PATCH_NODES][PATCH_VALUES], area[PATCH_NODES];
    float lake[PATCH_NODES], depth[PATCH_NODES]; /* DEPTH: metres; 0: no lake */
    bool has_lakes;
    uint8_t kind[PATCH_NODES];
    int8_t receiver[PATCH_NODES];
    /* For tributaries that turn (tributaries.c). */
    int16_t greatest[PATCH_NODES];
    float turn[PATCH_NODES][2];
};

/* The node to which node AT drains; itself if there is none. */
static inline int patch_receiver(const struct drainage_patch *p, int at)
{
    const int k = (int)p->receiver[at];
    return k < 0 ? at : at + drainage_neighbor[k][1] * p->range.width + drainage_neighbor[k][0];
}

/* True if a course flows from node AT to its receiver. */
static inline bool patch_is_course(const struct drainage_patch *p, int at)
{
    return p->receiver[at] >= 0 && p->kind[at] == NODE_COURSE;
}

struct drainage {
    struct drainage_params params;
    drainage_source *source;
    void *context;
    struct turned lattice[DRAINAGE_MAX_LEVELS];
    struct drainage_cache *cache;
    struct shared_key key; /* OWNER and PART of what the cache has of this ground */
    /* While a block is solved, or samples are read. */
    struct nodes *nodes;
    struct drainage_patch *patch;
    float *input; /* INPUT_SIDE^2 samples of each input */
    float *sheet; /* SEVERAL_VALUES */
};

/* Where samples of INPUT go. */
static inline float *drainage_samples_of(struct drainage *d, enum drainage_input input)
{
    return d->input + (ptrdiff_t)input * INPUT_SIDE * INPUT_SIDE;
}

/* Sample inputs FIRST to LAST over GRID, whose samples are at multiples of its step. Returns 0 or
 * the source's error; -ENOMEM. */
int drainage_sample(struct drainage *drainage, const struct farlands_grid *grid,
                    enum drainage_input first, enum drainage_input last);

/* Where nodes matter that are at most AROUND outside of a rectangle, in units. */
struct drainage_frame drainage_frame_of(int64_t x, int64_t y, int64_t width, int64_t height,
                                        double around);

/* Get LEVEL's block (I, J), which is solved if the cache does not have it. It is pinned: give it to
 * shared_cache_unpin. No other one may be pinned. Returns 0 or the source's error. */
int drainage_get_block(struct drainage *drainage, int level, int64_t i, int64_t j,
                       const struct drainage_block **out);

/* Whether nodes of LEVEL's block (I, J) matter for FRAME. */
bool drainage_block_matters(const struct drainage *drainage, int level, int64_t i, int64_t j,
                            const struct drainage_frame *frame);

/* Fill the drainage's patch with LEVEL's nodes in RANGE, which has at most PATCH_NODES, and with
 * all that matter for FRAME. Blocks that are missing are solved first. ONLY_LAKES: the patch is
 * filled only if it has lakes. Returns 0 or the source's error; -ENOMEM. */
int drainage_fill_patch(struct drainage *drainage, int level, struct turned_range range,
                        const struct drainage_frame *frame, bool only_lakes);

/* HEIGHT, but for the floor of the sea, over which no river flows: rivers end just below BASE. */
static inline float drainage_ashore(float height, float base)
{
    static const float MOUTH = 0.5f;
    return height < base - MOUTH ? base - MOUTH : height;
}

/* Solve the nodes of LEVEL's block (I, J). Returns 0 or the source's error. */
int drainage_solve(struct drainage *drainage, int level, int64_t i, int64_t j);

/* Copy what BLOCK defines from the nodes that have been solved last. */
void drainage_keep_nodes(const struct drainage *drainage, struct drainage_block *block);

/* The four corners of the nodes of LATTICE from column I and row J on, in order of rows. */
static inline void drainage_corners(const struct turned *lattice, int64_t i, int64_t j,
                                    int64_t x[4], int64_t y[4])
{
    for (int k = 0; k < 4; k++) {
        const int64_t column = i + (k & 1 ? NODES_SIDE : 0), row = j + (k & 2 ? NODES_SIDE : 0);
        x[k] = turned_x(lattice, column, row);
        y[k] = turned_y(lattice, column, row);
    }
}

/* Whether samples of the envelope, 8 cells apart, around the nodes of LEVEL from column I and row J
 * on are all the sea's: then nearly all nodes are. Returns 0 or the source's error. */
int drainage_looks_like_sea(struct drainage *d, int level, int64_t i, int64_t j, bool *out);

/* Read the world's fields at the nodes of LEVEL, whose first node is in column I and row J, and
 * find the sea. LAKES: they may begin here. Returns 0 or the source's error. */
int drainage_find_inputs(struct drainage *drainage, int level, bool builds, bool lakes, int64_t i,
                         int64_t j);

/* Move the nodes of tributaries in the drainage's patch so that they meet their rivers at the angle
 * that the world says, if it says any. */
void drainage_turn_tributaries(struct drainage *drainage);

/* Lay the courses in the drainage's patch onto the nodes of LEVEL, whose first node is in column I
 * and row J. BUILDS: rivers build the level's ground. */
void drainage_lay_courses(struct drainage *drainage, int level, bool builds, int64_t i, int64_t j);

#endif
