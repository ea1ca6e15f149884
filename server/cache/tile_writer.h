/*
 * A thread that stores tiles in a disk cache a little later, in batches: so a batch accesses the
 * quota ledger once, and no render waits for the disk. Tiles that are not stored yet are lost if
 * the process is killed, or if the disk is too slow at its end, and are rendered again.
 */
#ifndef FARLANDS_CACHE_TILE_WRITER_H
#define FARLANDS_CACHE_TILE_WRITER_H

#include "server/cache/disk_cache.h"
#include "server/cache/memory_cache.h"
#include "server/core/clock.h"

struct tile_writer;

struct tile_writer_options {
    struct disk_cache *cache;    /* outlives the writer */
    struct memory_cache *memory; /* likewise: it keeps tiles until they are stored */
    int niceness;                /* added to the thread's (setpriority(2)); best effort */
    /* Called for each tile, by any thread, with what disk_cache_put would return. */
    void (*stored)(void *context, int err);
    void *context;
    const struct clock
        *clock; /* of waits for evictions and of the times below; NULL: the system's */
};

/* Start the thread. Returns 0, -ENOMEM or -EAGAIN. */
int tile_writer_new(struct tile_writer **out, const struct tile_writer_options *options);

/* Store what is left, or two thirds of MS milliseconds long as much as possible. Returns false if
 * the thread is busy with one tile even after MS: then it may hang for ever, and nothing that it
 * uses may be freed. No thread may be in tile_writer_offer or tile_writer_store. */
bool tile_writer_stop(struct tile_writer *writer, long ms);

/* After tile_writer_stop has returned true. */
void tile_writer_free(struct tile_writer *writer);

/* Take PNG, encoded with KEY, a tile's (tile_key), to be stored within some tens of milliseconds,
 * and hold it as long. Returns false if the thread is behind: then the caller stores it, by the
 * second function, which may wait for the disk. Any thread. */
bool tile_writer_offer(struct tile_writer *writer, const char *key, struct blob *png);
void tile_writer_store(struct tile_writer *writer, const char *key, const struct blob *png);

/* How long the thread has been storing one tile by now; 0 if it is not. Any thread. */
uint64_t tile_writer_run_ms(struct tile_writer *writer);

#endif
