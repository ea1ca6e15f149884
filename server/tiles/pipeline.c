#include "pipeline.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/api/response_cache.h"
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

struct works {
    void **easels;
    unsigned threads;
    struct workers *readers, *renderers;
    struct flights *flights;
    struct memory_cache *memory_cache;
    struct disk_cache *disk_cache;
    struct supply *supply;
    char folder[CACHE_FOLDER_MAX];
};

static void open_disk_cache(struct works *works, const struct works_parts *parts)
{
    const struct config *config = parts->config;
    const struct footprint quota = {config->cache.disk, config->cache.files};
    int err = cache_folder(config, works->folder);

    if (!err)
        err = disk_cache_open(&works->disk_cache, works->folder, &quota, parts->is_current,
                              parts->context);
    if (err) {
        log_line(LOG_WARNING, "no disk cache: %s: %s; serving without one",
                 works->folder[0] ? works->folder : "neither cache.path nor HOME is set",
                 strerror(-err));
        snprintf(works->folder, sizeof works->folder, "none");
    }
}

static int make_renderers(struct works *works, const struct config *config)
{
    const unsigned count = config->threads ? config->threads : uv_available_parallelism();
    works->easels = calloc(count, sizeof *works->easels);
    if (!works->easels)
        return -ENOMEM;
    for (; works->threads < count; works->threads++) {
        struct easel *easel;
        int err = easel_new(&easel);
        if (err)
            return err;
        works->easels[works->threads] = easel;
    }
    int err = workers_new(&works->renderers, works->easels, count, config->limits.queue,
                          config->limits.wait);
    if (!err)
        workers_give_way(works->renderers, RENDER_NICENESS);
    return err;
}

static int make_readers(struct works *works)
{
    void *stations[READERS];
    for (int i = 0; i < READERS; i++)
        stations[i] = works; /* they need nothing but themselves */
    int err = workers_new(&works->readers, stations, READERS, READERS_LINE, READERS_WAIT_MS);
    if (!err)
        workers_rest(works->readers, READERS_REST_US);
    return err;
}

int works_new(struct works **out, const struct works_parts *parts)
{
    const struct config *config = parts->config;
    struct works *works = calloc(1, sizeof *works);
    if (!works)
        return -ENOMEM;
    int err = flights_new(&works->flights);
    if (!err)
        err = memory_cache_new(&works->memory_cache, 0);
    if (!err)
        err = make_renderers(works, config);
    if (!err)
        err = make_readers(works);
    if (err)
        goto fail;
    open_disk_cache(works, parts);
    works_limit(works, config);
    const struct supply_parts supply = {
        .readers = works->readers,
        .renderers = works->renderers,
        .flights = works->flights,
        .memory_cache = works->memory_cache,
        .disk_cache = works->disk_cache,
        .metrics = parts->metrics,
    };
    err = supply_new(&works->supply, &supply);
    if (err)
        goto fail;
    *out = works;
    return 0;

fail:
    works_stop(works);
    works_free(works);
    return err;
}

struct supply *works_supply(struct works *works)
{
    return works->supply;
}

struct workers *works_renderers(struct works *works)
{
    return works->renderers;
}

unsigned works_threads(const struct works *works)
{
    return works->threads;
}

const char *works_folder(const struct works *works)
{
    return works->folder;
}

void works_limit(struct works *works, const struct config *config)
{
    const struct footprint quota = {config->cache.disk, config->cache.files};

    /* The shelves of the loops have the rest. */
    memory_cache_resize(works->memory_cache,
                        config->cache.memory - config->cache.memory / SHELF_SHARE);
    workers_limit(works->renderers, config->limits.queue, config->limits.wait);
    if (works->disk_cache)
        disk_cache_limit(works->disk_cache, &quota);
}

uint64_t works_longest_run_ms(struct works *works)
{
    const uint64_t render = workers_longest_run_ms(works->renderers);
    const uint64_t read = workers_longest_run_ms(works->readers);
    return render > read ? render : read;
}

void works_measure(struct works *works, struct metrics_gauges *gauges)
{
    uint64_t *value = gauges->value;

    value[GAUGE_QUEUE_LENGTH] = workers_waiting(works->renderers);
    value[GAUGE_RENDERS_RUNNING] = workers_running(works->renderers);
    value[GAUGE_MEMORY_BYTES] = memory_cache_used(works->memory_cache);
    if (!works->disk_cache)
        return;
    struct footprint taken;
    if (disk_cache_usage(works->disk_cache, &taken)) {
        value[GAUGE_DISK_BYTES] = taken.bytes;
        value[GAUGE_DISK_FILES] = taken.files;
    }
    value[GAUGE_CACHE_SUSPENDED] = disk_cache_suspended(works->disk_cache);
}

static unsigned running(const struct works *works)
{
    return (works->readers ? workers_running(works->readers) : 0) +
           (works->renderers ? workers_running(works->renderers) : 0);
}

bool works_stop(struct works *works)
{
    for (int ms = 0; ms < PATIENCE_MS && running(works) > 0; ms += POLL_MS)
        uv_sleep(POLL_MS);
    if (running(works) > 0)
        return false;
    if (works->readers) /* first, for they hand over to the renderers */
        workers_stop(works->readers);
    if (works->renderers)
        workers_stop(works->renderers);
    return true;
}

void works_free(struct works *works)
{
    if (!works)
        return;
    supply_free(works->supply);
    disk_cache_close(works->disk_cache);
    memory_cache_free(works->memory_cache);
    workers_free(works->renderers);
    workers_free(works->readers);
    flights_free(works->flights);
    for (unsigned i = 0; i < works->threads; i++)
        easel_free(works->easels[i]);
    free(works->easels);
    free(works);
}
