#include "fetch.h"

#include <errno.h>
#include <stdlib.h>

#include "server/tiles/render.h"

struct supply {
    struct supply_parts parts;
};

/* A leader's work: the tile from disk, or rendered and put there. */
struct errand {
    struct job job; /* first: a job is its errand */
    struct supply *supply;
    struct flight *flight;
    struct tile tile; /* with a hold on its world */
};

static void count(const struct supply *supply, enum metric metric)
{
    metrics_add(supply->parts.metrics, metric);
}

/* The disk cache, for tiles that are kept there. */
static struct disk_cache *disk_for(const struct supply *supply, const struct tile *tile)
{
    return tile->format == FORMAT_PNG ? supply->parts.disk_cache : NULL;
}

static void free_errand(struct errand *errand)
{
    world_release(errand->tile.world);
    free(errand);
}

/* Tell all who wait. The errand is still there. */
static void land(struct errand *errand, struct blob *blob, int err)
{
    struct supply *supply = errand->supply;
    if (err >= 0)
        memory_cache_put(supply->parts.memory_cache, flight_key(errand->flight), blob);
    flight_land(supply->parts.flights, errand->flight, blob, err);
    errand->flight = NULL;
}

static void fail(struct errand *errand, int err)
{
    land(errand, NULL, err);
    free_errand(errand);
}

/* Whether it is worth beginning; otherwise the errand is over. */
static bool is_wanted(struct errand *errand)
{
    if (flight_is_wanted(errand->supply->parts.flights, errand->flight))
        return true;
    count(errand->supply, METRIC_ABANDONED);
    free_errand(errand);
    return false;
}

static void store_on_disk(const struct errand *errand, struct blob *blob)
{
    struct disk_cache *cache = disk_for(errand->supply, &errand->tile);
    int err = cache ? disk_cache_put(cache, &errand->tile, blob) : 0;
    if (err == -EDQUOT)
        count(errand->supply, METRIC_CACHE_REFUSED);
    else if (err && err != -ECANCELED)
        count(errand->supply, METRIC_CACHE_FAULTS);
}

static void on_render(struct job *job, void *easel)
{
    struct errand *errand = (struct errand *)job;
    struct supply *supply = errand->supply;
    struct blob *blob = NULL;

    if (!easel) {
        fail(errand, -EBUSY);
        return;
    }
    if (!is_wanted(errand))
        return;
    count(supply, METRIC_MISSES);
    const uint64_t begun = uv_hrtime();
    int err = render_tile(&blob, easel, &errand->tile, NULL);
    if (err) {
        fail(errand, err);
        return;
    }
    metrics_observe(supply->parts.metrics, HISTOGRAM_RENDER, uv_hrtime() - begun);
    metrics_add_rendered(supply->parts.metrics, errand->tile.layer);
    land(errand, blob, SUPPLY_RENDERED); /* before the disk, which may be slow */
    store_on_disk(errand, blob);
    blob_release(blob);
    free_errand(errand);
}

/* Send the errand to the renderers, or tell all who wait that there are too many. */
static void line_up(struct errand *errand)
{
    errand->job.run = on_render;
    if (workers_submit(errand->supply->parts.renderers, &errand->job))
        fail(errand, -EBUSY);
}

static void on_fetch(struct job *job, void *station)
{
    struct errand *errand = (struct errand *)job;
    struct supply *supply = errand->supply;
    struct blob *blob;

    if (!station) {
        fail(errand, -EBUSY);
        return;
    }
    if (!is_wanted(errand))
        return;
    int err = disk_cache_get(supply->parts.disk_cache, &errand->tile, &blob);
    if (err) {
        if (err != -ENOENT)
            count(supply, METRIC_CACHE_FAULTS);
        line_up(errand);
        return;
    }
    count(supply, METRIC_HITS_DISK);
    land(errand, blob, SUPPLY_FROM_DISK);
    blob_release(blob);
    free_errand(errand);
}

static void look_on_disk(struct errand *errand)
{
    errand->job.run = on_fetch;
    if (workers_submit(errand->supply->parts.readers, &errand->job))
        fail(errand, -EBUSY);
}

/* Begin the leader's work; whatever happens, the flight will land. */
static void set_out(struct supply *supply, struct flight *flight, const struct order *order)
{
    struct errand *errand = calloc(1, sizeof *errand);
    if (!errand) {
        flight_land(supply->parts.flights, flight, NULL, -ENOMEM);
        return;
    }
    errand->job.rank = order->rank;
    errand->supply = supply;
    errand->flight = flight;
    errand->tile = *order->tile;
    world_hold(order->tile->world);
    /* Another's flight may have landed just before this one began. */
    struct blob *blob = memory_cache_get(supply->parts.memory_cache, order->key);
    if (blob) {
        count(supply, METRIC_HITS_MEMORY);
        flight_land(supply->parts.flights, flight, blob, SUPPLY_RENDERED);
        blob_release(blob);
        free_errand(errand);
    } else if (order->maybe_on_disk) {
        look_on_disk(errand);
    } else {
        line_up(errand);
    }
}

/* FLIGHT may be over by now: it is compared, nothing more. Not all jobs are errands: pieces of
 * regions wait in the same line. */
static bool is_for(const struct job *job, const void *flight)
{
    return (job->run == on_render || job->run == on_fetch) &&
           ((const struct errand *)job)->flight == flight;
}

/* Somebody waits for what a pre-render has ordered. Between the lines, where its errand is for a
 * moment, it may be missed: then it comes as late as it would have. */
static void hurry(struct supply *supply, const struct flight *flight)
{
    if (!workers_promote(supply->parts.renderers, is_for, flight))
        workers_promote(supply->parts.readers, is_for, flight);
}

int supply_await(struct supply *supply, const struct order *order, struct waiter *waiter)
{
    bool leader;
    struct flight *flight = flight_join(supply->parts.flights, order->key, waiter, &leader);
    if (!flight)
        return -ENOMEM;
    if (leader) {
        set_out(supply, flight, order);
        return 0;
    }
    count(supply, METRIC_COALESCED);
    if (order->rank == JOB_INTERACTIVE)
        hurry(supply, flight);
    return 1;
}

bool supply_forget(struct supply *supply, struct waiter *waiter)
{
    return flight_leave(supply->parts.flights, waiter);
}

struct at_hand supply_at_hand(struct supply *supply, const struct tile *tile, const char *key)
{
    struct disk_cache *disk = disk_for(supply, tile);
    struct at_hand found = {.blob = memory_cache_get(supply->parts.memory_cache, key)};

    if (found.blob) {
        found.from_memory = true;
        return found;
    }
    if (!disk)
        return found;
    int err = disk_cache_get_now(disk, tile, &found.blob);
    if (!err)
        memory_cache_put(supply->parts.memory_cache, key, found.blob);
    else if (err != -ENOENT && err != -EAGAIN)
        count(supply, METRIC_CACHE_FAULTS);
    found.maybe_on_disk = err == -EAGAIN;
    return found;
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
