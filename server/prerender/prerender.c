#include "prerender.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>
#include <uv.h>

#include "server/cache/eviction_thread.h"
#include "server/core/clock.h"
#include "server/core/thread_group.h"
#include "server/tiles/render.h"

enum {
    VERIFY_CHUNK = 256, /* tiles that a thread takes at a time */
    PAUSE_MS = 20,
    /* Above this percentage of the quota puts are delayed. Eviction starts below it, but a refused
     * put would make the eviction thread evict more than usual. */
    CROWDED = 97,
    CROWDED_DELAY_MS = 200,
    EVICTION_MS = 60 * 1000,    /* without any progress by the eviction */
    SURVEY_MS = 15 * 60 * 1000, /* until the cache's usage is known */
    RETRY_MS = 20 * 1000,       /* other temporary errors: a locked ledger, suspended storing */
};

struct prerender {
    struct prerender_parts parts;
    struct render_scratch **scratch; /* one per thread; NULL when verifying */
    struct thread_group *group;
    uint64_t total, next; /* tiles; NEXT is atomic */
    bool stop;            /* atomic */
    pthread_mutex_t lock; /* protects TALLY */
    struct prerender_tally tally;
};

static uint64_t add(uint64_t *count, uint64_t more)
{
    return __atomic_fetch_add(count, more, __ATOMIC_RELAXED);
}

/* Add MORE to COUNTER, a member of the tally. */
static void count(struct prerender *prerender, uint64_t *counter, int64_t more)
{
    pthread_mutex_lock(&prerender->lock);
    *counter += (uint64_t)more;
    pthread_mutex_unlock(&prerender->lock);
}

static bool is_stopped(const struct prerender *prerender)
{
    return __atomic_load_n(&prerender->stop, __ATOMIC_RELAXED);
}

/* Only the first reason is kept. */
static void stop_with(struct prerender *prerender, enum prerender_end end, int err,
                      const struct tile_address *tile)
{
    pthread_mutex_lock(&prerender->lock);
    if (prerender->tally.end == PRERENDER_DONE) {
        prerender->tally.end = end;
        prerender->tally.err = err;
        if (tile)
            prerender->tally.tile = *tile;
    }
    pthread_mutex_unlock(&prerender->lock);
    __atomic_store_n(&prerender->stop, true, __ATOMIC_RELAXED);
}

static void wait_for_space(struct prerender *prerender)
{
    const struct timespec time = {0, PAUSE_MS * 1000000};
    count(prerender, &prerender->tally.pending, 1);
    nanosleep(&time, NULL);
    count(prerender, &prerender->tally.pending, -1);
}

void prerender_tally(struct prerender *prerender, struct prerender_tally *out)
{
    const struct footprint each = footprint_of_directory(0, 0);
    const uint64_t next = __atomic_load_n(&prerender->next, __ATOMIC_RELAXED);
    const uint64_t directories = tile_plan_directories(
        prerender->parts.plan, next < prerender->total ? next : prerender->total);
    pthread_mutex_lock(&prerender->lock);
    *out = prerender->tally;
    pthread_mutex_unlock(&prerender->lock);
    out->total = prerender->total;
    out->size = footprint_sum(
        out->size, (struct footprint){directories * each.bytes, directories * each.files});
}

static void add_stored(struct prerender *prerender, struct footprint size)
{
    pthread_mutex_lock(&prerender->lock);
    prerender->tally.size = footprint_sum(prerender->tally.size, size);
    pthread_mutex_unlock(&prerender->lock);
}

/* True if SIZE more can be stored without evicting a tile of this plan. */
static bool fits_quota(struct prerender *prerender, struct footprint size)
{
    struct prerender_tally tally;
    prerender_tally(prerender, &tally);
    return footprint_fits(footprint_sum(tally.size, size),
                          eviction_thread_low_watermark(prerender->parts.quota));
}

static bool is_crowded(const struct prerender *prerender)
{
    const struct footprint quota = prerender->parts.quota;
    const struct footprint most = {quota.bytes / 100 * CROWDED, quota.files / 100 * CROWDED};
    struct footprint used;
    return disk_cache_usage(prerender->parts.cache, &used) && !footprint_fits(used, most);
}

static bool is_temporary(int err)
{
    return err == -EDQUOT || err == -EAGAIN || err == -EBUSY || err == -ECANCELED;
}

static uint64_t timeout_ms(const struct prerender *prerender, int err)
{
    struct footprint used;
    if (err != -EDQUOT)
        return RETRY_MS;
    return disk_cache_usage(prerender->parts.cache, &used) ? EVICTION_MS : SURVEY_MS;
}

/* Retry temporary errors. The timeout restarts whenever the cache's usage has fallen. */
static int put_retrying(struct prerender *prerender, const struct tile *tile,
                        const struct blob *png)
{
    struct footprint used, before = {0};
    uint64_t since = clock_ns(NULL);
    for (;;) {
        int err = disk_cache_put(prerender->parts.cache, tile->key, png);
        if (!is_temporary(err))
            return err;
        wait_for_space(prerender);
        if (is_stopped(prerender))
            return err;
        if (disk_cache_usage(prerender->parts.cache, &used) && !footprint_fits(before, used))
            since = clock_ns(NULL);
        before = used;
        if (clock_ns(NULL) - since > timeout_ms(prerender, err) * NS_PER_MS)
            return err;
    }
}

static void store(struct prerender *prerender, const struct tile *tile, const struct blob *png)
{
    const struct footprint size = footprint_of_file(png->length);
    if (!fits_quota(prerender, size)) {
        stop_with(prerender, PRERENDER_QUOTA, 0, &tile->address);
        return;
    }
    for (int delay = 0; delay < CROWDED_DELAY_MS && is_crowded(prerender) && !is_stopped(prerender);
         delay += PAUSE_MS)
        wait_for_space(prerender);
    int err = put_retrying(prerender, tile, png);
    if (!err) {
        add_stored(prerender, size);
        count(prerender, &prerender->tally.rendered, 1);
    } else if (!is_temporary(err) || !is_stopped(prerender)) {
        stop_with(prerender, err == -EDQUOT ? PRERENDER_CROWDED : PRERENDER_STORE, err,
                  &tile->address);
    }
}

/* Used with an archive: the cache takes only tiles that fit right now. */
static void try_to_store(struct prerender *prerender, const struct tile *tile,
                         const struct blob *png)
{
    const struct footprint size = footprint_of_file(png->length);
    if (fits_quota(prerender, size) && disk_cache_put(prerender->parts.cache, tile->key, png) == 0)
        add_stored(prerender, size);
    count(prerender, &prerender->tally.rendered, 1);
}

static void put_into_archive(struct prerender *prerender, const struct tile_address *address,
                             const struct blob *png)
{
    int err = archive_put(prerender->parts.archive, address->z, address->x, address->y, png);
    if (err)
        stop_with(prerender, PRERENDER_ARCHIVE, err, address);
    else
        count(prerender, &prerender->tally.archived, 1);
}

static void make_tile(struct prerender *prerender, struct render_scratch *scratch,
                      struct part_work *work, const struct tile *tile)
{
    struct blob *png;
    if (disk_cache_get(prerender->parts.cache, tile->key, true, &png) == 0) {
        add_stored(prerender, footprint_of_file(png->length));
        count(prerender, &prerender->tally.found, 1);
    } else {
        const uint64_t start = clock_ns(NULL);
        int err = render_tile(&png, scratch, tile, NULL, NULL);
        if (err) {
            stop_with(prerender, PRERENDER_RENDER, err, &tile->address);
            return;
        }
        (prerender->parts.archive ? try_to_store : store)(prerender, tile, png);
        add(&work->ns, clock_ns(NULL) - start);
        add(&work->rendered, 1);
    }
    if (prerender->parts.archive)
        put_into_archive(prerender, &tile->address, png);
    blob_release(png);
    add(&work->done, 1);
}

static void make_tiles(void *context, unsigned number)
{
    struct prerender *prerender = context;
    while (!is_stopped(prerender)) {
        const uint64_t index = add(&prerender->next, 1);
        struct tile_address address;
        struct tile tile;
        if (index >= prerender->total)
            break;
        const size_t part = tile_plan_get(prerender->parts.plan, index, &address);
        const int err = tile_resolve(&tile, &address, NULL);
        if (err)
            stop_with(prerender, PRERENDER_RENDER, err, &address);
        else
            make_tile(prerender, prerender->scratch[number], &prerender->parts.work[part], &tile);
    }
}

static void verify_tiles(void *context, unsigned number)
{
    struct prerender *prerender = context;
    (void)number;
    while (!is_stopped(prerender)) {
        uint64_t index = add(&prerender->next, VERIFY_CHUNK), found = 0;
        if (index >= prerender->total)
            break;
        const uint64_t left = prerender->total - index;
        const uint64_t chunk = left < VERIFY_CHUNK ? left : VERIFY_CHUNK;
        for (uint64_t i = 0; i < chunk; i++) {
            struct tile_address address;
            char key[TILE_KEY_MAX];
            tile_plan_get(prerender->parts.plan, index + i, &address);
            found += disk_cache_has(prerender->parts.cache, tile_key(&address, key));
        }
        count(prerender, &prerender->tally.found, (int64_t)found);
        count(prerender, &prerender->tally.missing, (int64_t)(chunk - found));
    }
}

int prerender_start(struct prerender **out, const struct prerender_parts *parts, bool verify)
{
    struct prerender *prerender = calloc(1, sizeof *prerender);
    if (!prerender)
        return -ENOMEM;
    prerender->parts = *parts;
    prerender->total = tile_plan_count(parts->plan);
    pthread_mutex_init(&prerender->lock, NULL);
    if (!verify)
        prerender->scratch = calloc(parts->threads, sizeof(struct render_scratch *));
    int err = verify || prerender->scratch ? 0 : -ENOMEM;
    if (!err && !verify)
        err = render_scratches_new(prerender->scratch, parts->threads);
    if (!err)
        err = thread_group_start(&prerender->group, parts->threads,
                                 verify ? verify_tiles : make_tiles, prerender);
    if (err) {
        prerender_free(prerender);
        return err;
    }
    *out = prerender;
    return 0;
}

bool prerender_wait(struct prerender *prerender, long ms)
{
    return thread_group_wait(prerender->group, ms);
}

void prerender_stop(struct prerender *prerender)
{
    stop_with(prerender, PRERENDER_STOPPED, 0, NULL);
}

void prerender_free(struct prerender *prerender)
{
    if (!prerender)
        return;
    thread_group_free(prerender->group);
    for (unsigned i = 0; prerender->scratch && i < prerender->parts.threads; i++)
        render_scratch_free(prerender->scratch[i]);
    free(prerender->scratch);
    pthread_mutex_destroy(&prerender->lock);
    free(prerender);
}
