#include "supply.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "server/render.h"

struct supply {
    struct supply_parts parts;
};

/* A leader's work: the tile from disk, or rendered and put there. */
struct errand {
    struct job job; /* first: a job is its errand */
    struct errand *next;
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

static void obtain(struct errand *errand, struct easel *easel)
{
    struct metrics *metrics = errand->supply->parts.metrics;

    if (fetch_from_disk(errand)) {
        metrics_add(metrics, METRIC_HITS_DISK);
        return;
    }
    metrics_add(metrics, METRIC_MISSES);
    errand->err = render_tile(&errand->blob, easel, &errand->tile, NULL);
    if (errand->err)
        return;
    metrics_add_rendered(metrics, errand->tile.layer);
    store_on_disk(errand);
}

static void on_run(struct job *job, void *station)
{
    struct errand *errand = (struct errand *)job;
    struct supply *supply = errand->supply;

    if (station)
        obtain(errand, station);
    else
        errand->err = -EBUSY;
    uv_mutex_lock(&supply->lock);
    *supply->last_done = errand;
    supply->last_done = &errand->next;
    uv_mutex_unlock(&supply->lock);
    uv_async_send(&supply->wake);
}

static void land(struct supply *supply, struct errand *errand)
{
    if (!errand->err)
        memory_cache_put(supply->parts.memory_cache, flight_key(errand->flight), errand->blob);
    supply->under_way--;
    flight_land(supply->parts.flights, errand->flight, errand->blob, errand->err);
    blob_release(errand->blob);
    free(errand);
}

static void on_wake(uv_async_t *wake)
{
    struct supply *supply = wake->data;

    uv_mutex_lock(&supply->lock);
    struct errand *errand = supply->done;
    supply->done = NULL;
    supply->last_done = &supply->done;
    uv_mutex_unlock(&supply->lock);
    for (struct errand *next; errand; errand = next) {
        next = errand->next;
        land(supply, errand);
    }
}

/* Begin the leader's work; whatever happens, the flight will land. */
static void set_out(struct supply *supply, struct flight *flight, const struct tile *tile)
{
    int err = -ENOMEM;
    struct errand *errand = calloc(1, sizeof *errand);
    if (errand) {
        errand->job.run = on_run;
        errand->supply = supply;
        errand->flight = flight;
        errand->tile = *tile;
        err = workers_submit(supply->parts.workers, &errand->job);
    }
    if (!err) {
        supply->under_way++;
        return;
    }
    if (err == -ECANCELED)
        err = -EBUSY;
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

unsigned supply_under_way(const struct supply *supply)
{
    return supply->under_way;
}

int supply_new(struct supply **out, const struct supply_parts *parts)
{
    struct supply *supply = calloc(1, sizeof *supply);
    if (!supply)
        return -ENOMEM;
    supply->parts = *parts;
    supply->last_done = &supply->done;
    int err = uv_mutex_init(&supply->lock);
    if (err)
        goto fail_lock;
    err = uv_async_init(parts->loop, &supply->wake, on_wake);
    if (err)
        goto fail_wake;
    supply->wake.data = supply;
    *out = supply;
    return 0;

fail_wake:
    uv_mutex_destroy(&supply->lock);
fail_lock:
    free(supply);
    return err;
}

void supply_close(struct supply *supply)
{
    uv_close((uv_handle_t *)&supply->wake, NULL);
}

void supply_free(struct supply *supply)
{
    if (!supply)
        return;
    assert(supply->under_way == 0);
    uv_mutex_destroy(&supply->lock);
    free(supply);
}
