/* A histogram of durations; each bucket is at most 1/64 of its value wide. */
#ifndef LOAD_LATENCIES_H
#define LOAD_LATENCIES_H

#include <stdint.h>

enum { LATENCY_BUCKETS = 59 * 64 };

struct latencies {
    uint64_t count;
    uint64_t max; /* ns */
    uint64_t bucket[LATENCY_BUCKETS];
};

void latencies_add(struct latencies *latencies, uint64_t ns);

/*
 * The quantile SHARE, 0 to 1, in ns: at most 1/64 above the exact value, never above the
 * maximum, and 0 if nothing was counted.
 */
uint64_t latencies_within(const struct latencies *latencies, double share);

#endif
