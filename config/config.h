/*
 * The configuration: YAML -> validated plain data. Omitted keys take their values from the built-in
 * configuration, which is config/farlands.yaml and three files of config/worlds/; those of worlds
 * have defaults of their own (world_options.h).
 */
#ifndef FARLANDS_CONFIG_CONFIG_H
#define FARLANDS_CONFIG_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "config/authority.h"
#include "config/fields.h"
#include "config/log_level.h"
#include "config/network.h"
#include "config/url_prefix.h"
#include "noise/params.h"

enum {
    WORLD_NAME_MAX = 64,
    WORLD_ABOUT_MAX = 201,
    WORLD_SEEDED_NAME_MAX = WORLD_NAME_MAX + sizeof ":18446744073709551615" - 1,
    PALETTE_MAX = 64,
    CONFIG_TEXT_MAX = 4096,
    WORLDS_MAX = 1024,
    CONFIG_LAYERS_MAX = 32,
    NETWORKS_MAX = 64,
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

struct networks {
    struct network network[NETWORKS_MAX];
    int count;
};

/* The public address of the server. */
struct site_config {
    char public_url[URL_PREFIX_URL_MAX]; /* prefix of absolute URLs; empty: from the request */
    char base_path[URL_PREFIX_PATH_MAX]; /* path prefix of all routes, or empty */
    struct networks proxies;             /* peers whose X-Forwarded-* headers are trusted */
};

/* How WebP tiles are encoded. */
struct webp_config {
    unsigned quality;    /* 0 to 100 */
    unsigned quality_2x; /* the same of @2x tiles */
    unsigned method;     /* 0, the fastest, to 6 */
};

struct config {
    char listen[AUTHORITY_MAX]; /* HOST:PORT or [HOST]:PORT; port 0: any free one */
    struct site_config site;
    unsigned shards;  /* event loops; 0: one per core, up to 8 */
    unsigned threads; /* render threads; 0: one per core */
    enum log_level log;
    char access_log[CONFIG_TEXT_MAX]; /* a file, "-" for stdout, empty: none */
    struct {
        char path[CONFIG_TEXT_MAX]; /* empty: the user's cache directory */
        uint64_t disk;              /* bytes */
        unsigned files;
        uint64_t memory; /* bytes */
    } cache;
    struct {
        unsigned connections;
        unsigned connections_per_client; /* 0: no limit */
        unsigned idle;                   /* seconds between two requests */
        unsigned drain;                  /* seconds for requests in progress before the end */
        unsigned queue;                  /* queued renders */
        unsigned wait;                   /* ms that a render may be queued */
        unsigned misses_per_client;      /* requests that wait for a render; 0: no limit */
        uint64_t memory;                 /* bytes that wait for readers; 0: by the machine's */
        unsigned streams;                /* concurrent streamed responses */
        unsigned streams_per_client;     /* 0: no limit */
    } limits;
    struct webp_config webp;
    bool watch; /* not a key: the file is reloaded when it changes */
    bool saved; /* the same: the file is the document of a world */
    struct world_config *worlds;
    int world_count;
};

/* The part of cache.memory for complete responses, in bytes. */
static inline uint64_t config_response_memory(const struct config *config)
{
    return config->cache.memory / 4;
}

/* The part of cache.memory for tiles, in bytes. */
static inline uint64_t config_tile_memory(const struct config *config)
{
    return config->cache.memory - config_response_memory(config);
}

/* "FILE:LINE: KEY: PROBLEM; expected EXPECTED" */
struct config_error {
    char text[1024];
    /* Bytes, nodes and keys that reading looked at, with and without an error: the work is linear
     * in the length of the text. */
    size_t steps;
};

/*
 * Load FILE, or the built-in configuration if FILE is NULL. FILE is a configuration, or the
 * document of a world that a daemon has served (/{world}.json), which is then the only world.
 * LAYERS are the layers that worlds can serve: at most CONFIG_LAYERS_MAX, then a NULL name. If
 * LAYERS is NULL, the key `layers` is ignored. Returns 0, or a negative error code with ERROR set.
 * The caller frees *OUT with config_free.
 */
int config_load(struct config **out, const char *file, const struct config_layer *layers,
                struct config_error *error);
void config_free(struct config *config);
/* Free the worlds alone. */
void config_drop_worlds(struct config *config);

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
