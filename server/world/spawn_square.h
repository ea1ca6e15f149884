/* A square of blocks, and which of them a search for a place may choose. Private to spawn_search.c.
 */
#ifndef FARLANDS_WORLD_SPAWN_SQUARE_H
#define FARLANDS_WORLD_SPAWN_SQUARE_H

#include "server/world/spawn_search.h"

enum {
    SPAWN_SQUARE = 126, /* blocks per side: few, if the first square will do; 3 % border; with it,
                           rows fill whole vectors */
    SPAWN_BORDERED = SPAWN_SQUARE + 2,
};

struct spawn_square {
    int64_t x, y; /* the first block */
    int width, height;
    bool fits[SPAWN_SQUARE * SPAWN_SQUARE]; /* in rows of SPAWN_SQUARE blocks */
    /* In rows of SPAWN_BORDERED blocks, from (x - 1, y - 1) on; if the terrain has such fields, and
     * the query needs them. */
    float heights[SPAWN_BORDERED * SPAWN_BORDERED];
    float level[SPAWN_BORDERED * SPAWN_BORDERED];
    float bank[SPAWN_BORDERED * SPAWN_BORDERED];
    float biome[SPAWN_BORDERED * SPAWN_BORDERED];
};

/* Set what is left of SQUARE, whose first block and size are set. A block fits if its height,
 * slope, water and biome will do; the ground is not tested. Returns 0 or -ENOMEM. */
int spawn_square_evaluate(struct spawn_square *square, const struct farlands_terrain *terrain,
                          const struct spawn_fields *fields, const struct spawn_query *query,
                          struct farlands_scratch *scratch);

/* The height of the block in column I and row J. */
static inline float spawn_square_height(const struct spawn_square *square, int i, int j)
{
    return square->heights[(j + 1) * SPAWN_BORDERED + i + 1];
}

/* Whether QUERY names biomes, and has the one whose id is VALUE. */
bool spawn_wants_biomes(const struct spawn_query *query);
bool spawn_biome_fits(const struct spawn_query *query, float value);

#endif
