/*
 * The tiles to render ahead of time and their order: by ascending zoom, then by layer, then by
 * metatiles of 8 x 8, so that one cache directory fills after another. Pure. A box of any size
 * takes constant memory.
 */
#ifndef FARLANDS_PRERENDER_TILE_PLAN_H
#define FARLANDS_PRERENDER_TILE_PLAN_H

#include <stddef.h>

#include "server/world/tile.h"

enum { TILE_PLAN_WHY = 256, METATILE = 8 };

/* The most tiles that a plan can have. */
#define TILE_PLAN_MAX (UINT64_C(1) << 62)

/* The tiles of one layer at one zoom. */
struct tile_part {
    const struct world *world;
    int layer, field, scale, z;
    enum format format;
    bool border;
    int64_t x, y, width, height; /* tiles: the part, or a box around a list's tiles */
    uint64_t before;             /* tiles in the parts before this one */
    uint64_t count;
    uint64_t directories_before, directories; /* that the tiles need in the cache */
};

/* A box in the plane, at several zooms. */
struct tile_box {
    const struct world *world; /* must outlive the plan */
    int layer[CONFIG_LAYERS_MAX], field[CONFIG_LAYERS_MAX], layer_count;
    enum format format; /* the pictures' format, which all layers have */
    int scale;
    int zoom_min, zoom_max;
    bool whole;        /* ignore the box: 0 <= x, y < 2^z, as on web maps */
    int64_t least[2];  /* x and y in units, inclusive */
    int64_t beyond[2]; /* exclusive */
};

struct tile_plan {
    struct tile_part *part;
    size_t part_count;
    struct tile_address *listed; /* a list's tiles, sorted; or NULL */
    uint64_t total;              /* tiles in all shards */
    uint64_t directories;        /* in all shards */
    uint64_t shard, of;          /* 0 <= shard < of */
};

/*
 * Plan the tiles that touch BOX, without those across the plane's limit, which do not exist.
 * Returns 0. With a message in WHY: -EINVAL if BOX is invalid, has zooms that the world lacks, or
 * has no tile at one of the zooms; -EOVERFLOW if there are more than TILE_PLAN_MAX tiles. Or
 * -ENOMEM.
 */
int tile_plan_box(struct tile_plan **out, const struct tile_box *box, char why[TILE_PLAN_WHY]);

/*
 * Plan COUNT > 0 tiles, sorted and without duplicates; the order depends on the tiles alone. Takes
 * ownership of TILES even on error. The worlds must outlive the plan and have different names.
 * Returns 0 or -ENOMEM.
 */
int tile_plan_list(struct tile_plan **out, struct tile_address *tiles, size_t count);

void tile_plan_free(struct tile_plan *plan);

/* Limit the plan to SHARD. The OF shards are disjoint and together have all tiles; their sizes
 * differ by at most one tile. */
void tile_plan_shard(struct tile_plan *plan, uint64_t shard, uint64_t of);

/* The number of tiles in the shard; and of these, in PART. */
uint64_t tile_plan_count(const struct tile_plan *plan);
uint64_t tile_plan_count_part(const struct tile_plan *plan, size_t part);

/* Get the shard's tile number INDEX. Returns its part's number. */
size_t tile_plan_get(const struct tile_plan *plan, uint64_t index, struct tile_address *tile);

/* Get tile number INDEX among the shard's tiles in PART. */
void tile_plan_get_in_part(const struct tile_plan *plan, size_t part, uint64_t index,
                           struct tile_address *tile);

/* An upper bound for the number of cache directories that the shard's first COUNT tiles need. */
uint64_t tile_plan_directories(const struct tile_plan *plan, uint64_t count);

#endif
