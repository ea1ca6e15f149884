/*
 * Rendered tiles on disk, as ordinary PNG files:
 * {folder}/{fingerprint}/{layer}/{z}/{x}/{y}[@2x].png. Any tool can read them
 * and any web server can serve them; deleting any of them is harmless. What the
 * folder takes up stays within a quota, always, also where several processes
 * share it: each counts before it writes (usage.h), and a thread makes room
 * (sweeper.h). Other files in the folder are neither touched nor counted.
 */
#ifndef FARLANDS_CACHE_DISK_CACHE_H
#define FARLANDS_CACHE_DISK_CACHE_H

#include "server/cache/quota.h"
#include "server/core/blob.h"
#include "server/world/tile.h"

struct disk_cache;

/*
 * Open the cache at DIRECTORY, which is made where it is missing, now and when it
 * is deleted later. Several processes of one machine may share it. QUOTA is the most that
 * it may take up: bytes, folders and temporaries included, and files, folders
 * included. IS_CURRENT says whether the tiles of a fingerprint are served now; the
 * others go first when room is needed; NULL: all are. It is called from another thread,
 * until disk_cache_close. Nothing is scanned here: however many files there are, this takes
 * a moment. Where it is not known what is in the folder, tiles are read at once and stored as
 * soon as a thread has counted.
 * Returns 0; -EACCES, -ENOTDIR, ... where files cannot be made there; -ENOMEM or
 * -EAGAIN. A disk that is full or read-only is no error: it can be read.
 */
int disk_cache_open(struct disk_cache **out, const char *directory, const struct footprint *quota,
                    bool (*is_current)(void *context, const char *fingerprint), void *context);
void disk_cache_close(struct disk_cache *cache);

/* Another quota from now on. Any thread. */
void disk_cache_limit(struct disk_cache *cache, const struct footprint *quota);

/*
 * The tile as it was put: 0 and one reference in *OUT; -ENOENT where it is not
 * there; -EILSEQ where its file is torn or rotten; or the error of reading it.
 * Everything but 0 is a miss. Any thread; it may wait for the disk.
 */
int disk_cache_get(struct disk_cache *cache, const struct tile *tile, struct blob **out);

/* The same, but it never waits: -EAGAIN where only waiting would tell, or where the system
 * lacks the means. For event loops. */
int disk_cache_get_now(struct disk_cache *cache, const struct tile *tile, struct blob **out);

/* Whether there is a file for TILE, whatever is in it. Any thread; it may wait for the disk. */
bool disk_cache_has(struct disk_cache *cache, const struct tile *tile);

/*
 * Store PNG as TILE, all or nothing: written beside its final name, then
 * renamed. Returns 0; -EDQUOT where there is no room now, or it is not yet known whether
 * there is; -ECANCELED where storing has failed in the last seconds and is not
 * tried now; or -ENOSPC, -EIO, ...: then nothing is tried for 5 seconds, of which the log tells.
 * -EBUSY, -EISDIR, ... mean this tile alone: something is in its way, or was deleted meanwhile.
 * On error neither a partial tile nor a temporary file is left behind. Any thread.
 */
int disk_cache_put(struct disk_cache *cache, const struct tile *tile, const struct blob *png);

/* Of a QUOTA, what tiles may take up that are to stay: a sweep, whose time comes before all is
 * used, leaves that much. Pure. */
struct footprint disk_cache_keeps(struct footprint quota);

/* What the folder took up when this process last looked, which each put does; false where
 * that is not known yet. And whether storing is suspended after a failure. Any thread, at once. */
bool disk_cache_usage(const struct disk_cache *cache, struct footprint *out);
bool disk_cache_suspended(const struct disk_cache *cache);

#endif
