/* `farlands render`: fills a cache folder with the tiles of a plan, tells how far it is, and what
 * came of it. */
#ifndef FARLANDS_PRERENDER_RUN_H
#define FARLANDS_PRERENDER_RUN_H

#include "server/cache/quota.h"
#include "server/prerender/mbtiles.h"
#include "server/prerender/tile_plan.h"

struct prerender_run {
    const struct tile_plan *plan;
    const char *directory;
    struct footprint quota;
    unsigned threads;
    const char *archive;                     /* the file of one, to be made; or NULL */
    const struct mbtiles_metadata *metadata; /* the archive's */
};

/* Until all tiles are there, SIGINT, SIGTERM, SIGHUP, or what cannot be helped; a second signal,
 * half a second later, kills. Returns the exit code. */
int prerender_run(const struct prerender_run *fill);

#endif
