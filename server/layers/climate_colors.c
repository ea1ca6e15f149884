#include "climate_colors.h"

#include <stdlib.h>
#include <string.h>

/* Colors are blended at nodes, and entries interpolated between them. */
enum {
    NODE = 8, /* entries */
    NODES_WIDE = CLIMATE_TEMPERATURES / NODE + 1,
    NODES_HIGH = CLIMATE_HUMIDITIES / NODE + 1,
};

struct nodes {
    float color[NODES_HIGH][NODES_WIDE][3];
};

/* The square of the distance over which a biome loses its part: borders are some 4 degrees, or a
 * tenth of humidity, wide. */
static const float BLEND = 0.12f;
/* Added for a height beyond the range: beaches end at a height, and not a little above it. */
static const float BEYOND = 0.25f;
/* The part of a height by which a change of levels reaches to either side. */
static const float CHANGE = 0.2f;
/* Heights less than this times the one before are one level. */
static const float APART = 1.5f;
/* A biome whose slopes begin here or above is one of steep ground. */
static const float STEEP = 0.2f;
/* If there is none. */
static const struct biome_look rock = {.color = {0x8f, 0x87, 0x7c}};

/* The distance of X from the range of ROW, as biomes are chosen by. */
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

/* The square of the distance of ROW from level ground at METRES, or from steep ground. */
static float square_of(const struct biome_row *row, float temperature, float humidity,
                       const float *height)
{
    const float square = squared(distance(row, BIOME_TEMPERATURE, temperature)) +
                         squared(distance(row, BIOME_HUMIDITY, humidity));
    const float out = height ? distance(row, BIOME_HEIGHT, *height) : 0;
    return out > 0 ? square + BEYOND + squared(out) : square;
}

/*
 * Colors at a place. Each row takes a part of what those before it have left, since of rows that
 * contain a place the first is its biome: 1 / (1 + square / BLEND)^3. Ground is steep if HEIGHT is
 * NULL.
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

static void make_nodes(struct nodes *nodes, const struct biome_table *biomes, const float *height)
{
    for (int j = 0; j < NODES_HIGH; j++)
        for (int i = 0; i < NODES_WIDE; i++) {
            const float t = (float)i / (NODES_WIDE - 1), humidity = (float)j / (NODES_HIGH - 1);
            blend(nodes->color[j][i], biomes,
                  CLIMATE_COLDEST + t * (CLIMATE_HOTTEST - CLIMATE_COLDEST), humidity, height);
        }
}

static uint32_t between(const float west[3], const float east[3], const float south_west[3],
                        const float south_east[3], float x, float y)
{
    uint32_t color = 0;
    for (int k = 0; k < 3; k++) {
        const float north = west[k] + (east[k] - west[k]) * x;
        const float south = south_west[k] + (south_east[k] - south_west[k]) * x;
        color |= (uint32_t)(north + (south - north) * y + 0.5f) << 8 * k;
    }
    return color;
}

/* The colors of one level, or of steep ground, which is after the last. */
static void fill(struct climate_colors *climate, int level, const struct nodes *nodes)
{
    for (int j = 0; j < CLIMATE_HUMIDITIES; j++)
        for (int i = 0; i < CLIMATE_TEMPERATURES; i++) {
            const float(*row)[3] = &nodes->color[j / NODE][i / NODE];
            const float(*next)[3] = &nodes->color[j / NODE + 1][i / NODE];
            climate->color[climate_entry(climate_place(i, j), climate->levels) + level] =
                between(row[0], row[1], next[0], next[1], ((float)(i % NODE) + 0.5f) / NODE,
                        ((float)(j % NODE) + 0.5f) / NODE);
        }
}

static int ascending(const void *a, const void *b)
{
    const float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

/* The heights at which ranges end, above 0, ascending and apart. Returns their number. */
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
        make_nodes(nodes, biomes, &middle);
        fill(climate, i, nodes);
    }
}

struct climate_colors *climate_colors_new(const struct biome_table *biomes,
                                          const struct color_table *colors)
{
    float change[CLIMATE_MAX_LEVELS - 1] = {0};
    const int levels = find_changes(change, &biomes->rows) + 1;
    struct climate_colors *climate = malloc(
        sizeof *climate + (size_t)climate_entry(CLIMATE_PLACES, levels) * sizeof *climate->color);
    struct nodes *nodes = malloc(sizeof *nodes);
    if (!climate || !nodes) {
        free(climate);
        free(nodes);
        return NULL;
    }
    climate->levels = levels;
    memcpy(climate->color, colors->color, sizeof colors->color);
    make_nodes(nodes, biomes, NULL);
    fill(climate, levels, nodes);
    make_levels(climate, nodes, biomes, change);
    free(nodes);
    return climate;
}
