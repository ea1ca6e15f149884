/* Runs `farlands render`: renders with progress, signals and messages, or a dry run. */
#ifndef FARLANDS_PRERENDER_RUN_H
#define FARLANDS_PRERENDER_RUN_H

#include "server/cache/quota.h"
#include "server/prerender/archive.h"
#include "server/prerender/tile_plan.h"

struct run_options {
    const struct tile_plan *plan;
    const char *directory; /* the cache's */
    struct footprint quota;
    unsigned threads;
    const char *archive;           /* the file to create, or NULL */
    const struct tileset *tileset; /* for the archive */
};

/*
 * Run until all tiles are done, an error, or SIGINT, SIGTERM or SIGHUP; the same command then
 * continues. A second signal, at least half a second later, kills the process. Returns the exit
 * code.
 */
int run_prerender(const struct run_options *options);

/*
 * `--dry-run`: print to stdout a table with the expected sizes and times, and whether the quota and
 * the disk have room. The directory need not exist. Samples are stored in a temporary directory
 * beside the tiles, to time the file system, and then deleted. Returns the exit code.
 */
int dry_run(const struct run_options *options);

#endif
