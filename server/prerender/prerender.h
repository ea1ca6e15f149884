/*
 * Makes the tiles of a plan ahead of time: what the disk cache lacks is rendered and stored there,
 * and where there is an archive all of it is put there, too.
 */
#ifndef FARLANDS_PRERENDER_PRERENDER_H
#define FARLANDS_PRERENDER_PRERENDER_H

#include "server/cache/disk_cache.h"
#include "server/prerender/eta.h"
#include "server/prerender/mbtiles.h"
#include "server/prerender/tile_plan.h"

struct prerender_parts {
    const struct tile_plan *plan;
    struct disk_cache *cache;
    struct footprint quota;  /* of the cache */
    struct mbtiles *archive; /* or NULL; with one, a cache without room is no failure */
    unsigned threads;
    struct part_work *work; /* of each part of the plan, without what is done; written to */
};

enum prerender_end {
    PRERENDER_DONE,    /* every tile was there or is now */
    PRERENDER_STOPPED, /* as it was told */
    PRERENDER_QUOTA,   /* one more, and the quota would take another of them */
    PRERENDER_CROWDED, /* no room was made for a long time */
    PRERENDER_RENDER,  /* a tile could not be rendered */
    PRERENDER_STORE,   /* or not stored */
    PRERENDER_ARCHIVE, /* or not put into the archive */
};

/* How far it is, or was at its end. */
struct prerender_tally {
    uint64_t total;           /* tiles of the plan's shard */
    uint64_t found, rendered; /* there already, and made and stored */
    uint64_t missing;         /* of a check: not there */
    uint64_t archived;        /* put into the archive */
    struct footprint size;    /* of what is there, with its folders */
    unsigned pending;         /* threads that wait for room */
    enum prerender_end end;
    int err;          /* why, where a tile could not be rendered or stored */
    struct tile tile; /* that one */
};

struct prerender;

/*
 * Begin, in threads of its own; PARTS and what they point to outlive it. With CHECK nothing is
 * made, but all tiles are looked for once more. Returns 0, -ENOMEM or -EAGAIN.
 */
int prerender_start(struct prerender **out, const struct prerender_parts *parts, bool check);

/* Wait for its end, MS at most: whether it has ended. One thread. */
bool prerender_wait(struct prerender *run, long ms);

/* Make an end after the tiles in hand. At once; any thread. */
void prerender_stop(struct prerender *run);

void prerender_tally(const struct prerender *run, struct prerender_tally *out);

/* After its end, or prerender_stop. */
void prerender_free(struct prerender *run);

#endif
