#include "tile_writer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <uv.h>

#include "server/core/thread_group.h"

enum {
    PAUSE_MS = 10,           /* for more tiles, after the first one of a batch */
    TILES = 256,             /* of a batch, at most */
    BYTES = 3 * 1024 * 1024, /* the same; as much may be written meanwhile */
    ROOM_MS = 10,            /* between two looks whether an eviction has made room */
    ROOM_LOOKS = 10,         /* of a batch, at most */
};

struct entry {
    char key[TILE_KEY_MAX];
    struct blob *png;
};

/* Tiles to be stored. */
struct tiles {
    unsigned count;
    size_t bytes;
    struct entry entry[TILES];
};

struct tile_writer {
    struct disk_cache *cache;
    void (*stored)(void *context, int err);
    void *context;
    int niceness;
    struct thread_group *thread;
    uv_mutex_t lock; /* for what follows */
    uv_cond_t wake;  /* the first tile of a batch */
    bool stop;
    struct tiles *next;
    struct tiles *written; /* the thread's own */
};

static bool is_full(const struct tiles *tiles)
{
    return tiles->count == TILES || tiles->bytes >= BYTES;
}

/* Wait for an eviction that makes room for PNG, but look *LOOKS times at most: if a batch were
 * faster than evictions, tiles would be refused, and many more evicted than need be. */
static void wait_for_room(struct tile_writer *writer, const struct blob *png, int *looks)
{
    const struct footprint size = footprint_of_file(png->length);

    for (; *looks > 0 && !disk_cache_has_room(writer->cache, size); --*looks)
        uv_sleep(ROOM_MS);
}

static int by_key(const void *a, const void *b)
{
    return strcmp(((const struct entry *)a)->key, ((const struct entry *)b)->key);
}

/* Store TILES, one directory after the other. */
static void store(struct tile_writer *writer, struct tiles *tiles)
{
    struct disk_cache_batch batch;
    int looks = ROOM_LOOKS;

    qsort(tiles->entry, tiles->count, sizeof tiles->entry[0], by_key);
    disk_cache_begin(&batch, writer->cache, disk_cache_ahead(tiles->bytes, tiles->count));
    for (unsigned i = 0; i < tiles->count; i++) {
        struct entry *entry = &tiles->entry[i];
        wait_for_room(writer, entry->png, &looks);
        writer->stored(writer->context, disk_cache_add(&batch, entry->key, entry->png));
        blob_release(entry->png);
    }
    disk_cache_end(&batch);
    tiles->count = 0;
    tiles->bytes = 0;
}

/* Wait for a batch and take it. Returns NULL if the thread must end. */
static struct tiles *wait_for_batch(struct tile_writer *writer)
{
    uv_mutex_lock(&writer->lock);
    while (!writer->stop && writer->next->count == 0)
        uv_cond_wait(&writer->wake, &writer->lock);
    if (!writer->stop) {
        uv_mutex_unlock(&writer->lock);
        uv_sleep(PAUSE_MS);
        uv_mutex_lock(&writer->lock);
    }
    struct tiles *batch = writer->next->count > 0 ? writer->next : NULL;
    if (batch) {
        writer->next = writer->written;
        writer->written = batch;
    }
    uv_mutex_unlock(&writer->lock);
    return batch;
}

static void run(void *context, unsigned number)
{
    struct tile_writer *writer = context;
    (void)number;

    if (writer->niceness) /* in Linux each thread has its own */
        setpriority(PRIO_PROCESS, 0, getpriority(PRIO_PROCESS, 0) + writer->niceness);
    for (struct tiles *batch; (batch = wait_for_batch(writer));)
        store(writer, batch);
}

void tile_writer_put(struct tile_writer *writer, const struct tile *tile, struct blob *png)
{
    bool wakes = false;

    uv_mutex_lock(&writer->lock);
    struct tiles *next = writer->next;
    const bool queued = !is_full(next) && !writer->stop;
    if (queued) {
        struct entry *entry = &next->entry[next->count++];
        tile_key(tile, entry->key);
        entry->png = blob_hold(png);
        next->bytes += png->length;
        wakes = next->count == 1;
    }
    uv_mutex_unlock(&writer->lock);
    if (wakes)
        uv_cond_signal(&writer->wake);
    if (!queued)
        writer->stored(writer->context, disk_cache_put(writer->cache, tile, png));
}

int tile_writer_new(struct tile_writer **out, struct disk_cache *cache, int niceness,
                    void (*stored)(void *context, int err), void *context)
{
    struct tile_writer *writer = calloc(1, sizeof *writer);
    if (!writer)
        return -ENOMEM;
    writer->cache = cache;
    writer->niceness = niceness;
    writer->stored = stored;
    writer->context = context;
    writer->next = calloc(1, sizeof *writer->next);
    writer->written = calloc(1, sizeof *writer->written);
    int err = writer->next && writer->written ? 0 : -ENOMEM;
    if (err)
        goto fail_lock;
    err = uv_mutex_init(&writer->lock);
    if (err)
        goto fail_lock;
    err = uv_cond_init(&writer->wake);
    if (err)
        goto fail_wake;
    err = thread_group_start(&writer->thread, 1, run, writer);
    if (err)
        goto fail_thread;
    *out = writer;
    return 0;

fail_thread:
    uv_cond_destroy(&writer->wake);
fail_wake:
    uv_mutex_destroy(&writer->lock);
fail_lock:
    free(writer->next);
    free(writer->written);
    free(writer);
    return err;
}

bool tile_writer_stop(struct tile_writer *writer, long ms)
{
    uv_mutex_lock(&writer->lock);
    writer->stop = true;
    uv_cond_signal(&writer->wake);
    uv_mutex_unlock(&writer->lock);
    return thread_group_wait(writer->thread, ms);
}

void tile_writer_free(struct tile_writer *writer)
{
    if (!writer)
        return;
    thread_group_free(writer->thread);
    uv_cond_destroy(&writer->wake);
    uv_mutex_destroy(&writer->lock);
    free(writer->next);
    free(writer->written);
    free(writer);
}
