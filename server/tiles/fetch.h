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
struct supply_parts {
    struct workers *readers;   /* who may wait for the disk, so that no hit waits for a render */
    struct workers *renderers; /* whose stations are easels */
    struct flights *flights;
    struct memory_cache *memory_cache;
    struct disk_cache *disk_cache; /* or NULL: nothing is kept on disk */
    struct metrics *metrics;       /* of what the workers do */
};

struct supply;

int supply_new(struct supply **out, const struct supply_parts *parts); /* 0 or -ENOMEM */
void supply_free(struct supply *supply);

/* What there is of a tile without waiting. */
struct at_hand {
    struct blob *blob; /* a reference of the caller's, or NULL */
    bool from_memory;
    bool maybe_on_disk; /* where there is no blob: only the disk can tell */
};

/* TILE, whose name is KEY, the same for the same bytes. */
struct at_hand supply_at_hand(struct supply *supply, const struct tile *tile, const char *key);

/* What has to be fetched, and for whom. */
struct order {
    const struct tile *tile; /* whose grid exists */
    const char *key;
    bool maybe_on_disk; /* as at_hand said */
    enum job_rank rank;
};

/* How a tile landed. */
enum { SUPPLY_RENDERED, SUPPLY_FROM_DISK };

/*
 * Have a tile come from the disk or a render; where another has ordered it in the background, and
 * this order is none of those, sooner. WAITER's landed gets the outcome at home: one of those
 * above, or -EBUSY where too many renders wait already, -ENOMEM or -EIO. Returns 0; or 1, where
 * another's order is waited for; or -EBUSY or -ENOMEM, where that is known already: then WAITER is
 * not called.
 */
int supply_await(struct supply *supply, const struct order *order, struct waiter *waiter);

/* Wait no longer; see flight_leave. What nobody waits for and has not begun is not rendered. */
bool supply_forget(struct supply *supply, struct waiter *waiter);

#endif
