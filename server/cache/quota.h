/*
 * The books of a cache folder: what all that is in it takes up. They lie in the
 * file .usage there, shared by all processes that have the folder open, and never
 * say less than the truth, whoever is killed when: what is to be made is added
 * before, what is gone is subtracted after. So that nothing is subtracted that a count has
 * left out already, of all processes one at a time counts and deletes. The processes are of one
 * machine.
 */
#ifndef FARLANDS_CACHE_QUOTA_H
#define FARLANDS_CACHE_QUOTA_H

#include <stdbool.h>
#include <stdint.h>

#include "server/cache/directory.h"

#define QUOTA_FILE ".usage"

/* What something takes up on disk, or may. */
struct footprint {
    uint64_t bytes, files;
};

static inline struct footprint footprint_sum(struct footprint a, struct footprint b)
{
    return (struct footprint){a.bytes + b.bytes, a.files + b.files};
}

/* A less B, in each no less than 0. */
static inline struct footprint footprint_less(struct footprint a, struct footprint b)
{
    return (struct footprint){a.bytes - (b.bytes < a.bytes ? b.bytes : a.bytes),
                              a.files - (b.files < a.files ? b.files : a.files)};
}

/* Whether A lies within LIMIT in both. */
static inline bool footprint_fits(struct footprint a, struct footprint limit)
{
    return a.bytes <= limit.bytes && a.files <= limit.files;
}

/* Of that, what an entry in a folder takes up there, in bytes. */
enum { FOOTPRINT_ENTRY = 80 };

/* Of a file of SIZE bytes, its entry in the folder included. */
struct footprint footprint_of_file(uint64_t size);

/*
 * Of a folder that the file system says has SIZE bytes, with ENTRIES in it, whose
 * files are counted by footprint_of_file: what it takes beyond those.
 */
struct footprint footprint_of_directory(uint64_t size, uint64_t entries);

/* Of the cache's folder itself and of the books. */
struct footprint footprint_of_nothing(void);

struct quota;

/*
 * Open the books of DIRECTORY, which outlives them. NONCE, drawn at random and never
 * 0, is what this process's temporaries are known by. Where the books do not
 * exist, or are another boot's, and the folder is not empty, what is in it is not known
 * until a survey has ended. Returns 0 or -ENOMEM; where .usage cannot be opened now, *WHY is
 * the reason, and it is tried again whenever it is needed.
 */
int quota_open(struct quota **out, struct directory *directory, uint64_t nonce, int *why);
void quota_close(struct quota *usage);

/* All that follows: any thread; it may wait for the disk, and 1/4 s for another process. */

/*
 * Before files are made: put SIZE down as used, unless LIMIT would be exceeded.
 * Returns 0; -EDQUOT where it would be, or where nothing is known; -EAGAIN where another
 * process holds the books all the time; or the error of reading or writing them.
 */
int quota_reserve(struct quota *usage, struct footprint size, struct footprint limit);

/*
 * Of what was RESERVED, all is in its place or gone, and with what was deleted, if anything,
 * FREED of what had been put down is no longer there. It is at most RESERVED: a survey at the same
 * time may have counted without what was deleted, but with all that was reserved.
 */
void quota_settle(struct quota *usage, struct footprint reserved, struct footprint freed);

/* Whether a process that is alive has NONCE. */
bool quota_alive(struct quota *usage, uint64_t nonce);

/* What the books said last, as this process saw it; false where they know nothing. Never waits. */
bool quota_last(const struct quota *usage, struct footprint *out);

/* The same, from the file. Seconds since the last survey in *AGE; 0 or a negative code. */
int quota_read(struct quota *usage, struct footprint *out, bool *known, uint64_t *age);

/* Where the books stood when someone set out to count. */
struct quota_mark {
    uint64_t generation;
    struct footprint added, freed, pending;
};

/*
 * A sweep: only between begin and end is anything in the folder counted, or deleted that the same
 * thread did not make. Begin returns 0; -EBUSY where another process sweeps, or
 * has been stopped in a sweep; or a negative code. Who dies sweeps no more. One thread of each
 * process.
 */
int quota_eviction_begin(struct quota *usage);
void quota_eviction_end(struct quota *usage);

/* In a sweep: FREED, which the books had when it began, is no longer there. */
void quota_evicted(struct quota *usage, struct footprint freed);

/*
 * A survey, in a sweep: between begin and end everything in the folder is counted, while
 * others go on making. The books then say what was COUNTED and what may have
 * been made meanwhile. Returns 0; -ESTALE where the books were begun anew meanwhile: count
 * again; or a negative code.
 */
int quota_count_begin(struct quota *usage, struct quota_mark *mark);
int quota_count_end(struct quota *usage, const struct quota_mark *mark, struct footprint counted);

#endif
