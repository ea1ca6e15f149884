/*
 * The thread that keeps a cache directory below its limit. It counts if the usage is unknown,
 * evicts before the limit is reached, and otherwise sleeps. It also sets the times of files that
 * event loops have read, because event loops must not wait for the disk.
 */
#ifndef FARLANDS_CACHE_EVICTION_THREAD_H
#define FARLANDS_CACHE_EVICTION_THREAD_H

#include "server/cache/eviction.h"

struct eviction_thread;

/* Start the thread. go_on and its context in PARTS are ignored. Returns 0, -ENOMEM or -EAGAIN. */
int eviction_thread_new(struct eviction_thread **out, const struct eviction_parts *parts,
                        struct footprint limit);
/* Stop the thread, even in the middle of a pass, and wait for its end. */
void eviction_thread_free(struct eviction_thread *evictor);

/* The usage up to which tiles are not evicted: a pass leaves this part of LIMIT, if tiles don't
 * come too fast. A pass begins before LIMIT is reached. Pure. */
struct footprint eviction_thread_low_watermark(struct footprint limit);

/* The functions below may be called by any thread. They do not wait for the disk. */

void eviction_thread_set_limit(struct eviction_thread *evictor, struct footprint limit);
struct footprint eviction_thread_limit(struct eviction_thread *evictor);

/* A tile was stored: wake the thread if the usage is above the high watermark. */
void eviction_thread_stored(struct eviction_thread *evictor);

/* A reservation of SIZE did not fit. */
void eviction_thread_refused(struct eviction_thread *evictor, struct footprint size);

/* The file system is full, whatever the limit: evict a 20th of the usage. */
void eviction_thread_disk_full(struct eviction_thread *evictor);

/* On the thread, set FD's file times to now and close FD. */
void eviction_thread_touch(struct eviction_thread *evictor, int fd);

#endif
