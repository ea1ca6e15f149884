#include "pipeline.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/values/user_error.h"
#include "server/telemetry/log.h"
#include "server/tiles/render.h"

enum {
    READERS = 2,
    READERS_CAPACITY = 1 << 16, /* far more than is ever needed */
    READERS_PATIENCE_MS = 5000,
    READERS_BATCH_DELAY_US = 300, /* in a flood, most reads find that there is no file */
    RENDER_NICENESS = 4,          /* hits are served before renders */
    STOP_MS = 3000,               /* for jobs that still run after all else has ended */
    POLL_MS = 10,
};

static struct footprint quota_of(const struct config *config)
{
    return (struct footprint){config->cache.disk, config->cache.files};
}

static void open_disk_cache(struct pipeline *pipeline, const struct config *config,
                            bool (*is_current)(void *context, const char *fingerprint),
                            void *context)
{
    const struct footprint quota = quota_of(config);
    int err = disk_cache_path(config, pipeline->directory);

    if (!err)
        err = disk_cache_open(&pipeline->fetcher.disk_cache, pipeline->directory, &quota,
                              is_current, context);
    char text[USER_ERROR_TEXT];
    if (err) {
        log_line(LOG_WARNING, "no disk cache: %s: %s; serving without one",
                 pipeline->directory[0] ? pipeline->directory
                                        : "neither cache.path nor HOME is set",
                 user_error(err, text));
        snprintf(pipeline->directory, sizeof pipeline->directory, "none");
    }
}

/* Make the tile writer, if there is a disk cache. */
static int make_writer(struct pipeline *pipeline)
{
    struct fetcher *fetcher = &pipeline->fetcher;

    const struct tile_writer_options options = {.cache = fetcher->disk_cache,
                                                .memory = fetcher->memory_cache,
                                                .niceness = RENDER_NICENESS,
                                                .stored = fetch_stored,
                                                .context = fetcher};

    return options.cache ? tile_writer_new(&fetcher->writer, &options) : 0;
}

static int make_renderers(struct pipeline *pipeline, const struct config *config)
{
    const unsigned count = config->threads ? config->threads : uv_available_parallelism();
    struct render_scratch **scratch = calloc(count, sizeof(struct render_scratch *));
    pipeline->scratches = calloc(count, sizeof *pipeline->scratches);
    int err = scratch && pipeline->scratches ? render_scratches_new(scratch, count) : -ENOMEM;
    for (; !err && pipeline->threads < count; pipeline->threads++)
        pipeline->scratches[pipeline->threads] = scratch[pipeline->threads];
    free(scratch);
    if (err)
        return err;
    const struct work_queue_options options = {
        .threads = count,
        .thread_states = pipeline->scratches,
        .capacity = config->limits.queue,
        .patience_ms = config->limits.wait,
        .niceness = RENDER_NICENESS,
    };
    return work_queue_new(&pipeline->fetcher.renderers, &options);
}

static int make_readers(struct pipeline *pipeline)
{
    const struct work_queue_options options = {
        .threads = READERS,
        .thread_states = (void *[READERS]){NULL},
        .capacity = READERS_CAPACITY,
        .patience_ms = READERS_PATIENCE_MS,
        .batch_delay_us = READERS_BATCH_DELAY_US,
    };
    return work_queue_new(&pipeline->fetcher.readers, &options);
}

int pipeline_new(struct pipeline **out, const struct config *config, struct metrics *metrics,
                 bool (*is_current)(void *context, const char *fingerprint), void *context)
{
    struct pipeline *pipeline = calloc(1, sizeof *pipeline);
    if (!pipeline)
        return -ENOMEM;
    struct fetcher *fetcher = &pipeline->fetcher;
    fetcher->metrics = metrics;
    fetcher->paused = &pipeline->paused;
    int err = single_flight_new(&fetcher->flights);
    if (!err)
        err = memory_cache_new(&fetcher->memory_cache, 0);
    if (!err)
        err = make_renderers(pipeline, config);
    if (!err)
        err = make_readers(pipeline);
    if (!err) {
        open_disk_cache(pipeline, config, is_current, context);
        err = make_writer(pipeline);
    }
    if (err) {
        pipeline_stop(pipeline);
        pipeline_free(pipeline);
        return err;
    }
    pipeline_limit(pipeline, config);
    *out = pipeline;
    return 0;
}

void pipeline_limit(struct pipeline *pipeline, const struct config *config)
{
    const struct fetcher *fetcher = &pipeline->fetcher;
    const struct footprint quota = quota_of(config);

    /* The response caches have the rest of the memory. */
    memory_cache_resize(fetcher->memory_cache, config_tile_memory(config));
    work_queue_limit(fetcher->renderers, config->limits.queue, config->limits.wait);
    if (fetcher->disk_cache)
        disk_cache_limit(fetcher->disk_cache, &quota);
}

uint64_t pipeline_longest_run_ms(struct pipeline *pipeline)
{
    const struct fetcher *fetcher = &pipeline->fetcher;
    const uint64_t render = work_queue_longest_run_ms(fetcher->renderers);
    const uint64_t read = work_queue_longest_run_ms(fetcher->readers);
    const uint64_t write = fetcher->writer ? tile_writer_run_ms(fetcher->writer) : 0;
    const uint64_t work = render > read ? render : read;
    return work > write ? work : write;
}

void pipeline_measure(struct pipeline *pipeline, struct metrics_gauges *gauges)
{
    const struct fetcher *fetcher = &pipeline->fetcher;
    struct footprint used;
    uint64_t *value = gauges->value;

    value[GAUGE_QUEUE_LENGTH] = work_queue_waiting(fetcher->renderers);
    value[GAUGE_RENDERS_RUNNING] = work_queue_running(fetcher->renderers);
    gauges->longest_slice_us = work_queue_longest_slice_us(fetcher->renderers);
    value[GAUGE_MEMORY_BYTES] = memory_cache_used(fetcher->memory_cache);
    if (!fetcher->disk_cache)
        return;
    value[GAUGE_CACHE_OPEN] = 1;
    if (disk_cache_usage(fetcher->disk_cache, &used)) {
        value[GAUGE_DISK_BYTES] = used.bytes;
        value[GAUGE_DISK_FILES] = used.files;
    }
    value[GAUGE_CACHE_SUSPENDED] = disk_cache_suspended(fetcher->disk_cache);
}

static unsigned running(const struct fetcher *fetcher)
{
    return (fetcher->readers ? work_queue_running(fetcher->readers) : 0) +
           (fetcher->renderers ? work_queue_running(fetcher->renderers) : 0);
}

bool pipeline_stop(struct pipeline *pipeline)
{
    const struct fetcher *fetcher = &pipeline->fetcher;
    for (int ms = 0; ms < STOP_MS && running(fetcher) > 0; ms += POLL_MS)
        uv_sleep(POLL_MS);
    if (running(fetcher) > 0)
        return false;
    if (fetcher->readers) /* before the renderers, because readers submit jobs to them */
        work_queue_stop(fetcher->readers);
    if (fetcher->renderers)
        work_queue_stop(fetcher->renderers);
    return !fetcher->writer || tile_writer_stop(fetcher->writer, STOP_MS);
}

void pipeline_free(struct pipeline *pipeline)
{
    if (!pipeline)
        return;
    const struct fetcher *fetcher = &pipeline->fetcher;
    tile_writer_free(fetcher->writer);
    disk_cache_close(fetcher->disk_cache);
    memory_cache_free(fetcher->memory_cache);
    work_queue_free(fetcher->renderers);
    work_queue_free(fetcher->readers);
    single_flight_free(fetcher->flights);
    for (unsigned i = 0; i < pipeline->threads; i++)
        render_scratch_free(pipeline->scratches[i]);
    free(pipeline->scratches);
    free(pipeline);
}
