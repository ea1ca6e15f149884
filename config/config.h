/*
 * The configuration: YAML -> validated plain data. What a file leaves out
 * comes from the built-in one, which is config/farlands.yaml itself.
 */
#ifndef FARLANDS_CONFIG_CONFIG_H
#define FARLANDS_CONFIG_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "config/authority.h"
#include "config/log_level.h"
#include "config/network.h"
#include "config/url_prefix.h"
#include "noise/farlands.h"

enum {
    WORLD_NAME_MAX = 64,
    WORLD_SEEDED_NAME_MAX = WORLD_NAME_MAX + sizeof ":18446744073709551615" - 1,
    PALETTE_MAX = 64,
    CONFIG_TEXT_MAX = 4096,
    WORLDS_MAX = 1024,
    CONFIG_LAYERS_MAX = 32,
    NETWORKS_MAX = 64,
};

/* A layer as the configuration knows it: its name, and the heights that it can hold. */
struct config_layer {
    const char *name;
    float lowest, highest; /* metres; 0, 0: any */
};

/* A stop of a palette: at METRES the colour is RED, GREEN, BLUE. */
struct palette_stop {
    float metres;
    uint8_t red, green, blue;
};

/* Which seeds a world may be asked for with, as name:seed; in the order of the table's choices. */
enum world_seeds { SEEDS_FIXED, SEEDS_ANY };

struct world_config {
    char name[WORLD_SEEDED_NAME_MAX]; /* below WORLD_NAME_MAX, or with a colon and a seed behind */
    enum world_seeds seeds;
    int native_zoom;   /* the zoom at which one sample is one block */
    int64_t origin[2]; /* units: where sample 0 of tile 0 lies */
    bool wrap;         /* the terrain repeats with the window, which is then its period */
    struct farlands_params terrain;           /* heights and volume */
    struct palette_stop palette[PALETTE_MAX]; /* metres ascending; equal ones make an edge */
    int stops;
    uint32_t layers; /* bit i: it serves number i of the layers known */
};

/* What its terrain repeats after, in units: the window that web maps see; 0 without wrap. */
static inline int64_t world_config_period(const struct world_config *world)
{
    return world->wrap ? (INT64_C(256) << world->native_zoom) * FARLANDS_UNIT : 0;
}

struct networks {
    struct network network[NETWORKS_MAX];
    int count;
};

/* Where clients reach the server. */
struct site_config {
    char public_url[URL_PREFIX_URL_MAX]; /* what its absolute URLs begin with, or empty */
    char base_path[URL_PREFIX_PATH_MAX]; /* the path below which its routes live, or empty */
    struct networks proxies;             /* whose X-Forwarded-... headers count */
};

struct config {
    char listen[AUTHORITY_MAX]; /* HOST:PORT or [HOST]:PORT, port 0 picks a free one */
    struct site_config site;
    unsigned shards;  /* event loops; 0: one a core, up to 8 */
    unsigned threads; /* render threads; 0: one a core */
    enum log_level log;
    char access_log[CONFIG_TEXT_MAX]; /* a file, "-" for stdout, or empty: none */
    struct {
        char path[CONFIG_TEXT_MAX]; /* empty: the user's cache folder */
        uint64_t disk;              /* bytes */
        unsigned files;
        uint64_t memory; /* bytes */
    } cache;
    struct {
        unsigned connections, connections_per_client; /* 0: any number */
        unsigned queue;                               /* renders that may wait */
        unsigned wait;                                /* ms that the line may be long */
        unsigned misses_per_client;                   /* that wait at once; 0: any number */
        unsigned streams;            /* large answers that are made while they are sent */
        unsigned streams_per_client; /* 0: any number */
    } limits;
    struct world_config *worlds;
    int world_count;
};

/*
 * cache.memory is split: a quarter for the responses that the shards keep ready to be sent again,
 * the rest for tiles.
 */
static inline uint64_t config_response_memory(const struct config *config)
{
    return config->cache.memory / 4;
}

static inline uint64_t config_tile_memory(const struct config *config)
{
    return config->cache.memory - config_response_memory(config);
}

/* What is wrong: "FILE:LINE: KEY: what is wrong; what is accepted". */
struct config_error {
    char text[1024];
};

/*
 * Read FILE, or the built-in configuration alone where FILE is NULL. LAYERS are
 * those that a world can serve, up to CONFIG_LAYERS_MAX and then a NULL name; where LAYERS is
 * NULL what a world says of its layers is passed over.
 * Returns 0, or a negative code with ERROR filled; free *OUT with config_free.
 */
int config_load(struct config **out, const char *file, const struct config_layer *layers,
                struct config_error *error);
void config_free(struct config *config);

/*
 * A world's parameters one by one, in a fixed order: all that decides what its
 * tiles hold, and also its name and seeds; not which layers it serves. Calls VISIT with the dotted
 * KEY
 * ("noise.warp.amplitude", "seed") and the value as text; QUOTED tells text from numbers, true,
 * false and lists, which are JSON as they stand.
 */
typedef void world_visitor(void *context, const char *key, const char *value, int quoted);
void config_world_visit(const struct world_config *world, world_visitor *visit, void *context);

#endif
