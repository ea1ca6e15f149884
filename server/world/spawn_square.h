/* A square of blocks, and which of them a search for a place may choose. Private to spawn_search.c.
 */
#ifndef FARLANDS_WORLD_SPAWN_SQUARE_H
#define FARLANDS_WORLD_SPAWN_SQUARE_H

#include <assert.h>

#include "server/world/spawn_search.h"

enum {
    SPAWN_SQUARE = 126, /* blocks per side: few, if the first square will do; with a border rows
                           fill whole vectors */
    SPAWN_BAND = 42,    /* rows that are evaluated together: less than a millisecond, mostly; 5 %
                           border */
};
static_assert(SPAWN_SQUARE % SPAWN_BAND == 0, "rows left");

struct spawn_square {
    int64_t x, y; /* the first block */
    int width, height;
    int rows;                               /* that are evaluated */
    bool fits[SPAWN_SQUARE * SPAWN_SQUARE]; /* of these, in rows of SPAWN_SQUARE blocks */
};

/* Evaluate the next band of SQUARE, whose first block and size are set. A block fits if its height,
 * slope, water and biome will do; the ground is not tested. Adds the heights that it evaluated to
 * *SAMPLES. Returns 0 or -ENOMEM. */
int spawn_square_evaluate(struct spawn_square *square, const struct farlands_terrain *terrain,
                          const struct spawn_fields *fields, const struct spawn_query *query,
                          struct farlands_scratch *scratch, int64_t *samples);

/* Whether QUERY names biomes, and has the one whose id is VALUE. */
bool spawn_wants_biomes(const struct spawn_query *query);
bool spawn_biome_fits(const struct spawn_query *query, float value);

#endif
