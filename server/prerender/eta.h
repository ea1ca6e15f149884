/*
 * Estimates the remaining time of a run from the work left in each part of a plan. A tile is
 * expected to cost the mean of its part's renders; tiles that were found in the cache do not count.
 * Pure.
 */
#ifndef FARLANDS_PRERENDER_ETA_H
#define FARLANDS_PRERENDER_ETA_H

#include <stddef.h>
#include <stdint.h>

struct part_work {
    uint64_t tiles;
    double sampled_ns; /* of one render, by estimate_new; 0: unknown */
    /* Atomic: tiles that are done, renders among them, and the thread time of those renders. */
    uint64_t done, rendered, ns;
};

/* Returns the seconds that THREADS need if all tiles left must be rendered; less than 0 if nothing
 * has been measured. WORK has one element per part. */
double eta_seconds(const struct part_work *work, size_t parts, unsigned threads);

#endif
