#include "tile_writer.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <uv.h>

#include "server/core/clock.h"
#include "server/core/thread_group.h"

enum {
    PAUSE_MS = 10,           /* wait for more tiles, after the first one in a batch */
    TILES = 256,             /* in a batch, at most */
    BYTES = 3 * 1024 * 1024, /* in a batch, about; as much may be being written */
    ROOM_MS = 10,            /* between two looks whether an eviction has made room */
    ROOM_LOOKS = 10,         /* in a row, at most */
};

struct entry {
    char key[TILE_KEY_MAX];
    struct blob *png;
};

/* Tiles to be stored. They are pinned in the memory cache. */
struct tiles {
    unsigned count;
    size_t bytes;
    struct entry entry[TILES];
};

struct tile_writer {
    struct tile_writer_options options;
    struct thread_group *thread;
    uv_mutex_t lock; /* guards what follows */
    uv_cond_t wake;  /* a batch has its first tile */
    bool stop;
    struct tiles *next;
    struct tiles *written; /* being written; only the thread changes it */
    uint64_t deadline;     /* atomic: when to stop at the latest; 0: not yet */
    uint64_t begun;        /* atomic: when the current tile was begun; 0: none is */
};

static bool is_full(const struct tiles *tiles)
{
    return tiles->count == TILES || tiles->bytes >= BYTES;
}

static bool is_late(struct tile_writer *writer)
{
    const uint64_t deadline = __atomic_load_n(&writer->deadline, __ATOMIC_RELAXED);
    return deadline && clock_ns(writer->options.clock) >= deadline;
}

/* Wait for an eviction to make room for PNG, *LOOKS looks at most; as long as it does, looks begin
 * anew. Without the wait a batch could outrun evictions: tiles would be refused, and many more
 * evicted than needed. */
static void wait_for_room(struct tile_writer *writer, const struct blob *png, int *looks)
{
    const struct footprint size = footprint_of_file(png->length);

    for (; *looks > 0 && !disk_cache_has_room(writer->options.cache, size); --*looks)
        clock_sleep(writer->options.clock, ROOM_MS * NS_PER_MS);
    *looks = *looks > 0 ? ROOM_LOOKS : 0;
}

static int by_key(const void *a, const void *b)
{
    const struct entry *const *one = a, *const *other = b;
    return strcmp((*one)->key, (*other)->key);
}

/* Store TILES, one directory after another, until the writer must stop. */
static void store(struct tile_writer *writer, const struct tiles *tiles)
{
    const struct entry *order[TILES];
    struct disk_cache_batch batch;
    int looks = ROOM_LOOKS;

    for (unsigned i = 0; i < tiles->count; i++)
        order[i] = &tiles->entry[i];
    qsort((void *)order, tiles->count, sizeof(struct entry *), by_key);
    disk_cache_begin(&batch, writer->options.cache, disk_cache_ahead(tiles->bytes, tiles->count));
    for (unsigned i = 0; i < tiles->count && !is_late(writer); i++) {
        wait_for_room(writer, order[i]->png, &looks);
        __atomic_store_n(&writer->begun, clock_ns(writer->options.clock), __ATOMIC_RELAXED);
        writer->options.stored(writer->options.context,
                               disk_cache_add(&batch, order[i]->key, order[i]->png));
    }
    disk_cache_end(&batch);
    __atomic_store_n(&writer->begun, 0, __ATOMIC_RELAXED);
}

/* Forget the written tiles. */
static void forget(struct tile_writer *writer)
{
    struct tiles *written = writer->written;

    uv_mutex_lock(&writer->lock);
    const unsigned count = written->count;
    written->count = 0;
    written->bytes = 0;
    uv_mutex_unlock(&writer->lock);
    for (unsigned i = 0; i < count; i++) {
        memory_cache_unpin(writer->options.memory, written->entry[i].key);
        blob_release(written->entry[i].png);
    }
}

/* Wait for a batch. Returns NULL if the thread must end. */
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

    if (writer->options.niceness) /* on Linux each thread has its own */
        setpriority(PRIO_PROCESS, 0, getpriority(PRIO_PROCESS, 0) + writer->options.niceness);
    for (const struct tiles *batch; (batch = wait_for_batch(writer)); forget(writer))
        store(writer, batch);
}

uint64_t tile_writer_run_ms(struct tile_writer *writer)
{
    const uint64_t begun = __atomic_load_n(&writer->begun, __ATOMIC_RELAXED);
    const uint64_t now = clock_ns(writer->options.clock);
    return begun && begun < now ? (now - begun) / NS_PER_MS : 0;
}

bool tile_writer_offer(struct tile_writer *writer, const char *key, struct blob *png)
{
    bool wakes = false;

    /* Pin first: the thread could otherwise unpin the tile before. */
    memory_cache_pin(writer->options.memory, key, png);
    uv_mutex_lock(&writer->lock);
    struct tiles *next = writer->next;
    const bool taken = !is_full(next) && !writer->stop;
    if (taken) {
        struct entry *entry = &next->entry[next->count++];
        snprintf(entry->key, sizeof entry->key, "%s", key);
        entry->png = blob_hold(png);
        next->bytes += png->length;
        wakes = next->count == 1;
    }
    uv_mutex_unlock(&writer->lock);
    if (wakes)
        uv_cond_signal(&writer->wake);
    if (!taken)
        memory_cache_unpin(writer->options.memory, key);
    return taken;
}

void tile_writer_store(struct tile_writer *writer, const char *key, const struct blob *png)
{
    writer->options.stored(writer->options.context,
                           disk_cache_put(writer->options.cache, key, png));
}

int tile_writer_new(struct tile_writer **out, const struct tile_writer_options *options)
{
    struct tile_writer *writer = calloc(1, sizeof *writer);
    if (!writer)
        return -ENOMEM;
    writer->options = *options;
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
    /* The last third is for the tile that is being stored then. */
    __atomic_store_n(&writer->deadline,
                     clock_ns(writer->options.clock) + (uint64_t)ms * NS_PER_MS * 2 / 3,
                     __ATOMIC_RELAXED);
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
