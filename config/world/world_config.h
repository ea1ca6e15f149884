/* A world as plain data, and its keys as text. Knows neither texts nor the daemon. */
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

/* A layer that worlds can serve: its name, and the range of heights it can encode. */
struct config_layer {
    const char *name;
    float lowest, highest; /* metres; 0, 0: no limit */
    bool biomes;           /* shows a world's biomes: one without any cannot list it */
    bool rivers;           /* shows a world's rivers: the same */
};

/* The colour at a height. */
struct palette_stop {
    float metres;
    uint8_t red, green, blue;
};

/* Seeds that clients may request as name:seed. */
enum world_seeds { SEEDS_FIXED, SEEDS_ANY };

struct world_config {
    char name[WORLD_SEEDED_NAME_MAX]; /* shorter than WORLD_NAME_MAX, or NAME:SEED */
    enum world_seeds seeds;
    int native_zoom;                          /* the zoom at which one sample is one block */
    int64_t origin[2];                        /* units: the position of sample 0 of tile 0 */
    bool wrap;                                /* repeat the terrain with the web map's square */
    struct farlands_params terrain;           /* heights and volume */
    const struct world_fields *fields;        /* instead of the terrain's noise; NULL: none */
    struct palette_stop palette[PALETTE_MAX]; /* metres ascending; equal ones make an edge */
    int stops;
    double exaggeration;         /* of heights that are shaded, times that of the zoom */
    char about[WORLD_ABOUT_MAX]; /* a line on what the world is, or empty */
    uint32_t layers;             /* bit i: serve layer i of those given to config_load */
};

/* The period of a world's terrain in units: the side of the web map's square, 0 without wrap. */
static inline int64_t world_config_period(const struct world_config *world)
{
    return world->wrap ? (INT64_C(256) << world->native_zoom) * FARLANDS_UNIT : 0;
}

/* An array of worlds. */
struct world_list {
    struct world_config *world;
    int count;
};

/* Free the array, and release the fields of its worlds. */
void world_list_free(struct world_list *list);

/* The parts of a world. Each of its products, such as a layer, depends on some of them. */
enum world_part {
    WORLD_IDENTITY, /* its name, seeds, repetition, the choice of layers */
    WORLD_HEIGHTS,  /* heights of places */
    WORLD_GRID,     /* places of tiles */
    WORLD_COLORS,   /* colours of heights */
    WORLD_SHADING,  /* light and shade in pictures */
    WORLD_DENSITY,  /* ground in space, besides the heights */
    WORLD_PARTS,
};

/* A key of a world, and its value. */
struct world_key {
    const char *name;  /* dotted, such as "noise.warp.amplitude" */
    const char *value; /* a string if QUOTED; otherwise JSON */
    bool quoted;
    bool is_default; /* the value is that of worlds that omit the key */
    enum world_part part;
    /* The part of VALUE on which PART depends; on the rest WORLD_COLORS does. NULL: all of it. */
    const char *plain_value;
};

/* Visit all keys of a world but `layers`, in a fixed order. */
typedef void world_visitor(void *context, const struct world_key *key);
void config_world_visit(const struct world_config *world, world_visitor *visitor, void *context);

/* Visit those of KEYS alone, which are in no section; then NULL. To format a key takes some 100 ns,
 * and a world has a hundred. */
void config_world_visit_some(const struct world_config *world, const char *const *keys,
                             world_visitor *visitor, void *context);

#endif
