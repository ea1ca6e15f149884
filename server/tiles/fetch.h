/*
 * Where tiles come from: memory, the disk, or a render, one for all who wait.
 * Any thread, unless it says otherwise.
 */
#ifndef FARLANDS_TILES_FETCH_H
#define FARLANDS_TILES_FETCH_H

#include "server/cache/disk_cache.h"
#include "server/cache/memory_cache.h"
#include "server/core/work_queue.h"
#include "server/telemetry/metrics.h"
#include "server/tiles/single_flight.h"
#include "server/world/tile.h"

/* What it works with; all of it stays its maker's and outlives it. */
struct fetcher_parts {
    struct work_queue *readers;   /* who may wait for the disk, so that no hit waits for a render */
    struct work_queue *renderers; /* whose stations are easels */
    struct single_flight *flights;
    struct memory_cache *memory_cache;
    struct disk_cache *disk_cache; /* or NULL: nothing is kept on disk */
    struct metrics *metrics;       /* of what the workers do */
};

struct fetcher;

int fetcher_new(struct fetcher **out, const struct fetcher_parts *parts); /* 0 or -ENOMEM */
void fetcher_free(struct fetcher *fetcher);

/* What there is of a tile without waiting. */
struct fetch_hit {
    struct blob *blob; /* a reference of the caller's, or NULL */
    bool from_memory;
    bool maybe_on_disk; /* where there is no blob: only the disk can tell */
};

/* TILE, whose name is KEY, the same for the same bytes. */
struct fetch_hit fetch_lookup(struct fetcher *fetcher, const struct tile *tile, const char *key);

/* What has to be fetched, and for whom. */
struct fetch_request {
    const struct tile *tile; /* whose grid exists */
    const char *key;
    bool maybe_on_disk; /* as at_hand said */
    enum job_rank rank;
};

/* How a tile landed. */
enum { FETCH_RENDERED, FETCH_FROM_DISK };

/*
 * Have a tile come from the disk or a render; where another has ordered it in the background, and
 * this order is none of those, sooner. WAITER's landed gets the outcome at home: one of those
 * above, or -EBUSY where too many renders wait already, -ENOMEM or -EIO. Returns 0; or 1, where
 * another's order is waited for; or -EBUSY or -ENOMEM, where that is known already: then WAITER is
 * not called.
 */
int fetch_start(struct fetcher *fetcher, const struct fetch_request *order, struct waiter *waiter);

/* Wait no longer; see single_flight_leave. What nobody waits for and has not begun is not rendered.
 */
bool fetch_abandon(struct fetcher *fetcher, struct waiter *waiter);

#endif
