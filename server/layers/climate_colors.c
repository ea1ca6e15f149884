#include "climate_colors.h"

#include <stdlib.h>
#include <string.h>

#include "rgb.h"
#include "server/core/multiversion.h"

/* Colors are blended at nodes, and entries interpolated between them. */
enum {
    NODE = 8, /* entries */
    NODES_WIDE = CLIMATE_TEMPERATURES / NODE + 1,
    NODES_HIGH = CLIMATE_HUMIDITIES / NODE + 1,
};

/* A node's colors, for all levels and steep ground, by channel; SIDE_BY_SIDE for vectors. */
enum { SIDE_BY_SIDE = 8 };
_Static_assert(CLIMATE_MAX_LEVELS + 1 <= SIDE_BY_SIDE, "the levels and steep ground have room");
struct node {
    float color[3][SIDE_BY_SIDE];
};

struct nodes {
    struct node at[NODES_HIGH][NODES_WIDE];
};

/* The squared distance over which a biome fades: borders are some 4 degrees, or a tenth of
 * humidity, wide. */
static const float BLEND = 0.12f;
/* Added for a height beyond the range, because a beach ends at its height, not a little above. */
static const float BEYOND = 0.25f;
/* The change between two levels reaches to either side by this part of the height. */
static const float CHANGE = 0.2f;
/* A height less than this times the height before is on the same level. */
static const float APART = 1.5f;
/* A biome whose slopes begin here or above is for steep ground. */
static const float STEEP = 0.2f;
/* If no biome is for steep ground. */
static const struct biome_look rock = {.color = {0x8f, 0x87, 0x7c}};

/* X's distance from ROW's range, the distance by which biomes are chosen. */
static float distance(const struct biome_row *row, enum biome_axis axis, float x)
{
    const struct biome_range *range = &row->range[axis];
    const float out = x < range->from ? range->from - x : x > range->to ? x - range->to : 0;
    return out / biome_scales[axis];
}

static float squared(float x)
{
    return x * x;
}

static bool is_water(const struct biome_row *row)
{
    return row->range[BIOME_HEIGHT].to <= 0;
}

static bool is_steep(const struct biome_row *row)
{
    return row->range[BIOME_SLOPE].from >= STEEP;
}

/* ROW's squared distance from level ground at METRES, or from steep ground. */
static float square_of(const struct biome_row *row, float temperature, float humidity,
                       const float *height)
{
    const float square = squared(distance(row, BIOME_TEMPERATURE, temperature)) +
                         squared(distance(row, BIOME_HUMIDITY, humidity));
    const float out = height ? distance(row, BIOME_HEIGHT, *height) : 0;
    return out > 0 ? square + BEYOND + squared(out) : square;
}

/*
 * Colors at a place. If several rows contain a place, the first one is the biome. So each row takes
 * a part, 1 / (1 + square / BLEND)^3, of what the rows before have left. HEIGHT is NULL for steep
 * ground.
 */
static void blend(float color[3], const struct biome_table *biomes, float temperature,
                  float humidity, const float *height)
{
    float sum[3] = {0}, total = 0, left = 1;
    for (int i = 0; i < biomes->rows.rows; i++) {
        const struct biome_row *row = &biomes->rows.row[i];
        if (is_water(row) || is_steep(row) != !height)
            continue;
        const float near = BLEND / (BLEND + square_of(row, temperature, humidity, height));
        const float share = near * near * near, part = share * left;
        left *= 1 - share;
        total += part;
        for (int k = 0; k < 3; k++)
            sum[k] += part * (float)biomes->look[i].color[k];
    }
    for (int k = 0; k < 3; k++)
        color[k] = total > 0 ? sum[k] / total : (float)rock.color[k];
}

/* The nodes' colors on LEVEL, which contains HEIGHT, or for steep ground if HEIGHT is NULL. */
static void make_nodes(struct nodes *nodes, const struct biome_table *biomes, int level,
                       const float *height)
{
    for (int j = 0; j < NODES_HIGH; j++)
        for (int i = 0; i < NODES_WIDE; i++) {
            const float t = (float)i / (NODES_WIDE - 1), humidity = (float)j / (NODES_HIGH - 1);
            float color[3];
            blend(color, biomes, CLIMATE_COLDEST + t * (CLIMATE_HOTTEST - CLIMATE_COLDEST),
                  humidity, height);
            for (int k = 0; k < 3; k++)
                nodes->at[j][i].color[k][level] = color[k];
        }
}

/* The colors at X, Y, 0 to 1, in a square with these nodes at the corners. */
INLINE void between(uint32_t *out, const struct node *restrict west,
                    const struct node *restrict south_west, float x, float y)
{
    const struct node *east = west + 1, *south_east = south_west + 1;
    for (int i = 0; i < SIDE_BY_SIDE; i++) {
        uint32_t channel[3];
        for (int k = 0; k < 3; k++) {
            const float north = west->color[k][i] + (east->color[k][i] - west->color[k][i]) * x;
            const float south =
                south_west->color[k][i] + (south_east->color[k][i] - south_west->color[k][i]) * x;
            channel[k] = rgb_rounded(north + (south - north) * y);
        }
        out[i] = rgb_pack(channel[0], channel[1], channel[2]);
    }
}

/* Interpolate all entries from NODES, in climate_place's order, because each store of SIDE_BY_SIDE
 * colors overwrites the beginning of the next places. */
MULTIVERSION
static void fill(uint32_t *out, const struct nodes *restrict nodes, int levels)
{
    for (int place = 0; place < CLIMATE_PLACES; place++) {
        const int square = place / 16, wide = CLIMATE_TEMPERATURES / 4;
        const int i = square % wide * 4 + place % 4, j = square / wide * 4 + place / 4 % 4;
        between(out + climate_entry(place, levels), &nodes->at[j / NODE][i / NODE],
                &nodes->at[j / NODE + 1][i / NODE], ((float)(i % NODE) + 0.5f) / NODE,
                ((float)(j % NODE) + 0.5f) / NODE);
    }
}

static int ascending(const void *a, const void *b)
{
    const float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

/* Heights above 0 at which ranges end, ascending and apart. Returns how many. */
static int find_changes(float change[CLIMATE_MAX_LEVELS - 1], const struct biome_rows *rows)
{
    float ends[2 * BIOMES_MAX] = {0};
    int count = 0, kept = 0;
    for (int i = 0; i < rows->rows; i++) {
        const struct biome_range *range = &rows->row[i].range[BIOME_HEIGHT];
        const float both[] = {range->from, range->to};
        for (int k = 0; k < 2 && !is_steep(&rows->row[i]); k++)
            if (both[k] > 0 && both[k] < 1e9f)
                ends[count++] = both[k];
    }
    qsort(ends, (size_t)count, sizeof *ends, ascending);
    for (int i = 0; i < count && kept < CLIMATE_MAX_LEVELS - 1; i++)
        if (kept == 0 || ends[i] > APART * change[kept - 1])
            change[kept++] = ends[i];
    return kept;
}

static void make_levels(struct climate_colors *climate, struct nodes *nodes,
                        const struct biome_table *biomes, const float *change)
{
    const int last = climate->levels - 1;
    for (int i = 0; i < CLIMATE_MAX_LEVELS - 1; i++)
        climate->change[i] = i < last ? (struct climate_change){(1 - CHANGE) * change[i],
                                                                0.5f / (CHANGE * change[i])}
                                      : (struct climate_change){0, 0};
    for (int i = 0; i <= last; i++) {
        const float below = i > 0 ? change[i - 1] : 0;
        const float middle = i < last ? (below + change[i]) / 2 : 2 * below + 1;
        make_nodes(nodes, biomes, i, &middle);
    }
    make_nodes(nodes, biomes, climate->levels, NULL);
}

struct climate_colors *climate_colors_new(const struct biome_table *biomes,
                                          const struct color_table *colors)
{
    float change[CLIMATE_MAX_LEVELS - 1] = {0};
    const int levels = find_changes(change, &biomes->rows) + 1;
    const size_t entries = (size_t)climate_entry(CLIMATE_PLACES, levels) + SIDE_BY_SIDE;
    struct climate_colors *climate = malloc(sizeof *climate + entries * sizeof *climate->color);
    struct nodes *nodes = calloc(1, sizeof *nodes);
    if (!climate || !nodes) {
        free(climate);
        free(nodes);
        return NULL;
    }
    climate->levels = levels;
    memcpy(climate->color, colors->color, sizeof colors->color);
    make_levels(climate, nodes, biomes, change);
    fill(climate->color, nodes, levels);
    free(nodes);
    return climate;
}
