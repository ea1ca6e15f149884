/*
 * The tile pipeline: the render threads, the reader threads, the caches, and the fetcher that
 * connects them. Any thread, except for new, stop and free.
 */
#ifndef FARLANDS_TILES_PIPELINE_H
#define FARLANDS_TILES_PIPELINE_H

#include "config/daemon/config.h"
#include "server/telemetry/metrics.h"
#include "server/tiles/fetch.h"

struct pipeline {
    struct fetcher fetcher;
    unsigned threads;                    /* render threads */
    char directory[DISK_CACHE_PATH_MAX]; /* of the disk cache, or "none" */
    void **scratches;                    /* private, as is this: of the render threads */
    unsigned paused;                     /* renders that go on later */
};

/* CONFIG is used here only; METRICS outlives the pipeline. IS_CURRENT, called by any thread with
 * CONTEXT, returns true if the tiles of FINGERPRINT are served at present. Returns 0 or a negative
 * code. If there can be no disk cache, that is logged, and there is none. */
int pipeline_new(struct pipeline **out, const struct config *config, struct metrics *metrics,
                 bool (*is_current)(void *context, const char *fingerprint), void *context);

/* Apply the limits of CONFIG. */
void pipeline_limit(struct pipeline *pipeline, const struct config *config);

/* How long the oldest running render, read or write of a tile has run, in ms; 0 if none runs. */
uint64_t pipeline_longest_run_ms(struct pipeline *pipeline);

/* Fill in the gauges of the render queue and the caches. */
void pipeline_measure(struct pipeline *pipeline, struct metrics_gauges *gauges);

/* End the threads once no tile is waited for any more; running jobs are finished. False if a job
 * does not end within seconds: the pipeline can then not be freed. */
bool pipeline_stop(struct pipeline *pipeline);

/* PIPELINE has stopped, or is NULL. */
void pipeline_free(struct pipeline *pipeline);

#endif
