#include "eviction_thread.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <uv.h>

#include "server/core/clock.h"
#include "server/core/thread_group.h"
#include "server/telemetry/log.h"

enum {
    /* Percent of the limit. An eviction begins if less than the margin is free, and ends when twice
     * the margin is. The margin grows if it holds only a few tiles and they come fast. */
    MARGIN_MIN = 5,
    MARGIN_MAX = 25,
    DISK_FULL_SHARE = 20,   /* if the disk is full, a 20th of the usage is evicted */
    RECOUNT_S = 24 * 3600,  /* a recount notices files deleted by hand */
    CHECK_MS = 3600 * 1000, /* between passes if nothing wakes the thread */
    RETRY_MIN_MS = 500,     /* after a pass that failed; doubled each time */
    RETRY_MAX_MS = 60 * 1000,
    OTHER_PROCESS_MS = 50, /* until the next attempt if another process is in a pass */
    TOUCHES = 64,          /* files queued to be touched, at most */
};

/* The goals of the next pass. */
struct goals {
    struct footprint limit;
    struct footprint refused; /* the largest reservation refused since the last pass */
    bool disk_full;           /* the disk was full since the last pass */
    unsigned margin;
};

struct eviction_thread {
    struct eviction *eviction;
    struct quota *quota;
    struct thread_group *thread;
    bool temporaries_removed; /* only used by the thread */
    uv_mutex_t lock;          /* guards all that follows */
    uv_cond_t wake;
    bool stop; /* also atomic, because walks read it */
    bool awake;
    bool force; /* run now, ignoring the retry back-off */
    struct goals goals;
    unsigned touch_count; /* also atomic; only the thread lowers it */
    int touch[TOUCHES];
};

static struct footprint percent_of(struct footprint size, unsigned percent)
{
    return (struct footprint){size.bytes / 100 * percent + size.bytes % 100 * percent / 100,
                              size.files / 100 * percent + size.files % 100 * percent / 100};
}

static bool is_zero(struct footprint size)
{
    return size.bytes == 0 && size.files == 0;
}

/* The larger value for each member. */
static struct footprint footprint_max(struct footprint a, struct footprint b)
{
    return footprint_sum(a, footprint_difference(b, a));
}

static void touch_files(struct eviction_thread *evictor)
{
    while (__atomic_load_n(&evictor->touch_count, __ATOMIC_RELAXED) > 0) {
        uv_mutex_lock(&evictor->lock);
        const int fd =
            evictor->touch[__atomic_sub_fetch(&evictor->touch_count, 1, __ATOMIC_RELAXED)];
        uv_mutex_unlock(&evictor->lock);
        futimens(fd, NULL); /* may fail: another user's file, a read-only file system */
        close(fd);
    }
}

void eviction_thread_touch(struct eviction_thread *evictor, int fd)
{
    uv_mutex_lock(&evictor->lock);
    bool queued = evictor->touch_count < TOUCHES;
    if (queued) {
        evictor->touch[__atomic_fetch_add(&evictor->touch_count, 1, __ATOMIC_RELAXED)] = fd;
        uv_cond_signal(&evictor->wake);
    }
    uv_mutex_unlock(&evictor->lock);
    if (!queued)
        close(fd);
}

static bool go_on(void *context)
{
    struct eviction_thread *evictor = context;
    touch_files(evictor);
    return !__atomic_load_n(&evictor->stop, __ATOMIC_RELAXED);
}

static struct goals take_goals(struct eviction_thread *evictor)
{
    uv_mutex_lock(&evictor->lock);
    struct goals goals = evictor->goals;
    evictor->goals.refused = (struct footprint){0};
    evictor->goals.disk_full = false;
    evictor->awake = evictor->force = false;
    uv_mutex_unlock(&evictor->lock);
    return goals;
}

/* Restore the goals, because another process is in a pass. */
static void restore_goals(struct eviction_thread *evictor, const struct goals *goals)
{
    uv_mutex_lock(&evictor->lock);
    evictor->goals.refused = footprint_max(evictor->goals.refused, goals->refused);
    evictor->goals.disk_full |= goals->disk_full;
    uv_mutex_unlock(&evictor->lock);
}

/* How much to evict if the usage is USED. */
static struct footprint excess(const struct goals *goals, struct footprint used)
{
    struct footprint size = {0};
    if (!footprint_fits(used, percent_of(goals->limit, 100 - goals->margin)))
        size = footprint_difference(used, percent_of(goals->limit, 100 - 2 * goals->margin));
    size = footprint_max(size,
                         footprint_difference(footprint_sum(used, goals->refused), goals->limit));
    if (goals->disk_full)
        size = footprint_max(size, (struct footprint){used.bytes / DISK_FULL_SHARE, 0});
    return size;
}

/* Evict earlier and more if tiles were refused; gradually less if none were. */
static void adapt_margin(struct eviction_thread *evictor, const struct goals *goals)
{
    unsigned margin = is_zero(goals->refused) ? goals->margin - 1 : 2 * goals->margin;
    uv_mutex_lock(&evictor->lock);
    evictor->goals.margin = margin < MARGIN_MIN   ? MARGIN_MIN
                            : margin > MARGIN_MAX ? MARGIN_MAX
                                                  : margin;
    uv_mutex_unlock(&evictor->lock);
}

/* Read whether the usage is KNOWN, and whether a pass is NEEDED. */
static int check(struct eviction_thread *evictor, const struct goals *goals, bool *known,
                 bool *needed)
{
    struct quota_usage usage = {0};
    int err = quota_read(evictor->quota, &usage);
    *known = !err && usage.known;
    *needed = !*known || usage.age >= RECOUNT_S || !is_zero(excess(goals, usage.used));
    return err == -ENOSPC || err == -EDQUOT ? 0 : err;
}

/* Evict, in an eviction pass. Returns 0; -EAGAIN if nothing could be deleted; or a negative code.
 */
static int evict(struct eviction_thread *evictor, struct goals *goals)
{
    struct footprint used, size, freed;
    bool known, needed;
    if (!evictor->temporaries_removed)
        eviction_remove_temporaries(evictor->eviction);
    evictor->temporaries_removed = true;
    /* Another process may just have ended a pass. */
    int err = check(evictor, goals, &known, &needed);
    if (err || !needed)
        return err;
    if (known)
        adapt_margin(evictor, goals);
    err = eviction_count(evictor->eviction, &used);
    if (err && err != -ENOSPC)
        return err;
    goals->disk_full |= err == -ENOSPC;
    size = excess(goals, used);
    if (is_zero(size))
        return err;
    err = eviction_run(evictor->eviction, size, &freed);
    log_line(LOG_DEBUG, "evicted %" PRIu64 " bytes, %" PRIu64 " files from the disk cache",
             freed.bytes, freed.files);
    if (err)
        return err;
    eviction_thread_stored(evictor); /* check again, in case tiles were stored faster */
    return is_zero(freed) ? -EAGAIN : 0;
}

/* Check, and evict if needed. Returns as evict, or -EBUSY if another process is in a pass. */
static int run_pass(struct eviction_thread *evictor)
{
    bool known, needed;
    struct goals goals = take_goals(evictor);
    int err = check(evictor, &goals, &known, &needed);
    if (err || (!needed && evictor->temporaries_removed))
        return err;
    err = quota_eviction_begin(evictor->quota);
    if (err == -EBUSY)
        restore_goals(evictor, &goals);
    if (err)
        return err;
    err = evict(evictor, &goals);
    quota_eviction_end(evictor->quota);
    return err;
}

/* Wait MS, or until the thread is woken; if ONLY_FORCED, until force is set. Touches files
 * meanwhile. Returns false if the thread must end. */
static bool wait_awake(struct eviction_thread *evictor, uint64_t ms, bool only_forced)
{
    const uint64_t deadline = clock_ns(NULL) + ms * NS_PER_MS;
    uv_mutex_lock(&evictor->lock);
    while (!evictor->stop && !evictor->force && (only_forced || !evictor->awake) &&
           clock_ns(NULL) < deadline) {
        if (evictor->touch_count == 0)
            clock_wait(&evictor->wake, &evictor->lock, deadline);
        uv_mutex_unlock(&evictor->lock);
        touch_files(evictor);
        uv_mutex_lock(&evictor->lock);
    }
    bool run = !evictor->stop;
    uv_mutex_unlock(&evictor->lock);
    return run;
}

static void run(void *context, unsigned number)
{
    struct eviction_thread *evictor = context;
    uint64_t retry_ms = 0;
    (void)number;
    do {
        int err = run_pass(evictor);
        retry_ms = !err            ? 0
                   : err == -EBUSY ? OTHER_PROCESS_MS
                   : retry_ms == 0 ? RETRY_MIN_MS
                                   : 2 * retry_ms;
        if (retry_ms > RETRY_MAX_MS)
            retry_ms = RETRY_MAX_MS;
    } while (wait_awake(evictor, retry_ms ? retry_ms : CHECK_MS, retry_ms > 0));
}

static void wake(struct eviction_thread *evictor)
{
    evictor->awake = true;
    uv_cond_signal(&evictor->wake);
}

struct footprint eviction_thread_low_watermark(struct footprint limit)
{
    return percent_of(limit, 100 - 2 * MARGIN_MIN);
}

void eviction_thread_set_limit(struct eviction_thread *evictor, struct footprint limit)
{
    uv_mutex_lock(&evictor->lock);
    evictor->goals.limit = limit;
    evictor->force = true;
    wake(evictor);
    uv_mutex_unlock(&evictor->lock);
}

struct footprint eviction_thread_limit(struct eviction_thread *evictor)
{
    uv_mutex_lock(&evictor->lock);
    struct footprint limit = evictor->goals.limit;
    uv_mutex_unlock(&evictor->lock);
    return limit;
}

void eviction_thread_stored(struct eviction_thread *evictor)
{
    struct footprint used;
    bool known = quota_last(evictor->quota, &used);
    uv_mutex_lock(&evictor->lock);
    if (!known ||
        !footprint_fits(used, percent_of(evictor->goals.limit, 100 - evictor->goals.margin)))
        wake(evictor);
    uv_mutex_unlock(&evictor->lock);
}

void eviction_thread_refused(struct eviction_thread *evictor, struct footprint size)
{
    struct goals *goals = &evictor->goals;
    uv_mutex_lock(&evictor->lock);
    /* Nothing is evicted for a tile that can never fit. */
    if (footprint_fits(footprint_sum(size, quota_of_empty_cache()), goals->limit))
        goals->refused = footprint_max(goals->refused, size);
    wake(evictor);
    uv_mutex_unlock(&evictor->lock);
}

void eviction_thread_disk_full(struct eviction_thread *evictor)
{
    uv_mutex_lock(&evictor->lock);
    evictor->goals.disk_full = true;
    wake(evictor);
    uv_mutex_unlock(&evictor->lock);
}

int eviction_thread_new(struct eviction_thread **out, const struct eviction_parts *parts,
                        struct footprint limit)
{
    struct eviction_parts own = *parts;
    struct eviction_thread *evictor = calloc(1, sizeof *evictor);
    if (!evictor)
        return -ENOMEM;
    evictor->quota = parts->quota;
    evictor->goals = (struct goals){.limit = limit, .margin = MARGIN_MIN};
    own.go_on = go_on;
    own.go_on_context = evictor;
    int err = eviction_new(&evictor->eviction, &own);
    if (err)
        goto fail_eviction;
    err = uv_mutex_init(&evictor->lock);
    if (err)
        goto fail_lock;
    err = uv_cond_init(&evictor->wake);
    if (err)
        goto fail_wake;
    err = thread_group_start(&evictor->thread, 1, run, evictor);
    if (err)
        goto fail_thread;
    *out = evictor;
    return 0;

fail_thread:
    uv_cond_destroy(&evictor->wake);
fail_wake:
    uv_mutex_destroy(&evictor->lock);
fail_lock:
    eviction_free(evictor->eviction);
fail_eviction:
    free(evictor);
    return err;
}

void eviction_thread_free(struct eviction_thread *evictor)
{
    if (!evictor)
        return;
    uv_mutex_lock(&evictor->lock);
    __atomic_store_n(&evictor->stop, true, __ATOMIC_RELAXED);
    uv_cond_signal(&evictor->wake);
    uv_mutex_unlock(&evictor->lock);
    thread_group_free(evictor->thread);
    touch_files(evictor);
    uv_cond_destroy(&evictor->wake);
    uv_mutex_destroy(&evictor->lock);
    eviction_free(evictor->eviction);
    free(evictor);
}
