/*
 * Rendered tiles on disk, as ordinary PNG files:
 * {folder}/{fingerprint}/{layer}/{z}/{x}/{y}[@2x].png. Any tool can read them
 * and any web server can serve them; deleting any of them is harmless.
 */
#ifndef FARLANDS_DISK_CACHE_H
#define FARLANDS_DISK_CACHE_H

#include "server/blob.h"
#include "server/tile.h"

struct disk_cache;

/*
 * Open the cache at FOLDER, which is made where it is missing, now and when it
 * is deleted later; what a killed process left half-written is removed. Several
 * processes may share a folder. Returns 0, or -EACCES, -EROFS, -ENOTDIR, ...
 * where files cannot be made there, or -ENOMEM.
 */
int disk_cache_open(struct disk_cache **out, const char *folder);
void disk_cache_close(struct disk_cache *cache);

/*
 * The tile as it was put: 0 and one reference in *OUT; -ENOENT where it is not
 * there; -EILSEQ where its file is torn or rotten; or the error of reading it.
 * Everything but 0 is a miss. Any thread.
 */
int disk_cache_get(struct disk_cache *cache, const struct tile *tile, struct blob **out);

/*
 * Store PNG as TILE, all or nothing: written beside its final name, then
 * renamed. Returns 0, or -ENOSPC, -EIO, ...; on error neither a partial tile
 * nor a temporary file is left behind. Any thread.
 */
int disk_cache_put(struct disk_cache *cache, const struct tile *tile, const struct blob *png);

#endif
