#include "spawn_square.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "noise/graph/rivers_params.h"

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

enum { BORDERED = SPAWN_SQUARE + 2 };

/* A band of a square's rows, with a border. */
struct band {
    int64_t x, y;      /* the first block, without the border */
    int width, height; /* without the border */
    bool *fits;        /* from the first block on */
    /* Rows of BORDERED blocks, from (x - 1, y - 1) on. Unset if the terrain has no such field, or
     * the query doesn't need it. */
    float heights[BORDERED * (SPAWN_BAND + 2)], level[BORDERED * (SPAWN_BAND + 2)],
        bank[BORDERED * (SPAWN_BAND + 2)], biome[BORDERED * (SPAWN_BAND + 2)];
};

/* Samples around a band, SPACING blocks apart, a power of two. The sea is below 0 m. */
struct sea {
    int64_t x, y; /* blocks, multiples of SPACING */
    int spacing, width, height;
    bool is_near[SPAWN_BAND * SPAWN_SQUARE]; /* for each block of the band */
};

enum { SEA_PARTS = 16 }; /* per distance */

static int least(int a, int b)
{
    return a < b ? a : b;
}

/* For COUNT blocks from FIRST on, counted from the row's first sample: the distance in blocks to
 * the row's nearest sample below 0 m; UINT16_MAX if there is none. */
static void find_distances(const struct sea *sea, const float *heights, int first, int count,
                           uint16_t *out)
{
    const int spacing = sea->spacing;
    int place = 0, sea_at = -UINT16_MAX;

    for (int i = 0; i < count; i++) {
        for (; place * spacing <= first + i; place++)
            if (heights[place] < 0)
                sea_at = place * spacing;
        out[i] = (uint16_t)least(first + i - sea_at, UINT16_MAX);
    }
    place = sea->width - 1;
    sea_at = 2 * UINT16_MAX;
    for (int i = count - 1; i >= 0; i--) {
        for (; place >= 0 && place * spacing >= first + i; place--)
            if (heights[place] < 0)
                sea_at = place * spacing;
        out[i] = (uint16_t)least(sea_at - first - i, out[i]);
    }
}

/* Set is_near of SEA, whose samples have HEIGHTS. For each row of samples, Pythagoras' theorem
 * gives how far along the row the sea may be. */
static void find_near(struct sea *sea, const float *heights, const struct band *band, int distance)
{
    uint16_t distances[SPAWN_SQUARE];

    memset(sea->is_near, 0, sizeof sea->is_near);
    for (int row = 0; row < sea->height; row++) {
        const int64_t y = sea->y + (int64_t)row * sea->spacing - band->y;
        find_distances(sea, heights + (size_t)row * (size_t)sea->width, (int)(band->x - sea->x),
                       band->width, distances);
        for (int j = 0; j < band->height; j++) {
            const int64_t left = (int64_t)distance * distance - (y - j) * (y - j);
            const uint16_t reach = left >= 0 ? (uint16_t)sqrt((double)left) : 0;
            bool *is_near = &sea->is_near[j * SPAWN_SQUARE];
            for (int i = 0; left >= 0 && i < band->width; i++)
                is_near[i] |= distances[i] <= reach;
        }
    }
}

static int evaluate_sea(struct sea *sea, const struct band *band,
                        const struct farlands_terrain *terrain, struct farlands_scratch *scratch,
                        int distance, int64_t *samples)
{
    sea->spacing = 1;
    while (sea->spacing * SEA_PARTS < distance)
        sea->spacing *= 2;
    sea->x = (band->x - distance) & -(int64_t)sea->spacing;
    sea->y = (band->y - distance) & -(int64_t)sea->spacing;
    sea->width = (int)((band->x + band->width + distance - sea->x) / sea->spacing) + 1;
    sea->height = (int)((band->y + band->height + distance - sea->y) / sea->spacing) + 1;
    const struct farlands_grid grid = {.x = sea->x * FARLANDS_UNIT,
                                       .y = sea->y * FARLANDS_UNIT,
                                       .step = sea->spacing * FARLANDS_UNIT,
                                       .width = sea->width,
                                       .height = sea->height};
    const size_t count = (size_t)sea->width * (size_t)sea->height;
    float *heights = malloc(count * sizeof *heights);
    if (!heights)
        return -ENOMEM;
    *samples += (int64_t)count;
    int err = terrain_heights(terrain, scratch, &grid, heights, (size_t)sea->width);
    if (!err)
        find_near(sea, heights, band, distance);
    free(heights);
    return err;
}

/* True if the block at NUMBER, in rows of BORDERED blocks, fits, except for water nearby. */
static bool is_within(const struct band *band, const struct spawn_fields *fields,
                      const struct spawn_query *query, int number)
{
    const float *height = band->heights + number;
    if (fields->water >= 0 && band->level[number] > RIVERS_DRY)
        return false;
    if (!(*height >= query->min && *height <= query->max))
        return false;
    if (spawn_wants_biomes(query) && !spawn_biome_fits(query, band->biome[number]))
        return false;
    return query->slope == INFINITY ||
           surface_slope((struct around){height[-1], height[1], height[-BORDERED],
                                         height[BORDERED]}) <= query->slope;
}

static int evaluate_fields(struct band *band, const struct farlands_terrain *terrain,
                           const struct spawn_fields *fields, const struct spawn_query *query,
                           struct farlands_scratch *scratch)
{
    const struct farlands_grid grid = {
        .x = (band->x - 1) * FARLANDS_UNIT,
        .y = (band->y - 1) * FARLANDS_UNIT,
        .step = FARLANDS_UNIT,
        .width = band->width + 2,
        .height = band->height + 2,
    };
    int field[4] = {terrain_height_field(terrain)}, count = 1;
    float *out[4] = {band->heights};
    const struct {
        int field;
        float *out;
    } more[] = {{fields->water, band->level},
                {query->near_water > 0 ? fields->bank : -1, band->bank},
                {spawn_wants_biomes(query) ? fields->biome : -1, band->biome}};
    for (size_t i = 0; i < sizeof more / sizeof more[0]; i++)
        if (more[i].field >= 0) {
            field[count] = more[i].field;
            out[count++] = more[i].out;
        }
    return terrain_fields(terrain, scratch, &grid, field, count, out, BORDERED);
}

/* Keep only the blocks that have water nearby. */
static int keep_near_water(struct band *band, const struct farlands_terrain *terrain,
                           const struct spawn_fields *fields, int distance,
                           struct farlands_scratch *scratch, int64_t *samples)
{
    struct sea sea = {.spacing = 0};
    int err = 0;

    for (int j = 0; j < band->height; j++)
        for (int i = 0; i < band->width && !err; i++) {
            bool *fits = &band->fits[j * SPAWN_SQUARE + i];
            if (!*fits ||
                (fields->bank >= 0 && band->bank[(j + 1) * BORDERED + i + 1] <= (float)distance))
                continue;
            if (sea.spacing == 0)
                err = evaluate_sea(&sea, band, terrain, scratch, distance, samples);
            *fits = !err && sea.is_near[j * SPAWN_SQUARE + i];
        }
    return err;
}

int spawn_square_evaluate(struct spawn_square *square, const struct farlands_terrain *terrain,
                          const struct spawn_fields *fields, const struct spawn_query *query,
                          struct farlands_scratch *scratch, int64_t *samples)
{
    struct band *band = malloc(sizeof *band);
    if (!band)
        return -ENOMEM;
    band->x = square->x;
    band->y = square->y + square->rows;
    band->width = square->width;
    band->height = least(SPAWN_BAND, square->height - square->rows);
    band->fits = square->fits + square->rows * SPAWN_SQUARE;
    *samples += ((int64_t)band->width + 2) * (band->height + 2);
    int err = evaluate_fields(band, terrain, fields, query, scratch);
    for (int j = 0; !err && j < band->height; j++)
        for (int i = 0; i < band->width; i++)
            band->fits[j * SPAWN_SQUARE + i] =
                is_within(band, fields, query, (j + 1) * BORDERED + i + 1);
    if (!err && query->near_water > 0)
        err = keep_near_water(band, terrain, fields, query->near_water, scratch, samples);
    square->rows += band->height;
    free(band);
    return err;
}
