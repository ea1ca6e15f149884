#include "fetch.h"

#include <errno.h>
#include <stdlib.h>

#include "server/tiles/render.h"

struct fetcher {
    struct fetcher_parts parts;
};

/* A leader's work: the tile from disk, or rendered and put there. */
struct fetch {
    struct job job; /* first: a job is its errand */
    struct fetcher *fetcher;
    struct flight *flight;
    struct tile tile; /* with a hold on its world */
};

static void count(const struct fetcher *fetcher, enum metric metric)
{
    metrics_add(fetcher->parts.metrics, metric);
}

/* The disk cache, for tiles that are kept there. */
static struct disk_cache *disk_for(const struct fetcher *fetcher, const struct tile *tile)
{
    return tile->format == FORMAT_PNG ? fetcher->parts.disk_cache : NULL;
}

static void free_errand(struct fetch *fetch)
{
    world_release(fetch->tile.world);
    free(fetch);
}

/* Tell all who wait. The errand is still there. */
static void land(struct fetch *fetch, struct blob *blob, int err)
{
    struct fetcher *fetcher = fetch->fetcher;
    if (err >= 0)
        memory_cache_put(fetcher->parts.memory_cache, single_flight_key(fetch->flight), blob);
    single_flight_complete(fetcher->parts.flights, fetch->flight, blob, err);
    fetch->flight = NULL;
}

static void fail(struct fetch *fetch, int err)
{
    land(fetch, NULL, err);
    free_errand(fetch);
}

/* Whether it is worth beginning; otherwise the errand is over. */
static bool is_wanted(struct fetch *fetch)
{
    if (single_flight_is_wanted(fetch->fetcher->parts.flights, fetch->flight))
        return true;
    count(fetch->fetcher, METRIC_ABANDONED);
    free_errand(fetch);
    return false;
}

static void store_on_disk(const struct fetch *fetch, struct blob *blob)
{
    struct disk_cache *cache = disk_for(fetch->fetcher, &fetch->tile);
    int err = cache ? disk_cache_put(cache, &fetch->tile, blob) : 0;
    if (err == -EDQUOT)
        count(fetch->fetcher, METRIC_CACHE_REFUSED);
    else if (err && err != -ECANCELED)
        count(fetch->fetcher, METRIC_CACHE_FAULTS);
}

static void on_cancel(struct job *job)
{
    fail((struct fetch *)job, -EBUSY);
}

static void on_render(struct job *job, void *scratch)
{
    struct fetch *fetch = (struct fetch *)job;
    struct fetcher *fetcher = fetch->fetcher;
    struct blob *blob = NULL;

    if (!is_wanted(fetch))
        return;
    count(fetcher, METRIC_MISSES);
    const uint64_t begun = uv_hrtime();
    int err = render_tile(&blob, scratch, &fetch->tile, NULL);
    if (err) {
        fail(fetch, err);
        return;
    }
    metrics_observe(fetcher->parts.metrics, HISTOGRAM_RENDER, uv_hrtime() - begun);
    metrics_add_rendered(fetcher->parts.metrics, fetch->tile.layer);
    land(fetch, blob, FETCH_RENDERED); /* before the disk, which may be slow */
    store_on_disk(fetch, blob);
    blob_release(blob);
    free_errand(fetch);
}

/* Send the errand to the renderers, or tell all who wait that there are too many. */
static void line_up(struct fetch *fetch)
{
    fetch->job.run = on_render;
    if (work_queue_submit(fetch->fetcher->parts.renderers, &fetch->job))
        fail(fetch, -EBUSY);
}

static void on_fetch(struct job *job, void *thread_state)
{
    struct fetch *fetch = (struct fetch *)job;
    struct fetcher *fetcher = fetch->fetcher;
    struct blob *blob;

    (void)thread_state;
    if (!is_wanted(fetch))
        return;
    int err = disk_cache_get(fetcher->parts.disk_cache, &fetch->tile, &blob);
    if (err) {
        if (err != -ENOENT)
            count(fetcher, METRIC_CACHE_FAULTS);
        line_up(fetch);
        return;
    }
    count(fetcher, METRIC_HITS_DISK);
    land(fetch, blob, FETCH_FROM_DISK);
    blob_release(blob);
    free_errand(fetch);
}

static void look_on_disk(struct fetch *fetch)
{
    fetch->job.run = on_fetch;
    if (work_queue_submit(fetch->fetcher->parts.readers, &fetch->job))
        fail(fetch, -EBUSY);
}

/* Begin the leader's work; whatever happens, the flight will land. */
static void set_out(struct fetcher *fetcher, struct flight *flight,
                    const struct fetch_request *order)
{
    struct fetch *fetch = calloc(1, sizeof *fetch);
    if (!fetch) {
        single_flight_complete(fetcher->parts.flights, flight, NULL, -ENOMEM);
        return;
    }
    fetch->job.cancel = on_cancel;
    fetch->job.rank = order->rank;
    fetch->fetcher = fetcher;
    fetch->flight = flight;
    fetch->tile = *order->tile;
    world_hold(order->tile->world);
    /* Another's flight may have landed just before this one began. */
    struct blob *blob = memory_cache_get(fetcher->parts.memory_cache, order->key);
    if (blob) {
        count(fetcher, METRIC_HITS_MEMORY);
        single_flight_complete(fetcher->parts.flights, flight, blob, FETCH_RENDERED);
        blob_release(blob);
        free_errand(fetch);
    } else if (order->maybe_on_disk) {
        look_on_disk(fetch);
    } else {
        line_up(fetch);
    }
}

/* FLIGHT may be over by now: it is compared, nothing more. Not all jobs are errands: pieces of
 * regions wait in the same line. */
static bool is_for(const struct job *job, const void *flight)
{
    return (job->run == on_render || job->run == on_fetch) &&
           ((const struct fetch *)job)->flight == flight;
}

/* Somebody waits for what a pre-render has ordered. Between the lines, where its errand is for a
 * moment, it may be missed: then it comes as late as it would have. */
static void hurry(struct fetcher *fetcher, const struct flight *flight)
{
    if (!work_queue_promote(fetcher->parts.renderers, is_for, flight))
        work_queue_promote(fetcher->parts.readers, is_for, flight);
}

int fetch_start(struct fetcher *fetcher, const struct fetch_request *order, struct waiter *waiter)
{
    bool leader;
    struct flight *flight = single_flight_join(fetcher->parts.flights, order->key, waiter, &leader);
    if (!flight)
        return -ENOMEM;
    if (leader) {
        set_out(fetcher, flight, order);
        return 0;
    }
    count(fetcher, METRIC_COALESCED);
    if (order->rank == JOB_INTERACTIVE)
        hurry(fetcher, flight);
    return 1;
}

bool fetch_abandon(struct fetcher *fetcher, struct waiter *waiter)
{
    return single_flight_leave(fetcher->parts.flights, waiter);
}

struct fetch_hit fetch_lookup(struct fetcher *fetcher, const struct tile *tile, const char *key)
{
    struct disk_cache *disk = disk_for(fetcher, tile);
    struct fetch_hit found = {.blob = memory_cache_get(fetcher->parts.memory_cache, key)};

    if (found.blob) {
        found.from_memory = true;
        return found;
    }
    if (!disk)
        return found;
    int err = disk_cache_get_now(disk, tile, &found.blob);
    if (!err)
        memory_cache_put(fetcher->parts.memory_cache, key, found.blob);
    else if (err != -ENOENT && err != -EAGAIN)
        count(fetcher, METRIC_CACHE_FAULTS);
    found.maybe_on_disk = err == -EAGAIN;
    return found;
}

int fetcher_new(struct fetcher **out, const struct fetcher_parts *parts)
{
    struct fetcher *fetcher = calloc(1, sizeof *fetcher);
    if (!fetcher)
        return -ENOMEM;
    fetcher->parts = *parts;
    *out = fetcher;
    return 0;
}

void fetcher_free(struct fetcher *fetcher)
{
    free(fetcher);
}
