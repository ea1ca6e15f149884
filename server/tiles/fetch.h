/*
 * Read-through fetching of tiles: from memory, or else from disk or a render, once for all
 * concurrent requests. Any thread, unless noted otherwise.
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

/* The parts that fetching uses. Their maker owns them, and they outlive all fetches. */
struct fetcher {
    struct work_queue *readers;   /* may wait for the disk, so that no hit waits for a render. Their
                                   * thread states are NULL */
    struct work_queue *renderers; /* thread states are struct render_scratch */
    struct single_flight *flights;
    struct memory_cache *memory_cache;
    struct disk_cache *disk_cache; /* NULL: no disk cache */
    struct tile_writer *writer;    /* NULL without a disk cache; its STORED is fetch_stored */
    struct metrics *metrics;       /* the worker threads' */
    unsigned *paused;              /* atomic: stopped renders that go on later */
};

struct fetch_request {
    const struct tile *tile;
    enum job_rank rank;
    uint64_t client; /* as in struct job: the client to charge */
    /* Set by fetch_lookup. */
    bool from_memory;
    bool maybe_on_disk; /* unknown without waiting for the disk */
};

/* Count the result ERR of storing a tile (disk_cache_put). CONTEXT is the struct fetcher. */
void fetch_stored(void *context, int err);

/* Look the tile up without waiting. Returns a reference, or NULL. */
struct blob *fetch_lookup(const struct fetcher *fetcher, struct fetch_request *request);

/* The result of a successful fetch. */
enum { FETCH_RENDERED, FETCH_FROM_DISK, FETCH_FROM_MEMORY };

/*
 * Fetch a tile, or join a fetch in progress. A joined fetch runs at the turn of the client and rank
 * that is served first. WAITER's callback gets a result above, or -EBUSY if too many jobs are
 * queued, -ENOMEM or -EIO. Returns 0 if a fetch was started, 1 if one was joined, or -ENOMEM: the
 * callback is then not called. When its last waiter has left (single_flight_leave), a fetch is
 * dropped at its next turn.
 */
int fetch_start(const struct fetcher *fetcher, const struct fetch_request *request,
                struct waiter *waiter);

#endif
