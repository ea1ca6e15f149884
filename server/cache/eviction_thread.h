/*
 * The thread that keeps a cache folder below its limit: it counts where nobody knows what
 * is there, makes room before there is none, and sleeps when there is nothing to do. It also writes
 * down what was asked for, which a loop must not wait for.
 */
#ifndef FARLANDS_CACHE_EVICTION_THREAD_H
#define FARLANDS_CACHE_EVICTION_THREAD_H

#include "server/cache/eviction.h"

struct sweeper;

/*
 * Start the thread. Of PARTS go_on and sweeper are filled in here; what the rest
 * points to outlives the sweeper. Returns 0, -ENOMEM or -EAGAIN.
 */
int sweeper_new(struct sweeper **out, const struct sweep_parts *parts, struct footprint limit);
/* Stop it, also in the middle of a sweep, and wait for its end. */
void sweeper_free(struct sweeper *sweeper);

/* Of LIMIT, what a sweep leaves where tiles do not come too fast for it. Pure. */
struct footprint sweeper_leaves(struct footprint limit);

/* All that follows: any thread. Nothing waits for the disk. */

void sweeper_limit(struct sweeper *sweeper, struct footprint limit);
struct footprint sweeper_get_limit(struct sweeper *sweeper);

/* Something was made: time for a sweep, perhaps. */
void sweeper_stored(struct sweeper *sweeper);

/* SIZE did not fit. */
void sweeper_refused(struct sweeper *sweeper, struct footprint size);

/* The file system is full, whatever the limit: a twentieth goes. */
void sweeper_disk_full(struct sweeper *sweeper);

/* Set the times of the file FD to now, and close it; both later. */
void sweeper_touch(struct sweeper *sweeper, int fd);

#endif
