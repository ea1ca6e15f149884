/* A world as plain data, and its keys as text. Knows neither files nor the daemon. */
#ifndef FARLANDS_CONFIG_WORLD_CONFIG_H
#define FARLANDS_CONFIG_WORLD_CONFIG_H

#include <stdbool.h>
#include <stdint.h>

#include "config/fields/fields.h"
#include "noise/fractal/params.h"

enum {
    WORLD_NAME_MAX = 64,
    WORLD_ABOUT_MAX = 201,
    WORLD_SEEDED_NAME_MAX = WORLD_NAME_MAX + sizeof ":18446744073709551615" - 1,
    PALETTE_MAX = 64,
    WORLDS_MAX = 1024,
    CONFIG_LAYERS_MAX = 32,
};

/* A layer that worlds can serve, and the heights that it can encode. */
struct config_layer {
    const char *name;
    float lowest, highest; /* metres; 0, 0: no limit */
    bool biomes;           /* shows biomes: a world without biomes cannot list this layer */
    bool rivers;           /* shows rivers: the same */
};

/* The color at a height. */
struct palette_stop {
    float metres;
    uint8_t red, green, blue;
};

/* The seeds that clients may request as name:seed: none, or all. */
enum world_seeds { SEEDS_FIXED, SEEDS_ANY };

struct world_config {
    char name[WORLD_SEEDED_NAME_MAX]; /* shorter than WORLD_NAME_MAX, or NAME:SEED */
    enum world_seeds seeds;
    int native_zoom;                   /* the zoom at which one sample is one block */
    int64_t origin[2];                 /* units: where tile 0 has sample 0 */
    bool wrap;                         /* repeat the terrain at the edges of the web map's square */
    struct farlands_params terrain;    /* heights and volume */
    const struct world_fields *fields; /* in place of the terrain's noise; NULL: none */
    struct palette_stop palette[PALETTE_MAX]; /* metres ascending; equal ones make an edge */
    int stops;
    double exaggeration;         /* a factor for shaded pictures, besides the zoom's */
    char about[WORLD_ABOUT_MAX]; /* a line for people who choose a world, or empty */
    uint32_t layers;             /* bit i: serve layer i among config_load's LAYERS */
};

/* The period of a world's terrain in units: the web map's square is so wide. 0 without wrap. */
static inline int64_t world_config_period(const struct world_config *world)
{
    return world->wrap ? (INT64_C(256) << world->native_zoom) * FARLANDS_UNIT : 0;
}

/* An array of worlds. */
struct world_list {
    struct world_config *world;
    int count;
};

/* Free the array, and release its worlds' fields. */
void world_list_free(struct world_list *list);

/* Groups of a world's keys. A product, such as a layer, depends on some groups, and its fingerprint
 * on their values. */
enum world_part {
    WORLD_IDENTITY, /* name, seeds, wrap, choice of layers */
    WORLD_HEIGHTS,  /* heights */
    WORLD_GRID,     /* where tiles are */
    WORLD_COLORS,   /* colors */
    WORLD_SHADING,  /* light and shade */
    WORLD_DENSITY,  /* volumes, besides the heights */
    WORLD_PARTS,
};

/* A key of a world, and its value. */
struct world_key {
    const char *name;  /* dotted, such as "noise.warp.amplitude" */
    const char *value; /* a string if QUOTED; otherwise JSON */
    bool quoted;
    bool is_default; /* worlds that omit the key have the same value */
    enum world_part part;
    /* VALUE without what only WORLD_COLORS depends on: names and colors of biomes. NULL: PART
     * depends on all of VALUE. */
    const char *plain_value;
};

/* Visit all keys of a world except `layers`, in a fixed order. */
typedef void world_visitor(void *context, const struct world_key *key);
void config_world_visit(const struct world_config *world, world_visitor *visitor, void *context);

/* Visit KEYS alone: names of keys at the top, then NULL. Formatting all hundred keys takes 10 us,
 * because one takes 100 ns. */
void config_world_visit_some(const struct world_config *world, const char *const *keys,
                             world_visitor *visitor, void *context);

#endif
