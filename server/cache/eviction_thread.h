/*
 * The thread that keeps a cache folder below its limit: it counts where nobody knows what
 * is there, makes room before there is none, and sleeps when there is nothing to do. It also writes
 * down what was asked for, which a loop must not wait for.
 */
#ifndef FARLANDS_CACHE_EVICTION_THREAD_H
#define FARLANDS_CACHE_EVICTION_THREAD_H

#include "server/cache/eviction.h"

struct eviction_thread;

/*
 * Start the thread. Of PARTS go_on and sweeper are filled in here; what the rest
 * points to outlives the sweeper. Returns 0, -ENOMEM or -EAGAIN.
 */
int eviction_thread_new(struct eviction_thread **out, const struct eviction_parts *parts,
                        struct footprint limit);
/* Stop it, also in the middle of a sweep, and wait for its end. */
void eviction_thread_free(struct eviction_thread *evictor);

/* Of LIMIT, what a sweep leaves where tiles do not come too fast for it. Pure. */
struct footprint eviction_thread_low_watermark(struct footprint limit);

/* All that follows: any thread. Nothing waits for the disk. */

void eviction_thread_set_limit(struct eviction_thread *evictor, struct footprint limit);
struct footprint eviction_thread_get_limit(struct eviction_thread *evictor);

/* Something was made: time for a sweep, perhaps. */
void eviction_thread_stored(struct eviction_thread *evictor);

/* SIZE did not fit. */
void eviction_thread_refused(struct eviction_thread *evictor, struct footprint size);

/* The file system is full, whatever the limit: a twentieth goes. */
void eviction_thread_disk_full(struct eviction_thread *evictor);

/* Set the times of the file FD to now, and close it; both later. */
void eviction_thread_touch(struct eviction_thread *evictor, int fd);

#endif
