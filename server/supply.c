#include "supply.h"

#include <errno.h>
#include <stdlib.h>

#include "server/render.h"

struct supply {
    struct supply_parts parts;
};

/* A leader's work: the tile from disk, or rendered and put there. */
struct errand {
    struct job job; /* first: a job is its errand */
    struct supply *supply;
    struct flight *flight;
    struct tile tile;
    struct blob *blob;
    int err;
};

/* The disk cache, for tiles that are kept there. */
static struct disk_cache *disk_for(const struct errand *errand)
{
    return errand->tile.format == FORMAT_PNG ? errand->supply->parts.disk_cache : NULL;
}

static bool fetch_from_disk(struct errand *errand)
{
    struct disk_cache *cache = disk_for(errand);
    if (!cache)
        return false;
    int err = disk_cache_get(cache, &errand->tile, &errand->blob);
    if (err && err != -ENOENT)
        metrics_add(errand->supply->parts.metrics, METRIC_CACHE_FAULTS);
    return err == 0;
}

static void store_on_disk(const struct errand *errand)
{
    struct supply *supply = errand->supply;
    struct disk_cache *cache = disk_for(errand);
    if (!cache)
        return;
    int err = disk_cache_put(cache, &errand->tile, errand->blob);
    if (err && err != -EDQUOT && err != -ECANCELED) /* of which the cache's log line tells */
        metrics_add(supply->parts.metrics, METRIC_CACHE_FAULTS);
}

static void on_run(struct job *job, void *station)
{
    struct errand *errand = (struct errand *)job;
    struct metrics *metrics = errand->supply->parts.metrics;

    if (fetch_from_disk(errand)) {
        metrics_add(metrics, METRIC_HITS_DISK);
        return;
    }
    metrics_add(metrics, METRIC_MISSES);
    errand->err = render_tile(&errand->blob, station, &errand->tile, NULL);
    if (errand->err)
        return;
    metrics_add_rendered(metrics, errand->tile.layer);
    store_on_disk(errand);
}

static void on_done(struct job *job)
{
    struct errand *errand = (struct errand *)job;
    struct supply *supply = errand->supply;

    if (job->cancelled)
        errand->err = -EBUSY;
    if (!errand->err)
        memory_cache_put(supply->parts.memory_cache, flight_key(errand->flight), errand->blob);
    flight_land(supply->parts.flights, errand->flight, errand->blob, errand->err);
    blob_release(errand->blob);
    free(errand);
}

/* Begin the leader's work; whatever happens, the flight will land. */
static void set_out(struct supply *supply, struct flight *flight, const struct tile *tile)
{
    int err = -ENOMEM;
    struct errand *errand = calloc(1, sizeof *errand);
    if (errand) {
        errand->job.run = on_run;
        errand->job.done = on_done;
        errand->supply = supply;
        errand->flight = flight;
        errand->tile = *tile;
        err = workers_submit(supply->parts.workers, &errand->job);
    }
    if (!err)
        return;
    if (err == -EBUSY)
        metrics_add(supply->parts.metrics, METRIC_SHED);
    free(errand);
    flight_land(supply->parts.flights, flight, NULL, err);
}

int supply_await(struct supply *supply, const struct tile *tile, const char *key,
                 struct waiter *waiter)
{
    bool leader;
    struct flight *flight = flight_join(supply->parts.flights, key, waiter, &leader);
    if (!flight)
        return -ENOMEM;
    if (leader)
        set_out(supply, flight, tile);
    else
        metrics_add(supply->parts.metrics, METRIC_COALESCED);
    return 0;
}

struct blob *supply_at_hand(struct supply *supply, const char *key)
{
    struct blob *blob = memory_cache_get(supply->parts.memory_cache, key);
    if (blob)
        metrics_add(supply->parts.metrics, METRIC_HITS_MEMORY);
    return blob;
}

int supply_new(struct supply **out, const struct supply_parts *parts)
{
    struct supply *supply = calloc(1, sizeof *supply);
    if (!supply)
        return -ENOMEM;
    supply->parts = *parts;
    *out = supply;
    return 0;
}

void supply_free(struct supply *supply)
{
    free(supply);
}
