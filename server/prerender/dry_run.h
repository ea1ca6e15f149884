/* `farlands render --dry-run`: a table of what it would be, on stdout. */
#ifndef FARLANDS_PRERENDER_DRY_RUN_H
#define FARLANDS_PRERENDER_DRY_RUN_H

#include "config/config.h"
#include "server/prerender/tile_plan.h"

/* DIRECTORY is the cache's, which need not exist. Nothing is written. Returns the exit code. */
int dry_run(const struct tile_plan *plan, const struct config *config, const char *directory,
            unsigned threads);

#endif
