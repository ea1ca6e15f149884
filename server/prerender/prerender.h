/*
 * Renders the tiles of a plan ahead of time: tiles that are missing in the disk cache are rendered
 * and stored there. With an archive, all tiles are put into it as well.
 */
#ifndef FARLANDS_PRERENDER_PRERENDER_H
#define FARLANDS_PRERENDER_PRERENDER_H

#include "server/cache/disk_cache.h"
#include "server/prerender/archive.h"
#include "server/prerender/estimate.h"
#include "server/prerender/tile_plan.h"

struct prerender_parts {
    const struct tile_plan *plan;
    struct disk_cache *cache;
    struct footprint quota;  /* of the cache */
    struct archive *archive; /* or NULL; with one, tiles that do not fit the cache are no error */
    unsigned threads;
    struct part_work *work; /* one per part of the plan; progress is added to it */
};

enum prerender_end {
    PRERENDER_DONE,    /* all tiles are stored */
    PRERENDER_STOPPED, /* by prerender_stop */
    PRERENDER_QUOTA,   /* the next tile would evict a tile of this plan */
    PRERENDER_CROWDED, /* timed out waiting for an eviction */
    PRERENDER_RENDER,  /* a tile could not be rendered */
    PRERENDER_STORE,   /* a tile could not be stored */
    PRERENDER_ARCHIVE, /* a tile could not be put into the archive */
};

struct prerender_tally {
    uint64_t total;           /* tiles of the plan's shard */
    uint64_t found, rendered; /* in the cache before; rendered and stored now */
    uint64_t missing;         /* when verifying: not in the cache */
    uint64_t archived;        /* put into the archive */
    struct footprint size;    /* of the found and rendered tiles, with the directories so far */
    uint64_t pending;         /* threads that wait for free space */
    enum prerender_end end;   /* the first reason to stop */
    int err;                  /* and its error, if any */
    struct tile_address tile; /* and its tile, but for PRERENDER_STOPPED */
};

struct prerender;

/*
 * Start the threads. PARTS is copied; everything it points to must outlive the run. With VERIFY,
 * only count the tiles that are in the cache. Returns 0, -ENOMEM or -EAGAIN.
 */
int prerender_start(struct prerender **out, const struct prerender_parts *parts, bool verify);

/* Wait for the end, for at most MS. Returns true if the run has ended. One thread. */
bool prerender_wait(struct prerender *prerender, long ms);

/* Stop after the tiles that are being rendered. Returns at once. Any thread. */
void prerender_stop(struct prerender *prerender);

/* Any thread. */
void prerender_tally(struct prerender *prerender, struct prerender_tally *out);

/* Waits for the threads: call it after the end, or after prerender_stop. */
void prerender_free(struct prerender *prerender);

#endif
