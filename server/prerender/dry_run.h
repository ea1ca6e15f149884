/* `farlands render --dry-run`: prints the expected size and time of a plan. */
#ifndef FARLANDS_PRERENDER_DRY_RUN_H
#define FARLANDS_PRERENDER_DRY_RUN_H

#include "config/config.h"
#include "server/prerender/tile_plan.h"

/* Print a table to stdout. DIRECTORY is the cache's; it need not exist, and nothing is written.
 * Returns the exit code. */
int dry_run(const struct tile_plan *plan, const struct config *config, const char *directory,
            unsigned threads);

#endif
