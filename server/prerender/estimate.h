/* What the tiles of a plan will take, bytes and time, from samples of them that are rendered. */
#ifndef FARLANDS_PRERENDER_ESTIMATE_H
#define FARLANDS_PRERENDER_ESTIMATE_H

#include <stdbool.h>

#include "server/cache/quota.h"
#include "server/prerender/tile_plan.h"

struct part_estimate {
    uint64_t samples; /* of its own */
    double ns;        /* of one thread, a render */
    double bytes;     /* a tile, as the quota counts */
};

struct estimate {
    double bytes, files; /* of the plan's shard in the disk cache, folders included */
    double seconds;      /* of all threads */
    struct part_estimate part[];
};

/* The tile of COUNT that is sample ROUND: however many are taken, they are spread over all, and
 * none comes twice before all have come. Pure. */
uint64_t estimate_sample(uint64_t round, uint64_t count);

/* So many parts each have a sample, however long that takes. */
enum { ESTIMATE_PARTS = 1024 };

/*
 * Render tiles of PLAN's shard, spread over all of each part, in THREADS for about MS and at most
 * MOST of them, but one a part at least. Of more than ESTIMATE_PARTS, and where GO_ON, which any of
 * the threads asks, or NULL, says no, only some have samples: the others are taken for as much
 * as the mean of these. Returns 0, -ENOMEM, -EAGAIN or a render's error; free *OUT with free.
 */
int estimate_new(struct estimate **out, const struct tile_plan *plan, unsigned threads, unsigned ms,
                 uint64_t most, bool (*go_on)(void));

#endif
