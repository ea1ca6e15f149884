/* Estimates the size and render time of a plan's tiles by rendering samples of them, and the
 * remaining time of a run. */
#ifndef FARLANDS_PRERENDER_ESTIMATE_H
#define FARLANDS_PRERENDER_ESTIMATE_H

#include <stdbool.h>

#include "server/cache/footprint.h"
#include "server/prerender/file_system.h"
#include "server/prerender/tile_plan.h"

struct part_estimate {
    uint64_t samples; /* rendered of this part */
    double ns;        /* one render, on one thread, with storing if that was measured */
    double bytes;     /* one tile, as the quota counts */
};

struct estimate {
    double bytes, files; /* of the plan's shard in the disk cache, with directories */
    double seconds;      /* on all threads */
    int store_err;       /* the first error of storing a sample, or 0 */
    struct part_estimate part[];
};

/* In plans of up to this many parts every part gets a sample, however long that takes. */
enum { ESTIMATE_PARTS = 1024 };

/*
 * Render samples from all of PLAN's shard on THREADS, for about MS and at most MOST of them, but
 * one per part at least. They are stored in STORE, too, which may be NULL. Parts without samples,
 * because there are more than ESTIMATE_PARTS or CANCELLED has returned true, are estimated by the
 * mean of the others. CANCELLED may be NULL, and is called on any of the threads. Returns 0,
 * -ENOMEM, -EAGAIN or a render's error; the caller releases *OUT with free().
 */
int estimate_new(struct estimate **out, const struct tile_plan *plan, unsigned threads, unsigned ms,
                 uint64_t most, struct trial_store *store, bool (*cancelled)(void));

/* The tile, of COUNT, that is sample ROUND: for any number of rounds the samples are spread evenly,
 * and none repeats within COUNT rounds. Pure. */
uint64_t estimate_sample(uint64_t round, uint64_t count);

enum { ESTIMATE_WHY = 160 };

/*
 * True if BYTES in FILES stay in a cache of QUOTA. If not, WHY is the list of settings that are too
 * small, with the values that would do. Pure.
 */
bool estimate_fits(struct footprint quota, double bytes, double files, char why[ESTIMATE_WHY]);

/* True if BYTES in FILES fit SPACE, which is free on a disk. If not, WHY has the numbers. Pure. */
bool estimate_fits_disk(struct footprint space, double bytes, double files, char why[ESTIMATE_WHY]);

/* The progress of a run in one part of a plan. */
struct part_work {
    uint64_t tiles;
    double sampled_ns; /* of one render, by estimate_new; 0: unknown */
    /* Atomic: tiles that are done, renders among them, and the thread time of those renders. */
    uint64_t done, rendered, ns;
};

/*
 * Returns the seconds that THREADS need if all tiles left must be rendered; less than 0 if nothing
 * has been measured. WORK has one element per part of a plan. A tile is expected to cost the mean
 * of its part's renders; tiles that were found in the cache do not count. Pure.
 */
double eta_seconds(const struct part_work *work, size_t parts, unsigned threads);

#endif
