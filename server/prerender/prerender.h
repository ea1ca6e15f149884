/* Renders a plan's tiles ahead of time and stores those that the disk cache lacks. With an archive,
 * all tiles also go into the archive. */
#ifndef FARLANDS_PRERENDER_PRERENDER_H
#define FARLANDS_PRERENDER_PRERENDER_H

#include "server/cache/disk_cache.h"
#include "server/prerender/archive.h"
#include "server/prerender/estimate.h"
#include "server/prerender/tile_plan.h"

struct prerender_parts {
    const struct tile_plan *plan;
    struct disk_cache *cache;
    struct footprint quota;  /* the cache's */
    struct archive *archive; /* or NULL; with one, a tile that does not fit the cache is no error */
    unsigned threads;
    struct part_work *work; /* one per part of the plan; updated while running */
};

enum prerender_end {
    PRERENDER_DONE,    /* all tiles are stored */
    PRERENDER_STOPPED, /* by prerender_stop */
    PRERENDER_QUOTA,   /* the next tile would evict one of this plan */
    PRERENDER_CROWDED, /* timed out waiting for an eviction */
    PRERENDER_RENDER,  /* a tile could not be rendered */
    PRERENDER_STORE,   /* a tile could not be stored */
    PRERENDER_ARCHIVE, /* a tile could not be put into the archive */
};

struct prerender_tally {
    uint64_t total;           /* tiles in the plan's shard */
    uint64_t found, rendered; /* already in the cache; rendered now */
    uint64_t missing;         /* when verifying: not in the cache */
    uint64_t archived;        /* put into the archive */
    struct footprint size;    /* found and rendered tiles, with their directories */
    uint64_t pending;         /* threads waiting for free space */
    enum prerender_end end;   /* why the run stopped, first reason only */
    int err;                  /* that reason's error, or 0 */
    struct tile_address tile; /* that reason's tile, unless PRERENDER_STOPPED */
};

struct prerender;

/* Start the threads. PARTS is copied; what PARTS points to must outlive the run. With VERIFY, only
 * count which tiles the cache has. Returns 0, -ENOMEM or -EAGAIN. */
int prerender_start(struct prerender **out, const struct prerender_parts *parts, bool verify);

/* Wait up to MS for the run to end. Returns true if it has ended. One thread. */
bool prerender_wait(struct prerender *prerender, long ms);

/* Stop once the tiles being rendered are finished. Returns at once. Any thread. */
void prerender_stop(struct prerender *prerender);

/* Copy the present state to *OUT. Any thread. */
void prerender_tally(struct prerender *prerender, struct prerender_tally *out);

/* Waits for the threads: call it after the run's end or after prerender_stop. */
void prerender_free(struct prerender *prerender);

#endif
