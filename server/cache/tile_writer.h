/*
 * A thread that stores tiles in a disk cache a little later, in batches. So no render waits for the
 * disk, and a batch usually accesses the quota ledger only twice. If the process is killed, or the
 * disk is too slow at its end, tiles that are not stored yet are lost and rendered again.
 */
#ifndef FARLANDS_CACHE_TILE_WRITER_H
#define FARLANDS_CACHE_TILE_WRITER_H

#include "server/cache/disk_cache.h"
#include "server/cache/memory_cache.h"
#include "server/core/clock.h"

struct tile_writer;

struct tile_writer_options {
    struct disk_cache *cache;    /* outlives the writer */
    struct memory_cache *memory; /* likewise; tiles are pinned here until they are stored */
    int niceness;                /* added to the thread's (setpriority(2)); best effort */
    /* Called on any thread for each tile, with the result as from disk_cache_put. */
    void (*stored)(void *context, int err);
    void *context;
    const struct clock
        *clock; /* for waits for evictions, and the times below; NULL: the system's */
};

/* Start the thread. Returns 0, -ENOMEM or -EAGAIN. */
int tile_writer_new(struct tile_writer **out, const struct tile_writer_options *options);

/* Store the remaining tiles, as many as possible within two thirds of MS milliseconds. Returns
 * false if the thread is busy with one tile even after MS: it may hang forever, and nothing that it
 * uses may be freed. No thread may be in tile_writer_offer or tile_writer_store. */
bool tile_writer_stop(struct tile_writer *writer, long ms);

/* After tile_writer_stop has returned true. */
void tile_writer_free(struct tile_writer *writer);

/* Store PNG, encoded with the tile's KEY (tile_key), within some tens of milliseconds. The tile is
 * in the memory cache in any case, and stays there at least until it is stored. Returns false if
 * the thread is behind: the caller then stores the tile by the second function, which may wait for
 * the disk. Any thread. */
bool tile_writer_offer(struct tile_writer *writer, const char *key, struct blob *png);
void tile_writer_store(struct tile_writer *writer, const char *key, const struct blob *png);

/* How long the thread has been storing the current tile, in ms; 0 if there is none. Any thread. */
uint64_t tile_writer_run_ms(struct tile_writer *writer);

#endif
