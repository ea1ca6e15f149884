/* The time: clocks that a test moves or stops, and sleeps by these clocks. */
#include "preload.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

enum { NS_PER_S = 1000000000, NS_PER_MS = 1000000 };

/* By a system call: allocators read clocks before symbols can be looked up. */
static int64_t real_time(clockid_t clock)
{
    struct timespec now;
    syscall(SYS_clock_gettime, clock, &now);
    return now.tv_sec * (int64_t)NS_PER_S + now.tv_nsec;
}

static struct timespec timespec_of(int64_t ns)
{
    return (struct timespec){.tv_sec = ns / NS_PER_S, .tv_nsec = ns % NS_PER_S};
}

static uint8_t edition(void)
{
    return __atomic_load_n(&shared->edition, __ATOMIC_SEQ_CST);
}

static struct clocks clocks(void)
{
    for (uint8_t now = edition(), before;;) {
        const struct clocks clocks = shared->clocks[now % 2];
        __atomic_thread_fence(__ATOMIC_SEQ_CST);
        before = now;
        now = edition();
        if (now == before)
            return clocks;
    }
}

/* A clock that is frozen does not step back: it stands at the latest time that any thread has read,
 * rounded up to libuv's ms. */
static int64_t steady_now(void)
{
    const struct clocks set = clocks();
    int64_t latest = __atomic_load_n(&shared->latest, __ATOMIC_SEQ_CST);

    if (set.frozen) {
        const int64_t at = (latest > set.least ? latest : set.least) + set.steady;
        return (at + NS_PER_MS - 1) / NS_PER_MS * NS_PER_MS;
    }
    const int64_t now = real_time(CLOCK_MONOTONIC);
    while (latest < now && !__atomic_compare_exchange_n(&shared->latest, &latest, now, true,
                                                        __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
        ;
    return clocks().frozen ? steady_now() : now + set.steady;
}

int clock_gettime(clockid_t clock, struct timespec *now)
{
    if (!shared)
        return (int)syscall(SYS_clock_gettime, clock, now);
    switch (clock) {
    case CLOCK_REALTIME:
    case CLOCK_REALTIME_COARSE:
        *now = timespec_of(real_time(clock) + clocks().wall);
        return 0;
    case CLOCK_MONOTONIC:
    case CLOCK_MONOTONIC_COARSE:
    case CLOCK_MONOTONIC_RAW:
    case CLOCK_BOOTTIME:
        *now = timespec_of(directory ? steady_now() : real_time(clock));
        return 0;
    default:
        return (int)syscall(SYS_clock_gettime, clock, now);
    }
}

time_t time(time_t *out)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (out)
        *out = now.tv_sec;
    return now.tv_sec;
}

int gettimeofday(struct timeval *restrict out, void *restrict zone)
{
    struct timespec now;
    (void)zone;
    clock_gettime(CLOCK_REALTIME, &now);
    *out = (struct timeval){.tv_sec = now.tv_sec, .tv_usec = now.tv_nsec / 1000};
    return 0;
}

/* --- Sleep -------------------------------------------------------------------- */

/*
 * No timer of the system follows a clock that the test moves. So a thread sleeps in slices, and
 * looks at the clock and the edition between them. "An edition is slept through" means: after the
 * thread read it, its time had not come, and there was nothing to wake it. Hence the thread's work
 * is done, unless another thread gives it some, which counts as a turn. preload.mjs waits for two
 * editions without a turn.
 */
enum { SLICE_MS = 8, RUNNING_SLICE_MS = 20 };

static int64_t slice(int64_t left)
{
    const int64_t most = (clocks().frozen ? SLICE_MS : RUNNING_SLICE_MS) * (int64_t)NS_PER_MS;
    return left < most ? left : most;
}

static struct timespec slice_end(int64_t left)
{
    return timespec_of(real_time(CLOCK_MONOTONIC) + slice(left));
}

static void count_turn(void)
{
    __atomic_add_fetch(&shared->turns, 1, __ATOMIC_SEQ_CST);
}

static struct sleeper *new_place(int32_t tid)
{
    for (struct sleeper *place = shared->sleepers; place < shared->sleepers + SLEEPERS; place++) {
        int32_t unused = 0;
        if (__atomic_compare_exchange_n(&place->pid, &unused, getpid(), false, __ATOMIC_SEQ_CST,
                                        __ATOMIC_SEQ_CST)) {
            __atomic_store_n(&place->seen, 0, __ATOMIC_SEQ_CST);
            __atomic_store_n(&place->tid, tid, __ATOMIC_SEQ_CST);
            return place;
        }
    }
    static const char why[] = "preload: too many threads\n";
    syscall(SYS_write, STDERR_FILENO, why, sizeof why - 1);
    _exit(126);
}

static _Thread_local struct sleeper *mine;

/* This thread's place; its process may have been forked. */
static struct sleeper *self(void)
{
    if (!mine || mine->pid != getpid())
        mine = new_place(gettid());
    return mine;
}

struct beginning {
    void *(*run)(void *context);
    void *context;
    struct sleeper *place;
};

static void *begin(void *context)
{
    const struct beginning beginning = *(struct beginning *)context;
    free(context);
    mine = beginning.place;
    __atomic_store_n(&mine->tid, gettid(), __ATOMIC_SEQ_CST);
    void *result = beginning.run(beginning.context);
    count_turn();
    __atomic_store_n(&mine->pid, 0, __ATOMIC_SEQ_CST);
    return result;
}

/* A new thread is awake before it runs. Until then its place has the number of the first thread. */
int pthread_create(pthread_t *restrict thread, const pthread_attr_t *restrict attributes,
                   void *(*run)(void *), void *restrict context)
{
    struct beginning *beginning = directory ? NEXT(malloc)(sizeof *beginning) : NULL;
    if (!beginning)
        return NEXT(pthread_create)(thread, attributes, run, context);
    *beginning = (struct beginning){run, context, new_place(getpid())};
    struct sleeper *place = beginning->place;
    const int err = NEXT(pthread_create)(thread, attributes, begin, beginning);
    if (err) {
        __atomic_store_n(&place->pid, 0, __ATOMIC_SEQ_CST);
        free(beginning);
    }
    return err;
}

static void slept_through(uint8_t seen)
{
    __atomic_store_n(&self()->seen, seen + 1U, __ATOMIC_SEQ_CST);
}

static void wake(void)
{
    count_turn();
    __atomic_store_n(&self()->seen, 0, __ATOMIC_SEQ_CST);
}

void sleep_while(const int32_t *set, int32_t ms)
{
    const int64_t due = steady_now() + ms * (int64_t)NS_PER_MS;

    for (;;) {
        const uint8_t seen = edition();
        const int64_t left = due - steady_now();
        if (!__atomic_load_n(set, __ATOMIC_SEQ_CST) || left <= 0)
            break;
        slept_through(seen);
        const struct timespec step = timespec_of(slice(left));
        nanosleep(&step, NULL);
    }
    wake();
}

static int epoll_sleep(int set, struct epoll_event *events, int most, int ms,
                       const sigset_t *signals)
{
    const int64_t due = ms < 0 ? INT64_MAX : steady_now() + ms * (int64_t)NS_PER_MS;

    for (;;) {
        const uint8_t seen = edition();
        const int64_t left = due - steady_now();
        /* Rounded up: a loop would turn again if it woke within its last ms. */
        const int64_t real = left > 0 ? (slice(left) + NS_PER_MS - 1) / NS_PER_MS : 0;
        int count = NEXT(epoll_pwait)(set, events, most, 0, signals);
        if (count == 0 && left > 0) {
            slept_through(seen);
            count = NEXT(epoll_pwait)(set, events, most, (int)real, signals);
            if (count == 0)
                continue;
        }
        wake();
        return count;
    }
}

/* libuv calls this one from 1.46 on. */
int epoll_pwait(int set, struct epoll_event *events, int most, int ms, const sigset_t *signals)
{
    if (directory && ms != 0)
        return epoll_sleep(set, events, most, ms, signals);
    if (directory)
        count_turn();
    return NEXT(epoll_pwait)(set, events, most, ms, signals);
}

int epoll_wait(int set, struct epoll_event *events, int most, int ms)
{
    return epoll_pwait(set, events, most, ms, NULL);
}

int sem_clockwait(sem_t *restrict semaphore, clockid_t clock, const struct timespec *restrict until)
{
    if (!directory || clock != CLOCK_MONOTONIC)
        return NEXT(sem_clockwait)(semaphore, clock, until);
    const int64_t due = until->tv_sec * (int64_t)NS_PER_S + until->tv_nsec;
    for (;;) {
        const uint8_t seen = edition();
        const int64_t left = due - steady_now();
        struct timespec end = {0};
        int err = NEXT(sem_clockwait)(semaphore, clock, &end);
        if (err && errno == ETIMEDOUT && left > 0) {
            slept_through(seen);
            end = slice_end(left);
            err = NEXT(sem_clockwait)(semaphore, clock, &end);
            if (err && errno == ETIMEDOUT)
                continue;
        }
        wake();
        return err;
    }
}

/*
 * After a slice, whoever waits for a condition is woken for no reason, as POSIX allows, and looks
 * at what it waits for: another thread may have changed that just before this one got the lock. The
 * thread has slept through the edition of then when it waits again.
 */
static int condition_sleep(pthread_cond_t *condition, pthread_mutex_t *mutex, int64_t due)
{
    static _Thread_local uint8_t woken;
    const int64_t left = due - steady_now();

    if (left <= 0) {
        wake();
        return ETIMEDOUT;
    }
    slept_through(woken);
    const struct timespec end = slice_end(left);
    const int err = NEXT(pthread_cond_clockwait)(condition, mutex, CLOCK_MONOTONIC, &end);
    __atomic_store_n(&self()->seen, 0, __ATOMIC_SEQ_CST);
    woken = edition();
    return err == ETIMEDOUT ? 0 : err;
}

int pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex)
{
    return directory ? condition_sleep(condition, mutex, INT64_MAX)
                     : NEXT_ON_CONDITION(pthread_cond_wait)(condition, mutex);
}

int pthread_cond_clockwait(pthread_cond_t *restrict condition, pthread_mutex_t *restrict mutex,
                           clockid_t clock, const struct timespec *restrict until)
{
    if (directory && clock == CLOCK_MONOTONIC)
        return condition_sleep(condition, mutex,
                               until->tv_sec * (int64_t)NS_PER_S + until->tv_nsec);
    return NEXT(pthread_cond_clockwait)(condition, mutex, clock, until);
}

int pthread_cond_timedwait(pthread_cond_t *restrict condition, pthread_mutex_t *restrict mutex,
                           const struct timespec *restrict until)
{
    /* glibc's flag of a condition whose clock is the steady one, as that of libuv is. */
    const bool steady = condition->__data.__wrefs & 2;
    return pthread_cond_clockwait(condition, mutex, steady ? CLOCK_MONOTONIC : CLOCK_REALTIME,
                                  until);
}

int pthread_cond_signal(pthread_cond_t *condition)
{
    if (directory)
        count_turn();
    return NEXT_ON_CONDITION(pthread_cond_signal)(condition);
}

int pthread_cond_broadcast(pthread_cond_t *condition)
{
    if (directory)
        count_turn();
    return NEXT_ON_CONDITION(pthread_cond_broadcast)(condition);
}
