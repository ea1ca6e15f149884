/* `farlands render`: a prerender with its progress, signals and messages, or a dry run. */
#ifndef FARLANDS_PRERENDER_RUN_H
#define FARLANDS_PRERENDER_RUN_H

#include "server/cache/quota.h"
#include "server/prerender/archive.h"
#include "server/prerender/tile_plan.h"

struct run_options {
    const struct tile_plan *plan;
    const char *directory; /* of the cache */
    struct footprint quota;
    unsigned threads;
    const char *archive;           /* the file to create, or NULL */
    const struct tileset *tileset; /* of the archive */
};

/*
 * Run until all tiles are done, an error, or SIGINT, SIGTERM or SIGHUP, after which the same
 * command continues. A second signal, at least half a second later, kills the process. Returns the
 * exit code.
 */
int run_prerender(const struct run_options *options);

/*
 * `--dry-run`: print a table of the expected size and time to stdout, and whether the quota and the
 * disk have room. The directory need not exist. Samples are stored in a temporary directory beside
 * the tiles, to measure the time that the file system takes, and deleted. Returns the exit code.
 */
int dry_run(const struct run_options *options);

#endif
