/*
 * Which tiles are to be made, and in which order: zooms ascending, then by layer, then by metatiles
 * of 8 x 8, so that folders fill one after another. Pure; a box of any size takes no memory.
 */
#ifndef FARLANDS_PRERENDER_TILE_PLAN_H
#define FARLANDS_PRERENDER_TILE_PLAN_H

#include <stddef.h>

#include "server/world/tile.h"

enum { TILE_PLAN_WHY = 256, METATILE = 8 };

/* More tiles than this are no plan. */
#define TILE_PLAN_MAX (UINT64_C(1) << 62)

/* Those of one layer at one zoom. */
struct tile_part {
    const struct world *world;
    int layer, scale, z;
    int64_t x, y, width, height; /* tiles: all of that, or, of a list, what lies within */
    uint64_t before;             /* tiles in the parts before this one */
    uint64_t count;
    uint64_t folders_before, folders; /* those that its tiles lie in, and theirs */
};

/* A box of the plane at several zooms. */
struct tile_box {
    const struct world *world; /* outlives the plan */
    int layer[CONFIG_LAYERS_MAX], layer_count;
    int scale;
    int zoom_min, zoom_max;
    bool whole;       /* not a box, but what web maps see: 0 <= x, y < 2^z */
    int64_t least[2]; /* units, x and y, and the first ones beyond */
    int64_t beyond[2];
};

struct tile_plan {
    struct tile_part *part;
    size_t part_count;
    struct tile *listed; /* of a list: all tiles, in order; or NULL */
    uint64_t total;      /* of all shards */
    uint64_t folders;    /* that all tiles lie in, and theirs */
    uint64_t shard, of;  /* this one's number, from 0, and how many there are */
};

/*
 * The tiles that touch BOX, which exist: those with a sample beyond the plane's limit do not.
 * Returns 0; -EINVAL where the zooms or the box cannot be, or no tile is there at one of the zooms,
 * or -EOVERFLOW where there are more than TILE_PLAN_MAX, with what is wrong in WHY; -ENOMEM.
 */
int tile_plan_box(struct tile_plan **out, const struct tile_box *box, char why[TILE_PLAN_WHY]);

/* COUNT tiles, which are taken over, also on error, and put in order, each once: the same order
 * wherever the list is read. COUNT > 0; their worlds outlive the plan, and differ in their names.
 * Returns 0 or -ENOMEM. */
int tile_plan_list(struct tile_plan **out, struct tile *tiles, size_t count);

void tile_plan_free(struct tile_plan *plan);

/* From now on only the tiles of SHARD, of OF: even, disjoint, and together all. */
void tile_plan_shard(struct tile_plan *plan, uint64_t shard, uint64_t of);

/* How many there are: of the plan's shard, and of those the ones in a part. */
uint64_t tile_plan_count(const struct tile_plan *plan);
uint64_t tile_plan_count_part(const struct tile_plan *plan, size_t part);

/* The tile INDEX of the shard. Returns the part that it is in. */
size_t tile_plan_get(const struct tile_plan *plan, uint64_t index, struct tile *tile);

/* How many folders there may be, at most, with the first COUNT tiles of the shard in them. */
uint64_t tile_plan_folders(const struct tile_plan *plan, uint64_t count);

/* The tile INDEX of the shard's in PART. */
void tile_plan_get_in_part(const struct tile_plan *plan, size_t part, uint64_t index,
                           struct tile *tile);

#endif
