#include "eviction_thread.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "server/telemetry/log.h"

enum {
    /* Percent of the limit: a sweep begins where less is free, and goes on until twice as much is.
     * Where that is but a few tiles and they come fast, it must be more. */
    LEAST_MARGIN = 5,
    MOST_MARGIN = 25,
    FULL_SHARE = 20,            /* of what there is, one part goes where the disk is full */
    SURVEY_SECONDS = 24 * 3600, /* after that files deleted by hand are noticed */
    LOOK_MS = 3600 * 1000,
    RETRY_MS = 500, /* the first wait after a sweep in vain, and the longest: */
    LONGEST_RETRY_MS = 60 * 1000,
    TURN_MS = 50, /* until it is asked again whether another process has done sweeping */
    TOUCHES = 64, /* files that wait to be touched; more are not */
};

struct sweeper {
    struct sweep *sweep;
    struct usage *usage;
    pthread_t thread;
    bool tidied;          /* its own: what the dead left is gone */
    pthread_mutex_t lock; /* for all that follows */
    pthread_cond_t wake;
    bool stop; /* atomic too: read in mid-walk */
    bool awake, disk_full;
    bool hurry;      /* awake, whatever was in vain before */
    unsigned margin; /* percent */
    struct footprint limit, refused;
    unsigned touch_count; /* atomic too */
    int touch[TOUCHES];
};

static struct footprint percent_of(struct footprint size, unsigned percent)
{
    return (struct footprint){size.bytes / 100 * percent + size.bytes % 100 * percent / 100,
                              size.files / 100 * percent + size.files % 100 * percent / 100};
}

static bool is_nothing(struct footprint size)
{
    return size.bytes == 0 && size.files == 0;
}

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static struct footprint footprint_larger(struct footprint a, struct footprint b)
{
    return (struct footprint){larger(a.bytes, b.bytes), larger(a.files, b.files)};
}

/* --- Touching ---------------------------------------------------------------- */

static void touch_waiting(struct sweeper *sweeper)
{
    int touch[TOUCHES];
    if (__atomic_load_n(&sweeper->touch_count, __ATOMIC_RELAXED) == 0)
        return;
    pthread_mutex_lock(&sweeper->lock);
    unsigned count = sweeper->touch_count;
    for (unsigned i = 0; i < count; i++)
        touch[i] = sweeper->touch[i];
    __atomic_store_n(&sweeper->touch_count, 0, __ATOMIC_RELAXED);
    pthread_mutex_unlock(&sweeper->lock);
    for (unsigned i = 0; i < count; i++) {
        futimens(touch[i], NULL); /* or not: someone else's file, a read-only disk */
        close(touch[i]);
    }
}

void sweeper_touch(struct sweeper *sweeper, int fd)
{
    pthread_mutex_lock(&sweeper->lock);
    bool room = sweeper->touch_count < TOUCHES;
    if (room) {
        sweeper->touch[sweeper->touch_count] = fd;
        __atomic_store_n(&sweeper->touch_count, sweeper->touch_count + 1, __ATOMIC_RELAXED);
        pthread_cond_signal(&sweeper->wake);
    }
    pthread_mutex_unlock(&sweeper->lock);
    if (!room)
        close(fd);
}

/* --- Sweeping ---------------------------------------------------------------- */

static bool on_go_on(void *context)
{
    struct sweeper *sweeper = context;
    touch_waiting(sweeper);
    return !__atomic_load_n(&sweeper->stop, __ATOMIC_RELAXED);
}

/* What there is to do, as it was asked for since the last time. */
struct wishes {
    struct footprint limit, refused;
    unsigned margin;
    bool disk_full;
};

static void take_wishes(struct sweeper *sweeper, struct wishes *wishes)
{
    pthread_mutex_lock(&sweeper->lock);
    *wishes =
        (struct wishes){sweeper->limit, sweeper->refused, sweeper->margin, sweeper->disk_full};
    sweeper->refused = (struct footprint){0};
    sweeper->disk_full = sweeper->awake = sweeper->hurry = false;
    pthread_mutex_unlock(&sweeper->lock);
}

/* What could not be done now, to be taken again. */
static void keep_wishes(struct sweeper *sweeper, const struct wishes *wishes)
{
    pthread_mutex_lock(&sweeper->lock);
    sweeper->refused = footprint_larger(sweeper->refused, wishes->refused);
    sweeper->disk_full |= wishes->disk_full;
    pthread_mutex_unlock(&sweeper->lock);
}

/* How much must go, of USED. */
static struct footprint room_wanted(const struct wishes *wishes, struct footprint used)
{
    struct footprint room = {0};
    if (!footprint_fits(used, percent_of(wishes->limit, 100 - wishes->margin)))
        room = footprint_less(used, percent_of(wishes->limit, 100 - 2 * wishes->margin));
    if (!is_nothing(wishes->refused))
        room = footprint_larger(
            room, footprint_less(footprint_sum(used, wishes->refused), wishes->limit));
    if (wishes->disk_full)
        room.bytes = larger(room.bytes, used.bytes / FULL_SHARE);
    return room;
}

/* Sweep earlier and further where tiles were refused, and again less so where none were. */
static void adapt(struct sweeper *sweeper, const struct wishes *wishes)
{
    unsigned margin = is_nothing(wishes->refused) ? wishes->margin - 1 : 2 * wishes->margin;
    pthread_mutex_lock(&sweeper->lock);
    sweeper->margin = margin < LEAST_MARGIN  ? LEAST_MARGIN
                      : margin > MOST_MARGIN ? MOST_MARGIN
                                             : margin;
    pthread_mutex_unlock(&sweeper->lock);
}

/* Whether the books, where they can be had and are KNOWN, call for a sweep. */
static int ask(struct sweeper *sweeper, const struct wishes *wishes, bool *known, bool *wanted)
{
    struct footprint used;
    uint64_t age;
    *known = false;
    int err = usage_read(sweeper->usage, &used, known, &age);
    *known = *known && !err;
    *wanted = !*known || age >= SURVEY_SECONDS || !is_nothing(room_wanted(wishes, used));
    return err == -ENOSPC || err == -EDQUOT ? 0 : err;
}

/* Count, for it is wanted; how much ROOM is to be made then. */
static int count(struct sweeper *sweeper, struct wishes *wishes, struct footprint *room)
{
    struct footprint used;
    bool known;
    uint64_t age;
    int err = sweep_survey(sweeper->sweep, &used);
    if (err == -ENOSPC)
        wishes->disk_full = true;
    else if (!err)
        err = usage_read(sweeper->usage, &used, &known, &age);
    if (err && err != -ENOSPC)
        return err;
    *room = room_wanted(wishes, used);
    return is_nothing(*room) ? err : 0;
}

/* Its turn has come: no other process sweeps, but one may just have done what was wanted. */
static int sweep(struct sweeper *sweeper, struct wishes *wishes)
{
    struct footprint room, freed;
    bool known, wanted;
    if (!sweeper->tidied)
        sweep_temporaries(sweeper->sweep);
    sweeper->tidied = true;
    int err = ask(sweeper, wishes, &known, &wanted);
    if (err || !wanted)
        return err;
    if (known)
        adapt(sweeper, wishes);
    err = count(sweeper, wishes, &room);
    if (err || is_nothing(room))
        return err;
    err = sweep_evict(sweeper->sweep, room, &freed);
    log_line(LOG_DEBUG, "swept %" PRIu64 " bytes, %" PRIu64 " files from the disk cache",
             freed.bytes, freed.files);
    if (err)
        return err;
    sweeper_stored(sweeper); /* others go on storing: look again, if they were faster */
    return is_nothing(freed) ? -EAGAIN : 0;
}

/* One look, and a sweep where it is needed. Returns 0; -EAGAIN where it did not help; -EBUSY where
 * another process sweeps; or a negative code. */
static int look(struct sweeper *sweeper)
{
    struct wishes wishes;
    bool known, wanted;
    take_wishes(sweeper, &wishes);
    int err = ask(sweeper, &wishes, &known, &wanted);
    if (err || (!wanted && sweeper->tidied))
        return err;
    err = sweep_begin(sweeper->sweep);
    if (err == -EBUSY)
        keep_wishes(sweeper, &wishes);
    if (err)
        return err;
    err = sweep(sweeper, &wishes);
    sweep_end(sweeper->sweep);
    return err;
}

/* Until someone wakes it, or MS have passed; where DEAF, only for what is new. */
static bool wait_awake(struct sweeper *sweeper, long ms, bool deaf)
{
    struct timespec until;
    int err = 0;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += ms / 1000;
    until.tv_nsec += ms % 1000 * 1000000;
    if (until.tv_nsec >= 1000000000) {
        until.tv_sec++;
        until.tv_nsec -= 1000000000;
    }
    pthread_mutex_lock(&sweeper->lock);
    while (!sweeper->stop && err != ETIMEDOUT && !sweeper->hurry && (deaf || !sweeper->awake)) {
        if (sweeper->touch_count == 0)
            err = pthread_cond_timedwait(&sweeper->wake, &sweeper->lock, &until);
        pthread_mutex_unlock(&sweeper->lock);
        touch_waiting(sweeper);
        pthread_mutex_lock(&sweeper->lock);
    }
    bool go_on = !sweeper->stop;
    pthread_mutex_unlock(&sweeper->lock);
    return go_on;
}

static void *run(void *context)
{
    struct sweeper *sweeper = context;
    long pause = 0;
    do {
        int err = look(sweeper);
        pause = !err ? 0 : err == -EBUSY ? TURN_MS : pause ? 2 * pause : RETRY_MS;
        if (pause > LONGEST_RETRY_MS)
            pause = LONGEST_RETRY_MS;
    } while (wait_awake(sweeper, pause ? pause : LOOK_MS, pause > 0));
    return NULL;
}

/* --- From other threads ------------------------------------------------------ */

static void wake(struct sweeper *sweeper)
{
    sweeper->awake = true;
    pthread_cond_signal(&sweeper->wake);
}

struct footprint sweeper_leaves(struct footprint limit)
{
    return percent_of(limit, 100 - 2 * LEAST_MARGIN);
}

void sweeper_limit(struct sweeper *sweeper, struct footprint limit)
{
    pthread_mutex_lock(&sweeper->lock);
    sweeper->limit = limit;
    sweeper->hurry = true;
    wake(sweeper);
    pthread_mutex_unlock(&sweeper->lock);
}

struct footprint sweeper_get_limit(struct sweeper *sweeper)
{
    pthread_mutex_lock(&sweeper->lock);
    struct footprint limit = sweeper->limit;
    pthread_mutex_unlock(&sweeper->lock);
    return limit;
}

void sweeper_stored(struct sweeper *sweeper)
{
    struct footprint used;
    bool known = usage_last(sweeper->usage, &used);
    pthread_mutex_lock(&sweeper->lock);
    if (!known || !footprint_fits(used, percent_of(sweeper->limit, 100 - sweeper->margin)))
        wake(sweeper);
    pthread_mutex_unlock(&sweeper->lock);
}

void sweeper_refused(struct sweeper *sweeper, struct footprint size)
{
    pthread_mutex_lock(&sweeper->lock);
    /* For what can never fit nothing need go. */
    if (footprint_fits(footprint_sum(size, footprint_of_nothing()), sweeper->limit))
        sweeper->refused = footprint_larger(sweeper->refused, size);
    wake(sweeper);
    pthread_mutex_unlock(&sweeper->lock);
}

void sweeper_disk_full(struct sweeper *sweeper)
{
    pthread_mutex_lock(&sweeper->lock);
    sweeper->disk_full = true;
    wake(sweeper);
    pthread_mutex_unlock(&sweeper->lock);
}

/* --- Life ---------------------------------------------------------------------- */

static int make_lock(struct sweeper *sweeper)
{
    pthread_condattr_t monotonic;
    if (pthread_mutex_init(&sweeper->lock, NULL))
        return -ENOMEM;
    int err = pthread_condattr_init(&monotonic);
    if (!err) {
        pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
        err = pthread_cond_init(&sweeper->wake, &monotonic);
        pthread_condattr_destroy(&monotonic);
    }
    if (err)
        pthread_mutex_destroy(&sweeper->lock);
    return err ? -ENOMEM : 0;
}

/* Signals are for the others. */
static int start_thread(struct sweeper *sweeper)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int err = pthread_create(&sweeper->thread, NULL, run, sweeper);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return -err;
}

int sweeper_new(struct sweeper **out, const struct sweep_parts *parts, struct footprint limit)
{
    struct sweep_parts own = *parts;
    struct sweeper *sweeper = calloc(1, sizeof *sweeper);
    if (!sweeper)
        return -ENOMEM;
    sweeper->usage = parts->usage;
    sweeper->limit = limit;
    sweeper->margin = LEAST_MARGIN;
    own.go_on = on_go_on;
    own.sweeper = sweeper;
    int err = sweep_new(&sweeper->sweep, &own);
    if (err)
        goto fail_sweep;
    err = make_lock(sweeper);
    if (err)
        goto fail_lock;
    err = start_thread(sweeper);
    if (err)
        goto fail_thread;
    *out = sweeper;
    return 0;

fail_thread:
    pthread_cond_destroy(&sweeper->wake);
    pthread_mutex_destroy(&sweeper->lock);
fail_lock:
    sweep_free(sweeper->sweep);
fail_sweep:
    free(sweeper);
    return err;
}

void sweeper_free(struct sweeper *sweeper)
{
    if (!sweeper)
        return;
    pthread_mutex_lock(&sweeper->lock);
    __atomic_store_n(&sweeper->stop, true, __ATOMIC_RELAXED);
    pthread_cond_signal(&sweeper->wake);
    pthread_mutex_unlock(&sweeper->lock);
    pthread_join(sweeper->thread, NULL);
    touch_waiting(sweeper);
    pthread_cond_destroy(&sweeper->wake);
    pthread_mutex_destroy(&sweeper->lock);
    sweep_free(sweeper->sweep);
    free(sweeper);
}
