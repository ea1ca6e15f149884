/* A cache directory's file system, before the directory exists too: free space, and the time that
 * storing a tile takes. */
#ifndef FARLANDS_PRERENDER_FILE_SYSTEM_H
#define FARLANDS_PRERENDER_FILE_SYSTEM_H

#include "server/cache/footprint.h"
#include "server/core/blob.h"
#include "server/world/tile.h"

/*
 * The space that this user may fill; UINT64_MAX files if the file system has no such limit. If
 * DIRECTORY does not exist, the nearest existing parent is measured. Returns 0 or a negative code.
 */
int file_system_space(const char *directory, struct footprint *out);

struct trial_store;

/* Create a disk cache for measuring, in a temporary directory inside DIRECTORY or its nearest
 * existing parent. Returns 0, -EACCES, -EROFS, ... */
int trial_store_new(struct trial_store **out, const char *directory);
/* Delete the temporary directory and free STORE. */
void trial_store_free(struct trial_store *store);

/* Store PNG as the tile KEY, then delete the file. *NS is the time for storing without making
 * directories, because many tiles share those. Any thread. Returns 0 or disk_cache_put's error. */
int trial_store_put(struct trial_store *store, const char *key, const struct blob *png,
                    uint64_t *ns);

#endif
