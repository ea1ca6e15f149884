/*
 * The quota ledger of a cache directory: how much disk space all of the cache's files take up. It
 * is the file .usage in that directory, shared by all processes of one machine that have the
 * directory open. It never underestimates, even if a process is killed at any point: space is
 * reserved before a file is made and released after it is deleted. README.md has the states and the
 * locks.
 */
#ifndef FARLANDS_CACHE_QUOTA_H
#define FARLANDS_CACHE_QUOTA_H

#include "server/cache/directory.h"
#include "server/cache/footprint.h"

#define QUOTA_FILE ".usage"

struct quota;

/*
 * Open the ledger of DIRECTORY, which must outlive it. If there is no valid ledger of this boot and
 * the directory is not empty, the usage is unknown until a count has ended. Returns 0 or -ENOMEM.
 * *FILE_ERR is 0, or the reason why .usage cannot be used now; each later call tries again.
 */
int quota_open(struct quota **out, struct directory *directory, int *file_err);
void quota_close(struct quota *quota);

/* A random number, never 0, that identifies this process in the names of its temporary files. */
uint64_t quota_nonce(const struct quota *quota);

/* The directory of an empty cache, and its ledger. */
struct footprint quota_of_empty_cache(void);

/*
 * The functions below may be called by any thread. They may wait for the disk, and up to 1/4 s for
 * another process. Besides the codes named they return the errors of locking, reading and writing
 * .usage; -EAGAIN if another process does not release its lock.
 */

/*
 * Reserve SIZE before files are made. Returns 0; -EDQUOT if LIMIT would be exceeded or the usage is
 * unknown; -EUSERS if 64 processes have the directory open already.
 */
int quota_reserve(struct quota *quota, struct footprint size, struct footprint limit);

/*
 * End the reservation of RESERVED: every file is in its place or deleted. FREED of it is not used
 * after all. Files that were replaced may be part of FREED, which never exceeds RESERVED: a count
 * that runs meanwhile may have missed the deleted files, but includes all reservations.
 */
void quota_settle(struct quota *quota, struct footprint reserved, struct footprint freed);

/* True if the process with NONCE is running, or if that cannot be told. */
bool quota_is_alive(struct quota *quota, uint64_t nonce);

struct quota_usage {
    struct footprint used; /* meaningless unless KNOWN */
    bool known;
    uint64_t age; /* seconds since the last count */
};

int quota_read(struct quota *quota, struct quota_usage *out);

/* The usage when this process last accessed the ledger; false if it was unknown. Never waits. */
bool quota_last(const struct quota *quota, struct footprint *out);

/*
 * Begin an eviction pass. Only between begin and end may a process count files, or delete files
 * that the calling thread has not made itself; one process at a time, and one thread of it. Returns
 * 0; -EBUSY if another process is in a pass; or a negative code. A pass also ends with its process.
 * A disk too full for a ledger is no error: without a ledger there is nothing to protect.
 */
int quota_eviction_begin(struct quota *quota);
void quota_eviction_end(struct quota *quota);

/* In a pass: FREED, which was counted or reserved before the pass began, has been deleted. */
void quota_evicted(struct quota *quota, struct footprint freed);

/*
 * In a pass: count all files between begin and end, while other threads and processes go on making
 * files. The usage is then COUNTED and all that may have been made meanwhile. Returns 0; -ESTALE if
 * the ledger was reset meanwhile: count again; or a negative code.
 */
int quota_count_begin(struct quota *quota);
int quota_count_end(struct quota *quota, struct footprint counted);

#endif
