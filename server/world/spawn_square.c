#include "spawn_square.h"

#include <errno.h>
#include <stdlib.h>

#include "noise/rivers_params.h"

bool spawn_wants_biomes(const struct spawn_query *query)
{
    const uint64_t *bits = query->biomes.bits;
    return (bits[0] | bits[1] | bits[2] | bits[3]) != 0;
}

bool spawn_biome_fits(const struct spawn_query *query, float value)
{
    const int id = (int)value;
    return id >= 0 && id < 256 && query->biomes.bits[id / 64] >> id % 64 & 1;
}

/* Heights around a square, SPACING blocks apart, a power of two: where the sea is. */
struct sea {
    int64_t x, y; /* blocks, multiples of SPACING */
    int spacing, width, height;
    bool is_there;
    float *heights;
};

enum { SEA_PARTS = 16 }; /* of the distance */

static int evaluate_sea(struct sea *sea, const struct spawn_square *square,
                        const struct farlands_terrain *terrain, struct farlands_scratch *scratch,
                        int distance)
{
    sea->spacing = 1;
    while (sea->spacing * SEA_PARTS < distance)
        sea->spacing *= 2;
    sea->x = (square->x - distance) & -(int64_t)sea->spacing;
    sea->y = (square->y - distance) & -(int64_t)sea->spacing;
    sea->width = (int)((square->x + square->width + distance - sea->x) / sea->spacing) + 1;
    sea->height = (int)((square->y + square->height + distance - sea->y) / sea->spacing) + 1;
    const struct farlands_grid grid = {.x = sea->x * FARLANDS_UNIT,
                                       .y = sea->y * FARLANDS_UNIT,
                                       .step = sea->spacing * FARLANDS_UNIT,
                                       .width = sea->width,
                                       .height = sea->height};
    const int count = sea->width * sea->height;
    sea->heights = malloc((size_t)count * sizeof *sea->heights);
    if (!sea->heights)
        return -ENOMEM;
    const int err = terrain_heights(terrain, scratch, &grid, sea->heights, (size_t)sea->width);
    for (int i = 0; !err && i < count && !sea->is_there; i++)
        sea->is_there = sea->heights[i] < 0;
    return err;
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Whether the sea is within DISTANCE blocks of the block (X, Y). */
static bool is_sea_near(const struct sea *sea, int64_t x, int64_t y, int64_t distance)
{
    if (!sea->is_there)
        return false;
    const int64_t last_j = least((y + distance - sea->y) / sea->spacing, sea->height - 1);
    const int64_t last_i = least((x + distance - sea->x) / sea->spacing, sea->width - 1);
    for (int64_t j = (y - distance - sea->y) / sea->spacing; j <= last_j; j++) {
        const int64_t dy = sea->y + j * sea->spacing - y;
        for (int64_t i = (x - distance - sea->x) / sea->spacing; i <= last_i; i++) {
            const int64_t dx = sea->x + i * sea->spacing - x;
            if (sea->heights[j * sea->width + i] < 0 && dx * dx + dy * dy <= distance * distance)
                return true;
        }
    }
    return false;
}

/* The block at NUMBER, in rows of SPAWN_BORDERED blocks: all but water nearby. */
static bool is_within(const struct spawn_square *square, const struct spawn_fields *fields,
                      const struct spawn_query *query, int number)
{
    const float *height = square->heights + number;
    if (fields->water >= 0 && square->level[number] > RIVERS_DRY)
        return false;
    if (!(*height >= query->min && *height <= query->max))
        return false;
    if (spawn_wants_biomes(query) && !spawn_biome_fits(query, square->biome[number]))
        return false;
    return query->slope == INFINITY ||
           surface_slope((struct around){height[-1], height[1], height[-SPAWN_BORDERED],
                                         height[SPAWN_BORDERED]}) <= query->slope;
}

static int evaluate_fields(struct spawn_square *square, const struct farlands_terrain *terrain,
                           const struct spawn_fields *fields, const struct spawn_query *query,
                           struct farlands_scratch *scratch)
{
    const struct farlands_grid grid = {
        .x = (square->x - 1) * FARLANDS_UNIT,
        .y = (square->y - 1) * FARLANDS_UNIT,
        .step = FARLANDS_UNIT,
        .width = square->width + 2,
        .height = square->height + 2,
    };
    int field[4] = {terrain_height_field(terrain)}, count = 1;
    float *out[4] = {square->heights};
    const struct {
        int field;
        float *out;
    } more[] = {{fields->water, square->level},
                {query->near_water > 0 ? fields->bank : -1, square->bank},
                {spawn_wants_biomes(query) ? fields->biome : -1, square->biome}};
    for (size_t i = 0; i < sizeof more / sizeof more[0]; i++)
        if (more[i].field >= 0) {
            field[count] = more[i].field;
            out[count++] = more[i].out;
        }
    return terrain_fields(terrain, scratch, &grid, field, count, out, SPAWN_BORDERED);
}

/* Of the blocks that fit, keep those that have water nearby. */
static int keep_near_water(struct spawn_square *square, const struct farlands_terrain *terrain,
                           const struct spawn_fields *fields, int distance,
                           struct farlands_scratch *scratch)
{
    struct sea sea = {.heights = NULL};
    int err = 0;

    for (int j = 0; j < square->height; j++)
        for (int i = 0; i < square->width && !err; i++) {
            bool *fits = &square->fits[j * SPAWN_SQUARE + i];
            if (!*fits || (fields->bank >= 0 &&
                           square->bank[(j + 1) * SPAWN_BORDERED + i + 1] <= (float)distance))
                continue;
            if (!sea.heights)
                err = evaluate_sea(&sea, square, terrain, scratch, distance);
            *fits = !err && is_sea_near(&sea, square->x + i, square->y + j, distance);
        }
    free(sea.heights);
    return err;
}

int spawn_square_evaluate(struct spawn_square *square, const struct farlands_terrain *terrain,
                          const struct spawn_fields *fields, const struct spawn_query *query,
                          struct farlands_scratch *scratch)
{
    int err = evaluate_fields(square, terrain, fields, query, scratch);

    for (int j = 0; !err && j < square->height; j++)
        for (int i = 0; i < square->width; i++)
            square->fits[j * SPAWN_SQUARE + i] =
                is_within(square, fields, query, (j + 1) * SPAWN_BORDERED + i + 1);
    if (!err && query->near_water > 0)
        err = keep_near_water(square, terrain, fields, query->near_water, scratch);
    return err;
}
