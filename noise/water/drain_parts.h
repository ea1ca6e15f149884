/* Shared by the three parts of the drainage: drain_ground.c, drain_ways.c, drain.c. Private to
 * them. */
#ifndef FARLANDS_DRAIN_PARTS_H
#define FARLANDS_DRAIN_PARTS_H

#include "noise/exact/arithmetic.h"
#include "noise/water/drain.h"

enum {
    DRAIN_SIDE = 8,  /* nodes along a block */
    DRAIN_TILE = 31, /* cells along a ground tile */
    /* What each level remembers: squares of tiles, of node blocks, of ways, each so wide. Powers of
     * two. */
    DRAIN_TILES_SIDE = 16,
    DRAIN_BLOCKS_SIDE = 16,
    DRAIN_WAYS_SIDE = 32,
    DRAIN_WAY_MAX = 32, /* nodes in a way, fewer in fact */
    DRAIN_STEM_MAX = 16,
    /* How many columns and rows a way may leave its first node behind. */
    DRAIN_WAY_REACH = 6,
    /* The least length of a course on all levels but the last: as long as water that joins from
     * beside. */
    DRAIN_BESIDE = 4,
};

/* The ground at the corners of cells. FULL is false in an empty slot, here and below. */
struct drain_tile {
    int64_t i, j;
    bool full;
    int32_t height[DRAIN_TILE + 1][DRAIN_TILE + 1];
};

/* Where a block's nodes lie. */
struct drain_places {
    int64_t i, j;
    bool full;
    int64_t x[DRAIN_SIDE][DRAIN_SIDE], y[DRAIN_SIDE][DRAIN_SIDE];
    int32_t height[DRAIN_SIDE][DRAIN_SIDE];
};

struct drain_beds {
    int64_t i, j;
    bool full;
    int32_t bed[DRAIN_SIDE][DRAIN_SIDE], length[DRAIN_SIDE][DRAIN_SIDE];
    int8_t next[DRAIN_SIDE][DRAIN_SIDE];
    uint8_t kind[DRAIN_SIDE][DRAIN_SIDE], birth[DRAIN_SIDE][DRAIN_SIDE];
};

/* A way's stem: from its node as far as the first node near the next one. */
struct drain_stem {
    int64_t i, j;
    bool full;
    uint8_t count;
    int8_t column[DRAIN_STEM_MAX + 1], row[DRAIN_STEM_MAX + 1]; /* from (4 i, 4 j) on */
    int8_t step[DRAIN_STEM_MAX + 1];
};

/* A way: from a node to the next one, through nodes on the next level. */
struct drain_way {
    int64_t i, j;
    bool full, has_beds;
    uint8_t birth;
    int count;
    int8_t column[DRAIN_WAY_MAX], row[DRAIN_WAY_MAX]; /* from (4 i, 4 j) on */
    int8_t next[DRAIN_WAY_MAX];
    int32_t ground[DRAIN_WAY_MAX], bed[DRAIN_WAY_MAX], length[DRAIN_WAY_MAX];
    int32_t low; /* the lowest ground, also at the next node */
};

struct drain_level {
    int64_t spacing; /* 2^bits */
    int bits;
    int cell_bits; /* a ground cell is 2^cell_bits wide */
    int32_t drop;  /* how much a bed falls from node to node, at least */
    struct drain_tile *tile;
    const struct drain_tile *recent; /* the tile that was needed last; NULL at first */
    struct drain_places *places;
    struct drain_beds *beds;
    struct drain_way *way;
    struct drain_stem *stem; /* as many as ways */
    union drain_work *work;  /* see drain.c */
};

struct drain {
    struct drain_shape shape;
    drain_ground *ground;
    void *context;
    struct drain_level level[DRAIN_MAX_LEVELS];
};

/* A rectangle of nodes. */
struct drain_range {
    int64_t i, j;
    int width, height;
};

/* Write the ground at LEVEL's nodes N into HEIGHT, rows STRIDE apart. */
int drain_heights(struct drain *drain, int level, struct drain_range n, int stride,
                  int32_t *height);

/* The places of node block (I, J), valid until the next call. */
int drain_places(struct drain *drain, int level, int64_t i, int64_t j,
                 const struct drain_places **out);

/* The highest ground on the straight line between two nodes on level 0. */
int drain_pass(struct drain *drain, const struct course_node *from, const struct course_node *to,
               int32_t *out);

/* Node (I, J) on LEVEL. */
int drain_node(struct drain *drain, int level, int64_t i, int64_t j, struct course_node *out);

/* The way from node (I, J) on LEVEL with its beds, valid until the next call. */
int drain_way(struct drain *drain, int level, int64_t i, int64_t j, const struct drain_way **out);

#endif
