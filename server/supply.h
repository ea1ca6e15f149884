/*
 * Where tiles come from: memory, the disk, or a render, one for all who wait.
 * Everything here runs on the loop's thread, but for the renders themselves.
 */
#ifndef FARLANDS_SUPPLY_H
#define FARLANDS_SUPPLY_H

#include <uv.h>

#include "server/disk_cache.h"
#include "server/flight.h"
#include "server/memory_cache.h"
#include "server/metrics.h"
#include "server/tile.h"
#include "server/workers.h"

/* What it works with; all of it stays its maker's and outlives it. */
struct supply_parts {
    uv_loop_t *loop;
    struct workers *workers; /* whose stations are easels */
    struct flights *flights;
    struct memory_cache *memory_cache;
    struct disk_cache *disk_cache; /* or NULL: nothing is kept on disk */
    struct metrics *metrics;
};

struct supply;

/* Returns 0, -ENOMEM, -EMFILE, ... */
int supply_new(struct supply **out, const struct supply_parts *parts);
/* Before the loop's end, and after workers_stop: nothing may be under way. */
void supply_close(struct supply *supply);
/* After the loop's end. */
void supply_free(struct supply *supply);

/* Disk reads and renders whose waiters have not had the outcome yet. */
unsigned supply_under_way(const struct supply *supply);

/* The tile under KEY, if it is in memory, with a reference that the caller releases, or NULL. */
struct blob *supply_at_hand(struct supply *supply, const char *key);

/*
 * Have TILE, whose grid must exist, come from the disk or a render; KEY is its
 * name, the same for the same bytes. WAITER's landed gets the outcome, perhaps
 * before this returns: -EBUSY where too many renders wait already, -ENOMEM or
 * -EIO. Returns 0, or -ENOMEM: then WAITER is not called.
 */
int supply_await(struct supply *supply, const struct tile *tile, const char *key,
                 struct waiter *waiter);

#endif
