#include "prerender.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>
#include <uv.h>

#include "server/core/thread_group.h"
#include "server/tiles/render.h"

enum {
    CHUNK = 256, /* tiles that a thread looks for at a time */
    PAUSE_MS = 20,
    /* Percent of the quota: a sweep has begun long before, and puts that were refused would have
     * the next ones take more than they leave otherwise. */
    CROWDED = 97,
    HOLD_MS = 200,                /* that a put waits for a sweep which may be another process's */
    ROOM_MS = 60 * 1000,          /* without any room being made */
    COUNTING_MS = 15 * 60 * 1000, /* until it is known what is in the folder */
    PASSING_MS = 20 * 1000,       /* what passes: books held by others, storing suspended */
};

struct prerender {
    struct prerender_parts parts;
    uint64_t count;
    struct station {
        struct render_scratch *scratch;
    } * stations; /* of each thread */
    struct thread_group *group;
    /* Atomic. */
    uint64_t next, found, rendered, missing, archived;
    struct footprint tiles; /* of those that are there */
    unsigned pending;
    bool stop;
    pthread_mutex_t lock; /* for what follows: the first thing that went wrong */
    enum prerender_end end;
    int err;
    struct tile tile;
};

/* A moment, in which room may be made. */
static void rest(struct prerender *run)
{
    const struct timespec time = {0, PAUSE_MS * 1000000};
    __atomic_fetch_add(&run->pending, 1, __ATOMIC_RELAXED);
    nanosleep(&time, NULL);
    __atomic_fetch_sub(&run->pending, 1, __ATOMIC_RELAXED);
}

static bool is_stopped(const struct prerender *run)
{
    return __atomic_load_n(&run->stop, __ATOMIC_RELAXED);
}

static void end_with(struct prerender *run, enum prerender_end end, int err,
                     const struct tile *tile)
{
    pthread_mutex_lock(&run->lock);
    if (run->end == PRERENDER_DONE) {
        run->end = end;
        run->err = err;
        if (tile)
            run->tile = *tile;
    }
    pthread_mutex_unlock(&run->lock);
    __atomic_store_n(&run->stop, true, __ATOMIC_RELAXED);
}

/* --- Room ---------------------------------------------------------------------- */

/* What is there of the plan, with all folders that were needed so far. */
static struct footprint size_of_all(const struct prerender *run)
{
    const struct footprint each = footprint_of_directory(0, 0);
    const struct footprint tiles = {__atomic_load_n(&run->tiles.bytes, __ATOMIC_RELAXED),
                                    __atomic_load_n(&run->tiles.files, __ATOMIC_RELAXED)};
    const uint64_t next = __atomic_load_n(&run->next, __ATOMIC_RELAXED);
    const uint64_t folders =
        tile_plan_folders(run->parts.plan, next < run->count ? next : run->count);
    return footprint_sum(tiles, (struct footprint){folders * each.bytes, folders * each.files});
}

static void add_size(struct prerender *run, struct footprint size)
{
    __atomic_fetch_add(&run->tiles.bytes, size.bytes, __ATOMIC_RELAXED);
    __atomic_fetch_add(&run->tiles.files, size.files, __ATOMIC_RELAXED);
}

/* Whether SIZE more may be stored without a sweep having to take what is there of the plan. */
static bool has_room(const struct prerender *run, struct footprint size)
{
    return footprint_fits(footprint_sum(size_of_all(run), size),
                          disk_cache_keeps(run->parts.quota));
}

static bool is_crowded(const struct prerender *run)
{
    const struct footprint quota = run->parts.quota;
    const struct footprint most = {quota.bytes / 100 * CROWDED, quota.files / 100 * CROWDED};
    struct footprint used;
    return disk_cache_usage(run->parts.cache, &used) && !footprint_fits(used, most);
}

/* What others may soon have done away with: a sweep, a count, another process's hold. */
static bool may_pass(int err)
{
    return err == -EDQUOT || err == -EAGAIN || err == -EBUSY || err == -ECANCELED;
}

/* For how long, in ms, ERR is waited out while the cache stays as it is. */
static uint64_t patience(const struct prerender *run, int err)
{
    struct footprint used;
    if (err != -EDQUOT)
        return PASSING_MS;
    return disk_cache_usage(run->parts.cache, &used) ? ROOM_MS : COUNTING_MS;
}

static int put_in_time(struct prerender *run, const struct tile *tile, const struct blob *png)
{
    struct footprint used, before = {0};
    uint64_t since = uv_hrtime();
    for (;;) {
        int err = disk_cache_put(run->parts.cache, tile, png);
        if (!may_pass(err))
            return err;
        rest(run);
        if (is_stopped(run))
            return err;
        if (disk_cache_usage(run->parts.cache, &used) && !footprint_fits(before, used))
            since = uv_hrtime(); /* less than it was: there is progress */
        before = used;
        if (uv_hrtime() - since > patience(run, err) * 1000000)
            return err;
    }
}

static void store(struct prerender *run, const struct tile *tile, const struct blob *png)
{
    const struct footprint size = footprint_of_file(png->length);
    if (!has_room(run, size)) {
        end_with(run, PRERENDER_QUOTA, 0, tile);
        return;
    }
    for (int held = 0; held < HOLD_MS && is_crowded(run) && !is_stopped(run); held += PAUSE_MS)
        rest(run);
    int err = put_in_time(run, tile, png);
    if (!err) {
        add_size(run, size);
        __atomic_fetch_add(&run->rendered, 1, __ATOMIC_RELAXED);
    } else if (!may_pass(err)) {
        end_with(run, PRERENDER_STORE, err, tile);
    } else if (!is_stopped(run)) {
        end_with(run, err == -EDQUOT ? PRERENDER_CROWDED : PRERENDER_STORE, err, tile);
    }
}

/* Beside an archive: what the cache takes now. */
static void offer(struct prerender *run, const struct tile *tile, const struct blob *png)
{
    const struct footprint size = footprint_of_file(png->length);
    if (has_room(run, size) && disk_cache_put(run->parts.cache, tile, png) == 0)
        add_size(run, size);
    __atomic_fetch_add(&run->rendered, 1, __ATOMIC_RELAXED);
}

/* --- Tiles --------------------------------------------------------------------- */

static void archive(struct prerender *run, const struct tile *tile, const struct blob *png)
{
    int err = mbtiles_put(run->parts.archive, tile->z, tile->x, tile->y, png);
    if (err)
        end_with(run, PRERENDER_ARCHIVE, err, tile);
    else
        __atomic_fetch_add(&run->archived, 1, __ATOMIC_RELAXED);
}

static void make_tile(struct prerender *run, struct render_scratch *scratch, struct part_work *work,
                      const struct tile *tile)
{
    struct blob *png;
    if (disk_cache_get(run->parts.cache, tile, &png) == 0) {
        add_size(run, footprint_of_file(png->length));
        __atomic_fetch_add(&run->found, 1, __ATOMIC_RELAXED);
    } else {
        const uint64_t start = uv_hrtime();
        int err = render_tile(&png, scratch, tile, NULL);
        if (err) {
            end_with(run, PRERENDER_RENDER, err, tile);
            return;
        }
        if (run->parts.archive)
            offer(run, tile, png);
        else
            store(run, tile, png);
        __atomic_fetch_add(&work->ns, uv_hrtime() - start, __ATOMIC_RELAXED);
        __atomic_fetch_add(&work->rendered, 1, __ATOMIC_RELAXED);
    }
    if (run->parts.archive)
        archive(run, tile, png);
    blob_release(png);
    __atomic_fetch_add(&work->done, 1, __ATOMIC_RELAXED);
}

static void make_tiles(void *context, unsigned number)
{
    struct prerender *run = context;
    while (!is_stopped(run)) {
        const uint64_t index = __atomic_fetch_add(&run->next, 1, __ATOMIC_RELAXED);
        struct tile tile;
        if (index >= run->count)
            break;
        const size_t part = tile_plan_get(run->parts.plan, index, &tile);
        make_tile(run, run->stations[number].scratch, &run->parts.work[part], &tile);
    }
}

static void look_for_tiles(void *context, unsigned number)
{
    struct prerender *run = context;
    (void)number;
    while (!is_stopped(run)) {
        uint64_t found = 0, missing = 0,
                 index = __atomic_fetch_add(&run->next, CHUNK, __ATOMIC_RELAXED);
        const uint64_t beyond = index + CHUNK < run->count ? index + CHUNK : run->count;
        if (index >= run->count)
            break;
        for (; index < beyond; index++) {
            struct tile tile;
            tile_plan_get(run->parts.plan, index, &tile);
            if (disk_cache_has(run->parts.cache, &tile))
                found++;
            else
                missing++;
        }
        __atomic_fetch_add(&run->found, found, __ATOMIC_RELAXED);
        __atomic_fetch_add(&run->missing, missing, __ATOMIC_RELAXED);
    }
}

/* --- Life ---------------------------------------------------------------------- */

int prerender_start(struct prerender **out, const struct prerender_parts *parts, bool check)
{
    struct prerender *run = calloc(1, sizeof *run);
    if (!run)
        return -ENOMEM;
    run->parts = *parts;
    run->count = tile_plan_count(parts->plan);
    int err = pthread_mutex_init(&run->lock, NULL) ? -ENOMEM : 0;
    if (err) {
        free(run);
        return err;
    }
    run->stations = calloc(parts->threads, sizeof *run->stations);
    err = run->stations ? 0 : -ENOMEM;
    for (unsigned i = 0; !err && !check && i < parts->threads; i++)
        err = render_scratch_new(&run->stations[i].scratch);
    if (!err)
        err = thread_group_start(&run->group, parts->threads, check ? look_for_tiles : make_tiles,
                                 run);
    if (err) {
        prerender_free(run);
        return err;
    }
    *out = run;
    return 0;
}

bool prerender_wait(struct prerender *run, long ms)
{
    return thread_group_wait(run->group, ms);
}

void prerender_stop(struct prerender *run)
{
    end_with(run, PRERENDER_STOPPED, 0, NULL);
}

void prerender_tally(const struct prerender *run, struct prerender_tally *out)
{
    pthread_mutex_t *lock = (pthread_mutex_t *)&run->lock;
    *out = (struct prerender_tally){
        .total = run->count,
        .found = __atomic_load_n(&run->found, __ATOMIC_RELAXED),
        .rendered = __atomic_load_n(&run->rendered, __ATOMIC_RELAXED),
        .missing = __atomic_load_n(&run->missing, __ATOMIC_RELAXED),
        .archived = __atomic_load_n(&run->archived, __ATOMIC_RELAXED),
        .size = size_of_all(run),
        .pending = __atomic_load_n(&run->pending, __ATOMIC_RELAXED),
    };
    pthread_mutex_lock(lock);
    out->end = run->end;
    out->err = run->err;
    out->tile = run->tile;
    pthread_mutex_unlock(lock);
}

void prerender_free(struct prerender *run)
{
    if (!run)
        return;
    thread_group_free(run->group);
    for (unsigned i = 0; run->stations && i < run->parts.threads; i++)
        render_scratch_free(run->stations[i].scratch);
    free(run->stations);
    pthread_mutex_destroy(&run->lock);
    free(run);
}
