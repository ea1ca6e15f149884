/*
 * The only place that reads time, so that tests can stop time. A part that waits for a time, or
 * measures one, has a clock in its options: NULL is the system's. A test passes a struct clock,
 * which stands until the test moves it. Any thread.
 */
#ifndef FARLANDS_CORE_CLOCK_H
#define FARLANDS_CORE_CLOCK_H

#include <stdint.h>
#include <time.h>
#include <uv.h>

#define NS_PER_MS UINT64_C(1000000) /* in ns */

/* A test's clock. */
struct clock {
    uint64_t ns; /* atomic */
};

/* The steady time in ns, since some fixed moment. It never goes back. */
static inline uint64_t clock_ns(const struct clock *clock)
{
    return clock ? __atomic_load_n(&clock->ns, __ATOMIC_RELAXED) : uv_hrtime();
}

static inline uint64_t clock_ms(const struct clock *clock)
{
    return clock_ns(clock) / NS_PER_MS;
}

/* The time in ms at which LOOP's turn began: costs no system call. LOOP's thread. */
static inline uint64_t clock_loop_ms(const struct clock *clock, const uv_loop_t *loop)
{
    return clock ? clock_ms(clock) : uv_now(loop);
}

static inline void clock_advance(struct clock *clock, uint64_t ns)
{
    __atomic_fetch_add(&clock->ns, ns, __ATOMIC_RELAXED);
}

/* Wait for CONDITION, with LOCK held, but not beyond DEADLINE on the system's clock. May return
 * early, as uv_cond_timedwait may. */
static inline void clock_wait(uv_cond_t *condition, uv_mutex_t *lock, uint64_t deadline)
{
    const uint64_t now = clock_ns(NULL);

    if (now < deadline)
        uv_cond_timedwait(condition, lock, deadline - now);
}

/* Sleep for NS; on a test's clock, until the test has moved the clock so far. */
static inline void clock_sleep(const struct clock *clock, uint64_t ns)
{
    const uint64_t until = clock_ns(clock) + ns;

    do
        nanosleep(&(struct timespec){.tv_nsec = (long)(clock ? NS_PER_MS / 10 : ns)}, NULL);
    while (clock && clock_ns(clock) < until);
}

/* The time of day, since 1970. The coarse one is some milliseconds late, and costs less. */
static inline struct timespec clock_of_day(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return now;
}

static inline struct timespec clock_of_day_coarse(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME_COARSE, &now);
    return now;
}

/* Seconds since the machine started, including those asleep. */
static inline uint64_t clock_since_boot(void)
{
    struct timespec now;
    clock_gettime(CLOCK_BOOTTIME, &now);
    return (uint64_t)now.tv_sec;
}

/* The calling thread's CPU time in ns: the cost of work, also on a machine that others use. */
static inline double clock_thread_ns(void)
{
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

#endif
