/* Shared by the benchmarks: a clock and quantiles. */
#ifndef FARLANDS_BENCH_H
#define FARLANDS_BENCH_H

#include <stdint.h>
#include <stdlib.h>
#include <time.h>

/* Nanoseconds of a monotonic clock. */
static inline uint64_t now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static inline int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The quantile SHARE, 0 to 1, of COUNT > 0 VALUES; sorts them. */
static inline double quantile(double *values, int count, double share)
{
    qsort(values, (size_t)count, sizeof *values, ascending);
    return values[(int)(share * (count - 1))];
}

#endif
