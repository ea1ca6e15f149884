/* Estimates how large a plan's tiles are and how long they take, by rendering samples; and how long
 * a run still takes. */
#ifndef FARLANDS_PRERENDER_ESTIMATE_H
#define FARLANDS_PRERENDER_ESTIMATE_H

#include <stdbool.h>

#include "server/cache/footprint.h"
#include "server/prerender/file_system.h"
#include "server/prerender/tile_plan.h"

struct part_estimate {
    uint64_t samples; /* rendered in this part */
    double ns;        /* one render on one thread; with storing, if that was measured */
    double bytes;     /* one tile, as the quota counts it */
};

struct estimate {
    double bytes, files; /* the plan's shard in the disk cache, with directories */
    double seconds;      /* on all threads */
    int store_err;       /* the first error while storing a sample, or 0 */
    struct part_estimate part[];
};

/* In a plan with up to this many parts every part gets a sample, however long that takes. */
enum { ESTIMATE_PARTS = 1024 };

/*
 * Render samples from all parts of PLAN's shard on THREADS, for about MS. A part gets up to 16
 * samples (1 if MOST <= 16), and its share of MOST more. Samples are also stored in STORE, unless
 * that is NULL, to time the file system. A part has no samples if there are more than
 * ESTIMATE_PARTS or CANCELLED has returned true; its estimate is then the other parts' mean.
 * CANCELLED may be NULL; any of the threads calls it. Returns 0, -ENOMEM, -EAGAIN or a render's
 * error. The caller releases *OUT with free().
 */
int estimate_new(struct estimate **out, const struct tile_plan *plan, unsigned threads, unsigned ms,
                 uint64_t most, struct trial_store *store, bool (*cancelled)(void));

/* The index, below COUNT, of the tile for sample ROUND. The first N samples are spread evenly for
 * every N, and none repeats within COUNT rounds. Pure. */
uint64_t estimate_sample(uint64_t round, uint64_t count);

enum { ESTIMATE_WHY = 160 };

/* True if a cache with this QUOTA keeps BYTES in FILES without evicting any. If not, WHY lists the
 * settings that are too small and values that would do. Pure. */
bool estimate_fits(struct footprint quota, double bytes, double files, char why[ESTIMATE_WHY]);

/* True if BYTES in FILES fit SPACE, a disk's free space. If not, WHY has the numbers. Pure. */
bool estimate_fits_disk(struct footprint space, double bytes, double files, char why[ESTIMATE_WHY]);

/* A run's progress in one part of a plan. */
struct part_work {
    uint64_t tiles;
    double sampled_ns; /* one render, from estimate_new; 0: unknown */
    /* Atomic: finished tiles, renders among them, and the thread time that these renders took. */
    uint64_t done, rendered, ns;
};

/*
 * Returns the seconds that THREADS need if all remaining tiles must be rendered; less than 0 if
 * nothing has been measured yet. WORK has one element per part of the plan. A tile is expected to
 * cost its part's mean render; tiles found in the cache do not count. Pure.
 */
double eta_seconds(const struct part_work *work, size_t parts, unsigned threads);

#endif
