/*
 * Rendered tiles on disk, as ordinary PNG and WebP files:
 * {directory}/{fingerprint}/{layer}/{z}/{x}/{y}[@2x][+border].{png,webp}. Any tool can read them,
 * any web server can serve them, and deleting them is harmless. The directory never takes up more
 * than a quota, even if several processes share it, because each reserves space before it writes
 * (quota.h). A thread evicts tiles (eviction_thread.h). Other files in the directory are neither
 * touched nor counted.
 */
#ifndef FARLANDS_CACHE_DISK_CACHE_H
#define FARLANDS_CACHE_DISK_CACHE_H

#include "config/daemon/config.h"
#include "server/cache/footprint.h"
#include "server/core/blob.h"
#include "server/world/tile.h"

struct disk_cache;

enum { DISK_CACHE_PATH_MAX = CONFIG_TEXT_MAX + 16 };

/* The path that CONFIG names, else $XDG_CACHE_HOME/farlands, else ~/.cache/farlands. Returns 0, or
 * -ENOENT and an empty path if none is set. No other thread may change the environment meanwhile.
 */
int disk_cache_path(const struct config *config, char out[DISK_CACHE_PATH_MAX]);

/*
 * Open the cache at DIRECTORY, creating it if missing; if it is deleted later, it is created again.
 * Processes on one machine may share it. QUOTA limits bytes and files, including directories and
 * temporary files. IS_CURRENT returns true if the tiles of a fingerprint are served now; other
 * tiles are evicted first. It is called on another thread until disk_cache_close. If IS_CURRENT is
 * NULL, all tiles are current, and a full disk evicts none.
 *
 * Opening takes the same time for any number of files, because nothing is scanned. If the usage is
 * unknown, tiles can be read at once, and stored as soon as a thread has counted them.
 *
 * Returns 0; -EACCES, -ENOTDIR, ... if files cannot be made there; -ENOMEM or -EAGAIN. A full or
 * read-only disk is no error, because its tiles can be read.
 */
int disk_cache_open(struct disk_cache **out, const char *directory, const struct footprint *quota,
                    bool (*is_current)(void *context, const char *fingerprint), void *context);
void disk_cache_close(struct disk_cache *cache);

/* The functions below may be called by any thread. */

/* Change the quota. */
void disk_cache_limit(struct disk_cache *cache, const struct footprint *quota);

/*
 * Read the picture of the tile with KEY (tile_key). Returns 0 and one reference in *OUT; -ENOENT if
 * the cache doesn't have it; -EILSEQ if the file is damaged or another tile's; or the error of
 * reading. Every error is a miss, and leaves *OUT unchanged. If WAIT is false, as on event loops,
 * the call returns -EAGAIN instead of waiting for the disk, or if the system cannot read without
 * waiting.
 */
int disk_cache_get(struct disk_cache *cache, const char *key, bool wait, struct blob **out);

/* True if there is a file for KEY, whatever its content. May wait for the disk. */
bool disk_cache_has(struct disk_cache *cache, const char *key);

/*
 * Store PNG, encoded with KEY, under KEY, all or nothing: a temporary file is written, then
 * renamed. May wait for the disk. On error neither a partial tile nor a temporary file is left.
 * Returns
 *
 * - 0;
 * - -EDQUOT if the quota has no space left now, or the usage is not known yet;
 * - -ECANCELED without an attempt if storing is suspended;
 * - -EBUSY, -EISDIR, ... for this tile alone: its place is taken, or is deleted meanwhile;
 * - -ENOSPC, -EIO, ...: storing is then suspended for 5 seconds, which is logged once.
 */
int disk_cache_put(struct disk_cache *cache, const char *key, const struct blob *png);

/* A batch of puts, which saves time: several tiles share a reservation in the ledger, and the open
 * directory if they are in the same. For one thread. Members are private. */
struct disk_cache_batch {
    struct disk_cache *cache;
    struct footprint ahead;           /* to reserve at a time */
    struct footprint reserved, spare; /* in all; the unused part */
    int parent;                       /* an open directory, or -1 */
    char directory[TILE_KEY_MAX];     /* the open directory's name, with a slash */
};

/* Begin a batch. AHEAD, usually disk_cache_ahead, is reserved at a time as long as there is space.
 * Until disk_cache_end the ledger may exceed the usage by that much. */
void disk_cache_begin(struct disk_cache_batch *batch, struct disk_cache *cache,
                      struct footprint ahead);

/* As disk_cache_put. */
int disk_cache_add(struct disk_cache_batch *batch, const char *key, const struct blob *png);

void disk_cache_end(struct disk_cache_batch *batch);

/* The most space that TILES files with BYTES together usually take, each in its own directory. */
struct footprint disk_cache_ahead(size_t bytes, unsigned tiles);

/* The usage when this process last accessed the ledger, as each batch does; false if it is unknown.
 * Never waits. */
bool disk_cache_usage(const struct disk_cache *cache, struct footprint *out);

/* False if SIZE more would exceed the quota, as far as known without waiting. */
bool disk_cache_has_room(const struct disk_cache *cache, struct footprint size);

/* True if storing is suspended after a failure. Never waits. */
bool disk_cache_suspended(const struct disk_cache *cache);

#endif
