/*
 * How long a kind of job takes, learned from earlier runs: exponentially weighted moving averages
 * (Roberts, "Control chart tests based on geometric moving averages", Technometrics, 1959). A kind
 * that has not run yet inherits the family's time; a new family, a guess. Zeros at first. The
 * caller locks.
 */
#ifndef FARLANDS_CORE_RUN_TIMES_H
#define FARLANDS_CORE_RUN_TIMES_H

#include <stdint.h>

/* Hashes of everything that decides a run's time, and of the most important part. */
struct run_kind {
    uint64_t kind, family;
};

enum { RUN_TIMES = 4096, RUN_TIME_GUESS_US = 1000 };

/* If two kinds share a place, each run makes the other kind forgotten. */
struct run_times {
    struct run_time {
        uint64_t kind;
        uint32_t us_16; /* microseconds, times 16; 0: never ran */
    } time[RUN_TIMES];
};

/* The expected time of KIND's next run, in microseconds: 1 or more. */
uint32_t run_times_expect(const struct run_times *times, struct run_kind kind);

/* KIND's last run took US microseconds. */
void run_times_learn(struct run_times *times, struct run_kind kind, uint64_t us);

#endif
