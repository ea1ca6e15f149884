#include "latencies.h"

#include <math.h>

/*
 * Up to 127 ns a bucket is one nanosecond wide. Above that, each power of two has 64 buckets,
 * chosen by the seven leading bits.
 */
static unsigned bucket_of(uint64_t ns)
{
    unsigned shift = ns < 128 ? 0 : 57 - (unsigned)__builtin_clzll(ns);
    return shift * 64 + (unsigned)(ns >> shift);
}

/* The largest value of the bucket. */
static uint64_t bucket_end(unsigned bucket)
{
    unsigned shift = bucket < 128 ? 0 : bucket / 64 - 1;
    uint64_t leading = bucket - shift * 64;
    return (leading << shift) + ((UINT64_C(1) << shift) - 1);
}

void latencies_add(struct latencies *latencies, uint64_t ns)
{
    latencies->count++;
    if (ns > latencies->max)
        latencies->max = ns;
    latencies->bucket[bucket_of(ns)]++;
}

uint64_t latencies_within(const struct latencies *latencies, double share)
{
    uint64_t wanted = (uint64_t)ceil(share * (double)latencies->count), seen = 0;

    for (unsigned i = 0; i < LATENCY_BUCKETS; i++) {
        seen += latencies->bucket[i];
        if (seen >= wanted && seen > 0)
            return bucket_end(i) < latencies->max ? bucket_end(i) : latencies->max;
    }
    return latencies->max;
}
