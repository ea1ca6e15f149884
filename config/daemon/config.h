/*
 * The configuration: YAML -> validated plain data. Omitted keys take their values from the built-in
 * configuration: config/farlands.yaml and three files in config/worlds/. Keys of worlds have other
 * defaults (world_options.h).
 */
#ifndef FARLANDS_CONFIG_CONFIG_H
#define FARLANDS_CONFIG_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "config/daemon/authority.h"
#include "config/daemon/network.h"
#include "config/daemon/url_prefix.h"
#include "config/values/error.h"
#include "config/values/log_level.h"
#include "config/world/world_config.h"

enum {
    CONFIG_TEXT_MAX = 4096,
    NETWORKS_MAX = 64,
};

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

/* The encoding of WebP tiles. */
struct webp_config {
    unsigned quality;    /* 0 to 100 */
    unsigned quality_2x; /* the same for @2x tiles */
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
        unsigned drain;                  /* seconds that requests in progress have after SIGTERM */
        unsigned queue;                  /* queued renders */
        unsigned wait;                   /* ms that a render may be queued */
        unsigned misses_per_client;      /* requests that wait for a render; 0: no limit */
        uint64_t memory;             /* bytes that wait for readers; 0: from the machine's memory */
        unsigned streams;            /* concurrent streamed responses */
        unsigned streams_per_client; /* 0: no limit */
    } limits;
    struct webp_config webp;
    bool watch; /* not a key: reload the file when it changes */
    bool saved; /* not a key: the file is a world's document */
    struct world_config *worlds;
    int world_count;
};

/* The bytes of cache.memory for complete responses. */
static inline uint64_t config_response_memory(const struct config *config)
{
    return config->cache.memory / 4;
}

/* The bytes of cache.memory for tiles. */
static inline uint64_t config_tile_memory(const struct config *config)
{
    return config->cache.memory - config_response_memory(config);
}

/*
 * Load FILE, or the built-in configuration if FILE is NULL. FILE is a configuration, or a world's
 * document (/{world}.json from a daemon), which then makes the only world. LAYERS are the layers
 * that worlds can serve: at most CONFIG_LAYERS_MAX, then a NULL name. If LAYERS is NULL, the key
 * `layers` is ignored. Returns 0, or a negative error code with ERROR set. The caller frees *OUT
 * with config_free.
 */
int config_load(struct config **out, const char *file, const struct config_layer *layers,
                struct config_error *error);
void config_free(struct config *config);
#endif
