/*
 * Read-through fetching of tiles: from memory, else, once for all requests at a time, from disk or
 * a render. Any thread, unless noted otherwise.
 */
#ifndef FARLANDS_TILES_FETCH_H
#define FARLANDS_TILES_FETCH_H

#include "server/cache/disk_cache.h"
#include "server/cache/memory_cache.h"
#include "server/cache/tile_writer.h"
#include "server/core/work_queue.h"
#include "server/telemetry/metrics.h"
#include "server/tiles/single_flight.h"
#include "server/world/tile.h"

/* The parts that fetching uses. They stay their maker's and outlive all fetches. */
struct fetcher {
    struct work_queue *readers;   /* may wait for the disk, so that no hit waits for a render. Their
                                   * thread states are NULL */
    struct work_queue *renderers; /* their thread states are struct render_scratch */
    struct single_flight *flights;
    struct memory_cache *memory_cache;
    struct disk_cache *disk_cache; /* NULL: nothing is kept on disk */
    struct tile_writer *writer;    /* NULL likewise; its STORED is fetch_stored */
    struct metrics *metrics;       /* of the worker threads */
    unsigned *paused;              /* atomic: renders that go on later */
};

struct fetch_request {
    const struct tile *tile;
    enum job_rank rank;
    uint64_t client; /* as in struct job: the work is charged to it */
    /* Set by fetch_lookup. */
    bool from_memory;
    bool maybe_on_disk; /* only reading the disk would tell */
};

/* Count a tile that was to be stored, with the result ERR of disk_cache_put. CONTEXT is the struct
 * fetcher. */
void fetch_stored(void *context, int err);

/* Look the tile up without waiting. Returns a reference, or NULL. */
struct blob *fetch_lookup(const struct fetcher *fetcher, struct fetch_request *request);

/* The result of a successful fetch. */
enum { FETCH_RENDERED, FETCH_FROM_DISK, FETCH_FROM_MEMORY };

/*
 * Start to fetch a tile, or join a fetch in progress, which then takes its turn as that of the
 * client, and the rank, that is served first. WAITER's callback gets one of the results above, or
 * -EBUSY if too many jobs are queued, -ENOMEM or -EIO. Returns 0 if a fetch was started, 1 if one
 * was joined; or -ENOMEM: then the callback is not called. A fetch that has not begun when its last
 * waiter leaves (single_flight_leave) is dropped.
 */
int fetch_start(const struct fetcher *fetcher, const struct fetch_request *request,
                struct waiter *waiter);

#endif
