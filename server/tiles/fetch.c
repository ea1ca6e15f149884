#include "fetch.h"

#include <errno.h>
#include <stdlib.h>

#include "server/core/clock.h"
#include "server/core/coding.h"
#include "server/tiles/render.h"
#include "server/world/run_kind.h"

enum {
    PAUSED_MAX = 8, /* renders that have stopped and go on later: they keep their memory */
    /* A render thread looks on the disk itself if it is free so soon: to wake a reader, which in a
     * flood finds nothing, costs more than to look. */
    READER_WAIT_MS = 10,
};

/* The work of a flight's leader. */
struct fetch {
    struct job job; /* first: a job is cast to its fetch */
    const struct fetcher *fetcher;
    struct flight *flight;
    struct tile tile; /* with a hold on its world */
    bool unread;      /* it may be on disk */
    bool paused;      /* it is one of PAUSED_MAX */
    struct render_progress progress;
    uint64_t render_ns;
};

static void count(const struct fetcher *fetcher, enum metric metric)
{
    metrics_add(fetcher->metrics, metric);
}

/* Only pictures are kept on disk. */
static struct disk_cache *disk_for(const struct fetcher *fetcher, const struct tile *tile)
{
    return format_is_picture(tile->address.format) ? fetcher->disk_cache : NULL;
}

static void fetch_free(struct fetch *fetch)
{
    if (fetch->paused)
        __atomic_fetch_sub(fetch->fetcher->paused, 1, __ATOMIC_RELAXED);
    render_progress_clear(&fetch->progress);
    world_release(fetch->tile.content.world);
    free(fetch);
}

static void complete(struct fetch *fetch, struct blob *blob, int err)
{
    const struct fetcher *fetcher = fetch->fetcher;
    if (err >= 0)
        memory_cache_put(fetcher->memory_cache, fetch->tile.key, blob);
    single_flight_complete(fetcher->flights, fetch->flight, blob, err);
}

static void fail(struct fetch *fetch, int err)
{
    complete(fetch, NULL, err);
    fetch_free(fetch);
}

/* False if all waiters have left. The fetch has ended then. */
static bool is_wanted(struct fetch *fetch)
{
    if (single_flight_is_wanted(fetch->fetcher->flights, fetch->flight))
        return true;
    count(fetch->fetcher, METRIC_ABANDONED);
    fetch_free(fetch);
    return false;
}

void fetch_stored(void *context, int err)
{
    if (err == -EDQUOT)
        count(context, METRIC_CACHE_REFUSED);
    else if (err && err != -ECANCELED)
        count(context, METRIC_CACHE_FAULTS);
}

static void on_cancel(struct job *job)
{
    fail((struct fetch *)job, -EBUSY);
}

/* Complete the fetch from disk. Returns false if that is not possible. */
static bool read_from_disk(struct fetch *fetch)
{
    const struct fetcher *fetcher = fetch->fetcher;
    struct blob *blob;

    int err = disk_cache_get(fetcher->disk_cache, fetch->tile.key, true, &blob);
    if (err && err != -ENOENT)
        count(fetcher, METRIC_CACHE_FAULTS);
    fetch->unread = false;
    if (err)
        return false;
    complete(fetch, blob, FETCH_FROM_DISK);
    blob_release(blob);
    fetch_free(fetch);
    return true;
}

/* The tile without compression, if it is in memory. */
static struct blob *find_plain(const struct fetch *fetch)
{
    struct tile_address plain = fetch->tile.address;
    char key[TILE_KEY_MAX];

    plain.coding = CODING_IDENTITY;
    return memory_cache_get(fetch->fetcher->memory_cache, tile_key(&plain, key));
}

/* Compress the tile, which is rendered if it is not in memory. The plain one is not kept: most
 * clients want the same. Returns 0 or a negative code. */
static int make_compressed(struct blob **out, struct fetch *fetch, void *scratch)
{
    *out = find_plain(fetch);
    const int err = *out ? 0 : render_tile(out, scratch, &fetch->tile, &fetch->progress, NULL);
    if (err)
        return err;
    *out = coding_pack_over(*out, fetch->tile.address.coding);
    return *out ? 0 : -ENOMEM;
}

enum { LATER = 1 };

/* Whether the render of CONTEXT, a fetch, stops here: see struct render_progress. */
static int pause_render(void *context)
{
    struct fetch *fetch = context;
    const struct fetcher *fetcher = fetch->fetcher;

    if (work_queue_go_on(fetcher->renderers, &fetch->job, false))
        return 0;
    if (!fetch->paused && __atomic_add_fetch(fetcher->paused, 1, __ATOMIC_RELAXED) > PAUSED_MAX) {
        __atomic_fetch_sub(fetcher->paused, 1, __ATOMIC_RELAXED);
        return 0;
    }
    fetch->paused = true;
    return LATER;
}

/* Render the tile: 0, LATER or a negative code. */
static int render(struct fetch *fetch, void *scratch, struct blob **out)
{
    const uint64_t start = clock_ns(NULL);
    const int err = fetch->tile.address.coding
                        ? make_compressed(out, fetch, scratch)
                        : render_tile(out, scratch, &fetch->tile, &fetch->progress, NULL);

    fetch->render_ns += clock_ns(NULL) - start;
    return err;
}

static void on_render(struct job *job, void *scratch)
{
    struct fetch *fetch = (struct fetch *)job;
    const struct fetcher *fetcher = fetch->fetcher;
    struct blob *blob = NULL;

    if (!is_wanted(fetch) || (fetch->unread && read_from_disk(fetch)))
        return;
    if (!fetch->paused)
        count(fetcher, METRIC_MISSES);
    int err = render(fetch, scratch, &blob);
    if (err == LATER)
        err = work_queue_resume(fetcher->renderers, job) ? -EBUSY : LATER;
    if (err == LATER)
        return;
    if (err) {
        fail(fetch, err);
        return;
    }
    metrics_observe(fetcher->metrics, HISTOGRAM_RENDER, fetch->render_ns);
    metrics_add_rendered(fetcher->metrics, fetch->tile.address.layer, fetch->tile.address.format);
    /* The tile is somewhere at any time; but nobody waits for the disk, which may be slow. */
    const bool keep = disk_for(fetcher, &fetch->tile);
    const bool taken = keep && tile_writer_offer(fetcher->writer, fetch->tile.key, blob);
    complete(fetch, blob, FETCH_RENDERED);
    if (keep && !taken)
        tile_writer_store(fetcher->writer, fetch->tile.key, blob);
    blob_release(blob);
    fetch_free(fetch);
}

static void on_read(struct job *job, void *thread_state);

/* Submit the fetch to the renderers, or to the readers: disk hits do not wait for renders. */
static void enqueue(struct fetch *fetch)
{
    const struct fetcher *fetcher = fetch->fetcher;
    const bool read = fetch->unread && work_queue_wait_ms(fetcher->renderers, fetch->job.rank,
                                                          fetch->job.client) > READER_WAIT_MS;

    fetch->job.run = read ? on_read : on_render;
    if (work_queue_submit(read ? fetcher->readers : fetcher->renderers, &fetch->job))
        fail(fetch, -EBUSY);
}

static void on_read(struct job *job, void *thread_state)
{
    struct fetch *fetch = (struct fetch *)job;

    (void)thread_state;
    if (is_wanted(fetch) && !read_from_disk(fetch))
        enqueue(fetch);
}

/* Do the leader's work: FLIGHT ends in any case. */
static void start(const struct fetcher *fetcher, struct flight *flight,
                  const struct fetch_request *request)
{
    /* An earlier flight may have completed between fetch_lookup and single_flight_join. */
    struct blob *blob = memory_cache_get(fetcher->memory_cache, request->tile->key);
    if (blob) {
        single_flight_complete(fetcher->flights, flight, blob, FETCH_FROM_MEMORY);
        blob_release(blob);
        return;
    }
    struct fetch *fetch = calloc(1, sizeof *fetch);
    if (!fetch) {
        single_flight_complete(fetcher->flights, flight, NULL, -ENOMEM);
        return;
    }
    fetch->job.cancel = on_cancel;
    fetch->job.rank = request->rank;
    fetch->job.client = request->client;
    fetch->fetcher = fetcher;
    fetch->flight = flight;
    fetch->tile = *request->tile;
    world_hold(fetch->tile.content.world);
    fetch->unread = request->maybe_on_disk;
    fetch->job.kind = run_kind_of_tile(&request->tile->address);
    fetch->progress = (struct render_progress){.pause = pause_render, .context = fetch};
    enqueue(fetch);
}

/* FLIGHT may have ended: it is only compared. Not all jobs are fetches: pieces of regions are
 * queued, too. */
static bool is_for(const struct job *job, const void *flight)
{
    return (job->run == on_render || job->run == on_read) &&
           ((const struct fetch *)job)->flight == flight;
}

/* Let a queued fetch take its turn as REQUEST's if that is sooner. A fetch that is on its way from
 * one queue to the other is missed and stays as it is. */
static void hurry(const struct fetcher *fetcher, const struct flight *flight,
                  const struct fetch_request *request)
{
    if (!work_queue_join(fetcher->renderers, is_for, flight, request->rank, request->client))
        work_queue_join(fetcher->readers, is_for, flight, request->rank, request->client);
}

int fetch_start(const struct fetcher *fetcher, const struct fetch_request *request,
                struct waiter *waiter)
{
    bool leader;
    struct flight *flight =
        single_flight_join(fetcher->flights, request->tile->key, waiter, &leader);
    if (!flight)
        return -ENOMEM;
    if (leader) {
        start(fetcher, flight, request);
        return 0;
    }
    count(fetcher, METRIC_COALESCED);
    hurry(fetcher, flight, request);
    return 1;
}

struct blob *fetch_lookup(const struct fetcher *fetcher, struct fetch_request *request)
{
    struct disk_cache *disk = disk_for(fetcher, request->tile);
    struct blob *blob = memory_cache_get(fetcher->memory_cache, request->tile->key);

    request->from_memory = blob;
    if (blob || !disk)
        return blob;
    int err = disk_cache_get(disk, request->tile->key, false, &blob);
    if (!err)
        memory_cache_put(fetcher->memory_cache, request->tile->key, blob);
    else if (err != -ENOENT && err != -EAGAIN)
        count(fetcher, METRIC_CACHE_FAULTS);
    request->maybe_on_disk = err == -EAGAIN;
    return blob;
}
