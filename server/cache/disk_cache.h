/*
 * Rendered tiles on disk, as ordinary PNG and WebP files:
 * {directory}/{fingerprint}/{layer}/{z}/{x}/{y}[@2x][+border].{png,webp}. Any tool can read them
 * and any web server can serve them; deleting any of them is harmless. The directory never takes up
 * more than a quota, even if several processes share it: each reserves space before it writes
 * (quota.h), and a thread evicts tiles (eviction_thread.h). Other files in the directory are
 * neither touched nor counted.
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
 * -ENOENT and an empty path if none of them is set. No other thread may change the environment
 * meanwhile. */
int disk_cache_path(const struct config *config, char out[DISK_CACHE_PATH_MAX]);

/*
 * Open the cache at DIRECTORY, which is created if missing, and again if it is deleted later.
 * Several processes of one machine may share it. QUOTA limits bytes and files; directories and
 * temporary files are included. IS_CURRENT returns true if the tiles of a fingerprint are served
 * now; other tiles are evicted first; NULL: all are current, and a full disk evicts none. It is
 * called from another thread until disk_cache_close.
 *
 * Opening scans nothing and takes the same time for any number of files. If the usage is unknown,
 * tiles can be read at once, and stored as soon as a thread has counted them.
 *
 * Returns 0; -EACCES, -ENOTDIR, ... if files cannot be made there; -ENOMEM or -EAGAIN. A disk that
 * is full or read-only is no error: its tiles can be read.
 */
int disk_cache_open(struct disk_cache **out, const char *directory, const struct footprint *quota,
                    bool (*is_current)(void *context, const char *fingerprint), void *context);
void disk_cache_close(struct disk_cache *cache);

/* The functions below may be called by any thread. */

/* Change the quota. */
void disk_cache_limit(struct disk_cache *cache, const struct footprint *quota);

/*
 * Read the picture of KEY, a tile's (tile_key). Returns 0 and one reference in *OUT; -ENOENT if the
 * cache does not have it; -EILSEQ if its file is damaged or another tile's; or the error of reading
 * it. Every error is a miss, and leaves *OUT as it is. If WAIT is false, as for event loops, the
 * call never waits for the disk: -EAGAIN if it would have to, or if the system cannot read without
 * waiting.
 */
int disk_cache_get(struct disk_cache *cache, const char *key, bool wait, struct blob **out);

/* True if there is a file for KEY, whatever it contains. May wait for the disk. */
bool disk_cache_has(struct disk_cache *cache, const char *key);

/*
 * Store PNG, encoded with KEY, under KEY, all or nothing: it is written to a temporary file, then
 * renamed. May wait for the disk. On error neither a partial tile nor a temporary file is left
 * behind. Returns
 *
 * - 0;
 * - -EDQUOT if no space is left in the quota now, or the usage is not known yet;
 * - -ECANCELED without an attempt if storing is suspended;
 * - -EBUSY, -EISDIR, ... for this tile alone: something is in its place, or is deleted meanwhile;
 * - -ENOSPC, -EIO, ...: storing is then suspended for 5 seconds, which is logged once.
 */
int disk_cache_put(struct disk_cache *cache, const char *key, const struct blob *png);

/* Puts that follow one another. They access the ledger, and look for the directory of tiles that
 * have the same, once for several of them. One thread's; private. */
struct disk_cache_batch {
    struct disk_cache *cache;
    struct footprint ahead;           /* to be reserved at a time */
    struct footprint reserved, spare; /* in all; of it not used */
    int parent;                       /* an open directory, or -1 */
    char directory[TILE_KEY_MAX];     /* its name, with a slash */
};

/* Begin to put tiles. AHEAD is how much to reserve at a time as long as there is space: usually
 * disk_cache_ahead. The ledger may say too much by it until disk_cache_end. */
void disk_cache_begin(struct disk_cache_batch *batch, struct disk_cache *cache,
                      struct footprint ahead);

/* As disk_cache_put. */
int disk_cache_add(struct disk_cache_batch *batch, const char *key, const struct blob *png);

void disk_cache_end(struct disk_cache_batch *batch);

/* The most space that TILES files with BYTES in all usually take, each in a directory of its own.
 */
struct footprint disk_cache_ahead(size_t bytes, unsigned tiles);

/* The usage when this process last accessed the ledger, as each put does; false if it is unknown.
 * Never waits. */
bool disk_cache_usage(const struct disk_cache *cache, struct footprint *out);

/* False if SIZE more would exceed the quota, as far as that is known without waiting. */
bool disk_cache_has_room(const struct disk_cache *cache, struct footprint size);

/* True if storing is suspended after a failure. Never waits. */
bool disk_cache_suspended(const struct disk_cache *cache);

#endif
