/* A square of blocks, and the blocks in it that a spawn search may choose. Private to
 * spawn_search.c. */
#ifndef FARLANDS_WORLD_SPAWN_SQUARE_H
#define FARLANDS_WORLD_SPAWN_SQUARE_H

#include <assert.h>

#include "server/world/spawn_search.h"

enum {
    SPAWN_SQUARE = 126, /* blocks per side: few, because the first square often has a place; with a
                           border rows fill whole vectors */
    SPAWN_BAND = 42,    /* rows evaluated together, mostly in less than a millisecond; the border
                           adds 5 % */
};
static_assert(SPAWN_SQUARE % SPAWN_BAND == 0, "rows left");

struct spawn_square {
    int64_t x, y; /* the first block */
    int width, height;
    int rows;                               /* evaluated so far */
    bool fits[SPAWN_SQUARE * SPAWN_SQUARE]; /* in evaluated rows, SPAWN_SQUARE blocks each */
};

/* Evaluate the next band of SQUARE, whose first block and size are set. A block fits if its height,
 * slope, water and biome are within the bounds; the ground is not tested. Adds the number of
 * evaluated heights to *SAMPLES. Returns 0 or -ENOMEM. */
int spawn_square_evaluate(struct spawn_square *square, const struct farlands_terrain *terrain,
                          const struct spawn_fields *fields, const struct spawn_query *query,
                          struct farlands_scratch *scratch, int64_t *samples);

/* True if QUERY names biomes; if it names the biome whose id is VALUE. */
bool spawn_wants_biomes(const struct spawn_query *query);
bool spawn_biome_fits(const struct spawn_query *query, float value);

#endif
