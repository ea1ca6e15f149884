/* How long things took: counts in buckets of equal ratio, each at most 1/64 wide. */
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
 * The ns within which SHARE, 0 to 1, of them were: at most 1/64 more than the
 * exact one, and never above the longest. 0 where there are none.
 */
uint64_t latencies_within(const struct latencies *latencies, double share);

#endif
