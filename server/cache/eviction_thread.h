/*
 * The thread that keeps a cache directory below its limit. It counts if the usage is unknown,
 * evicts before the limit is reached, and otherwise sleeps. It also sets the times of files that
 * event loops have read, which must not wait for the disk.
 */
#ifndef FARLANDS_CACHE_EVICTION_THREAD_H
#define FARLANDS_CACHE_EVICTION_THREAD_H

#include "server/cache/eviction.h"

struct eviction_thread;

/* Start the thread. go_on and its context in PARTS are ignored. Returns 0, -ENOMEM or -EAGAIN. */
int eviction_thread_new(struct eviction_thread **out, const struct eviction_parts *parts,
                        struct footprint limit);
/* Stop it, also in the middle of a pass, and wait for its end. */
void eviction_thread_free(struct eviction_thread *evictor);

/* The part of LIMIT that tiles may take up without being evicted: a pass begins before all of it is
 * used, and leaves this much if tiles do not come too fast. Pure. */
struct footprint eviction_thread_low_watermark(struct footprint limit);

/* The functions below may be called by any thread. They do not wait for the disk. */

void eviction_thread_set_limit(struct eviction_thread *evictor, struct footprint limit);
struct footprint eviction_thread_limit(struct eviction_thread *evictor);

/* A tile was stored: wake the thread if the usage is above the high watermark. */
void eviction_thread_stored(struct eviction_thread *evictor);

/* A reservation of SIZE did not fit. */
void eviction_thread_refused(struct eviction_thread *evictor, struct footprint size);

/* The file system is full, whatever the limit: evict a twentieth. */
void eviction_thread_disk_full(struct eviction_thread *evictor);

/* Set the times of the open file FD to now and close it, on the thread. */
void eviction_thread_touch(struct eviction_thread *evictor, int fd);

#endif
