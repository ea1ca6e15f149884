#include "pipeline.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/cache/cache_path.h"
#include "server/telemetry/log.h"
#include "server/tiles/render.h"

enum {
    READERS = 2,            /* threads that may wait for the disk */
    READERS_LINE = 1 << 16, /* reads from the disk that may wait, far more than it takes */
    READERS_WAIT_MS = 5000,
    READERS_REST_US = 300, /* most of what they do, in a flood, is to find that nothing is there */
    RENDER_NICENESS = 4,   /* the event loops go first: hits do not wait for renders */
    PATIENCE_MS = 3000,    /* for what runs when all else has ended */
    POLL_MS = 10,
};

struct pipeline {
    void **easels;
    unsigned threads;
    struct work_queue *readers, *renderers;
    struct single_flight *flights;
    struct memory_cache *memory_cache;
    struct disk_cache *disk_cache;
    struct fetcher *fetcher;
    char directory[CACHE_PATH_MAX];
};

static void open_disk_cache(struct pipeline *pipeline, const struct pipeline_parts *parts)
{
    const struct config *config = parts->config;
    const struct footprint quota = {config->cache.disk, config->cache.files};
    int err = cache_path(config, pipeline->directory);

    if (!err)
        err = disk_cache_open(&pipeline->disk_cache, pipeline->directory, &quota, parts->is_current,
                              parts->context);
    if (err) {
        log_line(LOG_WARNING, "no disk cache: %s: %s; serving without one",
                 pipeline->directory[0] ? pipeline->directory
                                        : "neither cache.path nor HOME is set",
                 strerror(-err));
        snprintf(pipeline->directory, sizeof pipeline->directory, "none");
    }
}

static int make_renderers(struct pipeline *pipeline, const struct config *config)
{
    const unsigned count = config->threads ? config->threads : uv_available_parallelism();
    pipeline->easels = calloc(count, sizeof *pipeline->easels);
    if (!pipeline->easels)
        return -ENOMEM;
    for (; pipeline->threads < count; pipeline->threads++) {
        struct render_scratch *scratch;
        int err = render_scratch_new(&scratch);
        if (err)
            return err;
        pipeline->easels[pipeline->threads] = scratch;
    }
    const struct work_queue_options options = {
        .threads = count,
        .thread_states = pipeline->easels,
        .capacity = config->limits.queue,
        .patience_ms = config->limits.wait,
        .niceness = RENDER_NICENESS,
    };
    return work_queue_new(&pipeline->renderers, &options);
}

static int make_readers(struct pipeline *pipeline)
{
    void *stations[READERS];
    for (int i = 0; i < READERS; i++)
        stations[i] = pipeline; /* they need nothing but themselves */
    const struct work_queue_options options = {
        .threads = READERS,
        .thread_states = stations,
        .capacity = READERS_LINE,
        .patience_ms = READERS_WAIT_MS,
        .batch_delay_us = READERS_REST_US,
    };
    return work_queue_new(&pipeline->readers, &options);
}

int pipeline_new(struct pipeline **out, const struct pipeline_parts *parts)
{
    const struct config *config = parts->config;
    struct pipeline *pipeline = calloc(1, sizeof *pipeline);
    if (!pipeline)
        return -ENOMEM;
    int err = single_flight_new(&pipeline->flights);
    if (!err)
        err = memory_cache_new(&pipeline->memory_cache, 0);
    if (!err)
        err = make_renderers(pipeline, config);
    if (!err)
        err = make_readers(pipeline);
    if (err)
        goto fail;
    open_disk_cache(pipeline, parts);
    pipeline_limit(pipeline, config);
    const struct fetcher_parts fetcher = {
        .readers = pipeline->readers,
        .renderers = pipeline->renderers,
        .flights = pipeline->flights,
        .memory_cache = pipeline->memory_cache,
        .disk_cache = pipeline->disk_cache,
        .metrics = parts->metrics,
    };
    err = fetcher_new(&pipeline->fetcher, &fetcher);
    if (err)
        goto fail;
    *out = pipeline;
    return 0;

fail:
    pipeline_stop(pipeline);
    pipeline_free(pipeline);
    return err;
}

struct fetcher *pipeline_fetcher(struct pipeline *pipeline)
{
    return pipeline->fetcher;
}

struct work_queue *pipeline_renderers(struct pipeline *pipeline)
{
    return pipeline->renderers;
}

unsigned pipeline_threads(const struct pipeline *pipeline)
{
    return pipeline->threads;
}

const char *pipeline_directory(const struct pipeline *pipeline)
{
    return pipeline->directory;
}

void pipeline_limit(struct pipeline *pipeline, const struct config *config)
{
    const struct footprint quota = {config->cache.disk, config->cache.files};

    /* The shelves of the loops have the rest. */
    memory_cache_resize(pipeline->memory_cache, config_tile_memory(config));
    work_queue_limit(pipeline->renderers, config->limits.queue, config->limits.wait);
    if (pipeline->disk_cache)
        disk_cache_limit(pipeline->disk_cache, &quota);
}

uint64_t pipeline_longest_run_ms(struct pipeline *pipeline)
{
    const uint64_t render = work_queue_longest_run_ms(pipeline->renderers);
    const uint64_t read = work_queue_longest_run_ms(pipeline->readers);
    return render > read ? render : read;
}

void pipeline_measure(struct pipeline *pipeline, struct metrics_gauges *gauges)
{
    uint64_t *value = gauges->value;

    value[GAUGE_QUEUE_LENGTH] = work_queue_waiting(pipeline->renderers);
    value[GAUGE_RENDERS_RUNNING] = work_queue_running(pipeline->renderers);
    value[GAUGE_MEMORY_BYTES] = memory_cache_used(pipeline->memory_cache);
    if (!pipeline->disk_cache)
        return;
    struct footprint taken;
    if (disk_cache_usage(pipeline->disk_cache, &taken)) {
        value[GAUGE_DISK_BYTES] = taken.bytes;
        value[GAUGE_DISK_FILES] = taken.files;
    }
    value[GAUGE_CACHE_SUSPENDED] = disk_cache_suspended(pipeline->disk_cache);
}

static unsigned running(const struct pipeline *pipeline)
{
    return (pipeline->readers ? work_queue_running(pipeline->readers) : 0) +
           (pipeline->renderers ? work_queue_running(pipeline->renderers) : 0);
}

bool pipeline_stop(struct pipeline *pipeline)
{
    for (int ms = 0; ms < PATIENCE_MS && running(pipeline) > 0; ms += POLL_MS)
        uv_sleep(POLL_MS);
    if (running(pipeline) > 0)
        return false;
    if (pipeline->readers) /* first, for they hand over to the renderers */
        work_queue_stop(pipeline->readers);
    if (pipeline->renderers)
        work_queue_stop(pipeline->renderers);
    return true;
}

void pipeline_free(struct pipeline *pipeline)
{
    if (!pipeline)
        return;
    fetcher_free(pipeline->fetcher);
    disk_cache_close(pipeline->disk_cache);
    memory_cache_free(pipeline->memory_cache);
    work_queue_free(pipeline->renderers);
    work_queue_free(pipeline->readers);
    single_flight_free(pipeline->flights);
    for (unsigned i = 0; i < pipeline->threads; i++)
        render_scratch_free(pipeline->easels[i]);
    free(pipeline->easels);
    free(pipeline);
}
