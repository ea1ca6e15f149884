/*
 * What makes tiles and keeps them: the render threads, the caches, and the
 * supply that goes by them. Any thread, but where it says otherwise.
 */
#ifndef FARLANDS_TILES_PIPELINE_H
#define FARLANDS_TILES_PIPELINE_H

#include "config/config.h"
#include "server/telemetry/metrics.h"
#include "server/tiles/fetch.h"

struct pipeline;

struct pipeline_parts {
    const struct config *config;
    struct metrics *metrics; /* outlives it */
    /* Whether tiles of FINGERPRINT are served at present. Any thread. */
    bool (*is_current)(void *context, const char *fingerprint);
    void *context;
};

/* Where there can be no disk cache, the log says why, and it goes without. Returns 0 or a negative
 * code. */
int pipeline_new(struct pipeline **out, const struct pipeline_parts *parts);

struct fetcher *pipeline_fetcher(struct pipeline *pipeline);

/* The render threads, whose stations are easels. */
struct work_queue *pipeline_renderers(struct pipeline *pipeline);

unsigned pipeline_threads(const struct pipeline *pipeline);

/* Where tiles are kept on disk, or "none". */
const char *pipeline_directory(const struct pipeline *pipeline);

/* The limits of CONFIG from now on. */
void pipeline_limit(struct pipeline *pipeline, const struct config *config);

/* How long what runs has run, in ms: of renders and reads from the disk, the longest. */
uint64_t pipeline_longest_run_ms(struct pipeline *pipeline);

/* Fill in what GAUGES say of queue and caches. */
void pipeline_measure(struct pipeline *pipeline, struct metrics_gauges *gauges);

/* End it, when nobody waits for tiles any more: what runs is finished. Returns false where
 * something does not end within seconds: it then cannot be freed. */
bool pipeline_stop(struct pipeline *pipeline);

/* One that has stopped, or NULL. */
void pipeline_free(struct pipeline *pipeline);

#endif
