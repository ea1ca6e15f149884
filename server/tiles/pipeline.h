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
    char directory[DISK_CACHE_PATH_MAX]; /* the disk cache's, or "none" */
    void **scratches;                    /* private: the render threads' */
    unsigned paused;                     /* private: stopped renders that go on later */
};

/* METRICS must outlive the pipeline; CONFIG need not. IS_CURRENT is called by any thread with
 * CONTEXT, and returns true if the tiles of FINGERPRINT are served now. If the disk cache cannot be
 * opened, that is logged, and there is none. Returns 0 or a negative code. */
int pipeline_new(struct pipeline **out, const struct config *config, struct metrics *metrics,
                 bool (*is_current)(void *context, const char *fingerprint), void *context);

/* Apply CONFIG's limits. */
void pipeline_limit(struct pipeline *pipeline, const struct config *config);

/* How long the oldest running render, read or write has run, in ms; 0 if none runs. */
uint64_t pipeline_longest_run_ms(struct pipeline *pipeline);

/* Fill in the gauges for the render queue and the caches. */
void pipeline_measure(struct pipeline *pipeline, struct metrics_gauges *gauges);

/* End the threads, after all waiters have left. Running jobs are finished. False if a job does not
 * end within seconds: the pipeline must then not be freed. */
bool pipeline_stop(struct pipeline *pipeline);

/* PIPELINE is stopped or NULL. */
void pipeline_free(struct pipeline *pipeline);

#endif
