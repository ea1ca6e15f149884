/* The file system that a cache directory is on, or will be on: its free space, and the time that it
 * takes to store a tile. */
#ifndef FARLANDS_PRERENDER_FILE_SYSTEM_H
#define FARLANDS_PRERENDER_FILE_SYSTEM_H

#include "server/cache/footprint.h"
#include "server/core/blob.h"
#include "server/world/tile.h"

/*
 * The space that this user may fill; UINT64_MAX files if the file system has no limit of its own.
 * DIRECTORY need not exist: the nearest of its parents that does is asked. Returns 0 or a negative
 * code.
 */
int file_system_space(const char *directory, struct footprint *out);

struct trial_store;

/*
 * A disk cache for measuring, in a temporary directory in DIRECTORY or in its nearest parent that
 * exists. Returns 0, -EACCES, -EROFS, ...
 */
int trial_store_new(struct trial_store **out, const char *directory);
/* Delete the directory. */
void trial_store_free(struct trial_store *store);

/*
 * Store PNG as TILE, and delete it again. *NS is the time of storing, without that of making
 * directories, which many tiles share. Any thread. Returns 0 or disk_cache_put's error.
 */
int trial_store_put(struct trial_store *store, const char *key, const struct blob *png,
                    uint64_t *ns);

#endif
