/*
 * How long jobs of a kind take, learned from those that ran: exponentially weighted moving averages
 * (Roberts, "Control chart tests based on geometric moving averages", Technometrics, 1959). A kind
 * that has not run yet inherits the time of its family; a family that has not, a guess. Zero it to
 * begin with. The caller locks.
 */
#ifndef FARLANDS_CORE_RUN_TIMES_H
#define FARLANDS_CORE_RUN_TIMES_H

#include <stdint.h>

/* Hashes of what decides the time of a run: {the kind, its family}. */
struct run_kind {
    uint64_t kind, family;
};

enum { RUN_TIMES = 4096, RUN_TIME_GUESS_US = 1000 };

/* A kind that shares its place with another one is forgotten when that runs. */
struct run_times {
    struct run_time {
        uint64_t kind;
        uint32_t us_16; /* microseconds, times 16; 0: never ran */
    } time[RUN_TIMES];
};

/* The expected time of a run of KIND, in microseconds: 1 or more. */
uint32_t run_times_expect(const struct run_times *times, struct run_kind kind);

/* A run of KIND took US microseconds. */
void run_times_learn(struct run_times *times, struct run_kind kind, uint64_t us);

#endif
