/*
 * The quota ledger of a cache directory: the disk space of all the cache's files. It is the file
 * .usage in the directory, shared by all processes on one machine that have the directory open. The
 * ledger never underestimates, even if a process is killed at any point, because space is reserved
 * before a file is made and released after it is deleted. README.md has the states and the locks.
 */
#ifndef FARLANDS_CACHE_QUOTA_H
#define FARLANDS_CACHE_QUOTA_H

#include "server/cache/directory.h"
#include "server/cache/footprint.h"

#define QUOTA_FILE ".usage"

struct quota;

/*
 * Open the ledger of DIRECTORY, which must outlive it. If the ledger is invalid or another boot's
 * and the directory is not empty, the usage is unknown until a count has ended. *FILE_ERR is 0, or
 * the reason why .usage cannot be used now; each later call tries again. Returns 0 or -ENOMEM.
 */
int quota_open(struct quota **out, struct directory *directory, int *file_err);
void quota_close(struct quota *quota);

/* A random number, never 0, that identifies this process in its temporary files' names. */
uint64_t quota_nonce(const struct quota *quota);

/* An empty cache: its directory and its ledger. */
struct footprint quota_of_empty_cache(void);

/*
 * The functions below may be called by any thread. They may wait for the disk, and up to 1/4 s for
 * another process. They return the named codes, errors of locking, reading and writing .usage, or
 * -EAGAIN if another process doesn't release its lock.
 */

/*
 * Reserve SIZE before files are made. Returns 0; -EDQUOT if that would exceed LIMIT or the usage is
 * unknown; -EUSERS if 64 processes have the directory open already.
 */
int quota_reserve(struct quota *quota, struct footprint size, struct footprint limit);

/*
 * End the reservation RESERVED: every file is in place or deleted. FREED is the part that was not
 * used after all, and may include replaced files, but never exceeds RESERVED. The reason is a
 * concurrent count: it may have missed the deleted files, but includes all reservations.
 */
void quota_settle(struct quota *quota, struct footprint reserved, struct footprint freed);

/* True if the process with NONCE is running, or if that is unknown. */
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
 * Begin an eviction pass. Only in a pass may a process count files, or delete files that the
 * calling thread has not made itself. One process at a time is in a pass, with one thread. A pass
 * also ends with its process. A disk too full for a ledger is no error, because without a ledger
 * there is nothing to protect. Returns 0; -EBUSY if another process is in a pass; or a negative
 * code.
 */
int quota_eviction_begin(struct quota *quota);
void quota_eviction_end(struct quota *quota);

/* In a pass: release FREED, which was counted or reserved before the pass began, and is deleted. */
void quota_evicted(struct quota *quota, struct footprint freed);

/*
 * In a pass: count all files between begin and end, while other threads and processes make files.
 * The usage is then COUNTED and all that may have been made meanwhile. Returns 0; -ESTALE if the
 * ledger was reset meanwhile, so that a new count is needed; or a negative code.
 */
int quota_count_begin(struct quota *quota);
int quota_count_end(struct quota *quota, struct footprint counted);

#endif
