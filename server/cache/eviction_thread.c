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

struct eviction_thread {
    struct eviction *sweep;
    struct quota *usage;
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

static void touch_waiting(struct eviction_thread *evictor)
{
    int touch[TOUCHES];
    if (__atomic_load_n(&evictor->touch_count, __ATOMIC_RELAXED) == 0)
        return;
    pthread_mutex_lock(&evictor->lock);
    unsigned count = evictor->touch_count;
    for (unsigned i = 0; i < count; i++)
        touch[i] = evictor->touch[i];
    __atomic_store_n(&evictor->touch_count, 0, __ATOMIC_RELAXED);
    pthread_mutex_unlock(&evictor->lock);
    for (unsigned i = 0; i < count; i++) {
        futimens(touch[i], NULL); /* or not: someone else's file, a read-only disk */
        close(touch[i]);
    }
}

void eviction_thread_touch(struct eviction_thread *evictor, int fd)
{
    pthread_mutex_lock(&evictor->lock);
    bool room = evictor->touch_count < TOUCHES;
    if (room) {
        evictor->touch[evictor->touch_count] = fd;
        __atomic_store_n(&evictor->touch_count, evictor->touch_count + 1, __ATOMIC_RELAXED);
        pthread_cond_signal(&evictor->wake);
    }
    pthread_mutex_unlock(&evictor->lock);
    if (!room)
        close(fd);
}

/* --- Sweeping ---------------------------------------------------------------- */

static bool on_go_on(void *context)
{
    struct eviction_thread *evictor = context;
    touch_waiting(evictor);
    return !__atomic_load_n(&evictor->stop, __ATOMIC_RELAXED);
}

/* What there is to do, as it was asked for since the last time. */
struct wishes {
    struct footprint limit, refused;
    unsigned margin;
    bool disk_full;
};

static void take_wishes(struct eviction_thread *evictor, struct wishes *wishes)
{
    pthread_mutex_lock(&evictor->lock);
    *wishes =
        (struct wishes){evictor->limit, evictor->refused, evictor->margin, evictor->disk_full};
    evictor->refused = (struct footprint){0};
    evictor->disk_full = evictor->awake = evictor->hurry = false;
    pthread_mutex_unlock(&evictor->lock);
}

/* What could not be done now, to be taken again. */
static void keep_wishes(struct eviction_thread *evictor, const struct wishes *wishes)
{
    pthread_mutex_lock(&evictor->lock);
    evictor->refused = footprint_larger(evictor->refused, wishes->refused);
    evictor->disk_full |= wishes->disk_full;
    pthread_mutex_unlock(&evictor->lock);
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
static void adapt(struct eviction_thread *evictor, const struct wishes *wishes)
{
    unsigned margin = is_nothing(wishes->refused) ? wishes->margin - 1 : 2 * wishes->margin;
    pthread_mutex_lock(&evictor->lock);
    evictor->margin = margin < LEAST_MARGIN  ? LEAST_MARGIN
                      : margin > MOST_MARGIN ? MOST_MARGIN
                                             : margin;
    pthread_mutex_unlock(&evictor->lock);
}

/* Whether the books, where they can be had and are KNOWN, call for a sweep. */
static int ask(struct eviction_thread *evictor, const struct wishes *wishes, bool *known,
               bool *wanted)
{
    struct footprint used;
    uint64_t age;
    *known = false;
    int err = quota_read(evictor->usage, &used, known, &age);
    *known = *known && !err;
    *wanted = !*known || age >= SURVEY_SECONDS || !is_nothing(room_wanted(wishes, used));
    return err == -ENOSPC || err == -EDQUOT ? 0 : err;
}

/* Count, for it is wanted; how much ROOM is to be made then. */
static int count(struct eviction_thread *evictor, struct wishes *wishes, struct footprint *room)
{
    struct footprint used;
    bool known;
    uint64_t age;
    int err = eviction_count(evictor->sweep, &used);
    if (err == -ENOSPC)
        wishes->disk_full = true;
    else if (!err)
        err = quota_read(evictor->usage, &used, &known, &age);
    if (err && err != -ENOSPC)
        return err;
    *room = room_wanted(wishes, used);
    return is_nothing(*room) ? err : 0;
}

/* Its turn has come: no other process sweeps, but one may just have done what was wanted. */
static int sweep(struct eviction_thread *evictor, struct wishes *wishes)
{
    struct footprint room, freed;
    bool known, wanted;
    if (!evictor->tidied)
        eviction_temporaries(evictor->sweep);
    evictor->tidied = true;
    int err = ask(evictor, wishes, &known, &wanted);
    if (err || !wanted)
        return err;
    if (known)
        adapt(evictor, wishes);
    err = count(evictor, wishes, &room);
    if (err || is_nothing(room))
        return err;
    err = eviction_run(evictor->sweep, room, &freed);
    log_line(LOG_DEBUG, "swept %" PRIu64 " bytes, %" PRIu64 " files from the disk cache",
             freed.bytes, freed.files);
    if (err)
        return err;
    eviction_thread_stored(evictor); /* others go on storing: look again, if they were faster */
    return is_nothing(freed) ? -EAGAIN : 0;
}

/* One look, and a sweep where it is needed. Returns 0; -EAGAIN where it did not help; -EBUSY where
 * another process sweeps; or a negative code. */
static int look(struct eviction_thread *evictor)
{
    struct wishes wishes;
    bool known, wanted;
    take_wishes(evictor, &wishes);
    int err = ask(evictor, &wishes, &known, &wanted);
    if (err || (!wanted && evictor->tidied))
        return err;
    err = eviction_begin(evictor->sweep);
    if (err == -EBUSY)
        keep_wishes(evictor, &wishes);
    if (err)
        return err;
    err = sweep(evictor, &wishes);
    eviction_end(evictor->sweep);
    return err;
}

/* Until someone wakes it, or MS have passed; where DEAF, only for what is new. */
static bool wait_awake(struct eviction_thread *evictor, long ms, bool deaf)
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
    pthread_mutex_lock(&evictor->lock);
    while (!evictor->stop && err != ETIMEDOUT && !evictor->hurry && (deaf || !evictor->awake)) {
        if (evictor->touch_count == 0)
            err = pthread_cond_timedwait(&evictor->wake, &evictor->lock, &until);
        pthread_mutex_unlock(&evictor->lock);
        touch_waiting(evictor);
        pthread_mutex_lock(&evictor->lock);
    }
    bool go_on = !evictor->stop;
    pthread_mutex_unlock(&evictor->lock);
    return go_on;
}

static void *run(void *context)
{
    struct eviction_thread *evictor = context;
    long pause = 0;
    do {
        int err = look(evictor);
        pause = !err ? 0 : err == -EBUSY ? TURN_MS : pause ? 2 * pause : RETRY_MS;
        if (pause > LONGEST_RETRY_MS)
            pause = LONGEST_RETRY_MS;
    } while (wait_awake(evictor, pause ? pause : LOOK_MS, pause > 0));
    return NULL;
}

/* --- From other threads ------------------------------------------------------ */

static void wake(struct eviction_thread *evictor)
{
    evictor->awake = true;
    pthread_cond_signal(&evictor->wake);
}

struct footprint eviction_thread_low_watermark(struct footprint limit)
{
    return percent_of(limit, 100 - 2 * LEAST_MARGIN);
}

void eviction_thread_set_limit(struct eviction_thread *evictor, struct footprint limit)
{
    pthread_mutex_lock(&evictor->lock);
    evictor->limit = limit;
    evictor->hurry = true;
    wake(evictor);
    pthread_mutex_unlock(&evictor->lock);
}

struct footprint eviction_thread_get_limit(struct eviction_thread *evictor)
{
    pthread_mutex_lock(&evictor->lock);
    struct footprint limit = evictor->limit;
    pthread_mutex_unlock(&evictor->lock);
    return limit;
}

void eviction_thread_stored(struct eviction_thread *evictor)
{
    struct footprint used;
    bool known = quota_last(evictor->usage, &used);
    pthread_mutex_lock(&evictor->lock);
    if (!known || !footprint_fits(used, percent_of(evictor->limit, 100 - evictor->margin)))
        wake(evictor);
    pthread_mutex_unlock(&evictor->lock);
}

void eviction_thread_refused(struct eviction_thread *evictor, struct footprint size)
{
    pthread_mutex_lock(&evictor->lock);
    /* For what can never fit nothing need go. */
    if (footprint_fits(footprint_sum(size, footprint_of_nothing()), evictor->limit))
        evictor->refused = footprint_larger(evictor->refused, size);
    wake(evictor);
    pthread_mutex_unlock(&evictor->lock);
}

void eviction_thread_disk_full(struct eviction_thread *evictor)
{
    pthread_mutex_lock(&evictor->lock);
    evictor->disk_full = true;
    wake(evictor);
    pthread_mutex_unlock(&evictor->lock);
}

/* --- Life ---------------------------------------------------------------------- */

static int make_lock(struct eviction_thread *evictor)
{
    pthread_condattr_t monotonic;
    if (pthread_mutex_init(&evictor->lock, NULL))
        return -ENOMEM;
    int err = pthread_condattr_init(&monotonic);
    if (!err) {
        pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
        err = pthread_cond_init(&evictor->wake, &monotonic);
        pthread_condattr_destroy(&monotonic);
    }
    if (err)
        pthread_mutex_destroy(&evictor->lock);
    return err ? -ENOMEM : 0;
}

/* Signals are for the others. */
static int start_thread(struct eviction_thread *evictor)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int err = pthread_create(&evictor->thread, NULL, run, evictor);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return -err;
}

int eviction_thread_new(struct eviction_thread **out, const struct eviction_parts *parts,
                        struct footprint limit)
{
    struct eviction_parts own = *parts;
    struct eviction_thread *evictor = calloc(1, sizeof *evictor);
    if (!evictor)
        return -ENOMEM;
    evictor->usage = parts->usage;
    evictor->limit = limit;
    evictor->margin = LEAST_MARGIN;
    own.go_on = on_go_on;
    own.evictor = evictor;
    int err = eviction_new(&evictor->sweep, &own);
    if (err)
        goto fail_sweep;
    err = make_lock(evictor);
    if (err)
        goto fail_lock;
    err = start_thread(evictor);
    if (err)
        goto fail_thread;
    *out = evictor;
    return 0;

fail_thread:
    pthread_cond_destroy(&evictor->wake);
    pthread_mutex_destroy(&evictor->lock);
fail_lock:
    eviction_free(evictor->sweep);
fail_sweep:
    free(evictor);
    return err;
}

void eviction_thread_free(struct eviction_thread *evictor)
{
    if (!evictor)
        return;
    pthread_mutex_lock(&evictor->lock);
    __atomic_store_n(&evictor->stop, true, __ATOMIC_RELAXED);
    pthread_cond_signal(&evictor->wake);
    pthread_mutex_unlock(&evictor->lock);
    pthread_join(evictor->thread, NULL);
    touch_waiting(evictor);
    pthread_cond_destroy(&evictor->wake);
    pthread_mutex_destroy(&evictor->lock);
    eviction_free(evictor->sweep);
    free(evictor);
}
