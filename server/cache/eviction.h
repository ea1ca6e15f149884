/*
 * An eviction pass over a cache directory: remove abandoned temporary files, count all files and
 * sample the tiles' ages, then delete the least recently used tiles. All by one thread, and, except
 * new and free, between quota_eviction_begin and quota_eviction_end.
 */
#ifndef FARLANDS_CACHE_EVICTION_H
#define FARLANDS_CACHE_EVICTION_H

#include "server/cache/quota.h"

/* The parts that a pass uses. They remain the caller's, and outlive the eviction. */
struct eviction_parts {
    struct directory *directory;
    struct quota *quota;
    /* True if the tiles of FINGERPRINT are served now; NULL: all are. */
    bool (*is_current)(void *context, const char *fingerprint);
    void *context;
    /* Called for each directory entry. False cancels the pass. */
    bool (*go_on)(void *go_on_context);
    void *go_on_context;
};

struct eviction;

int eviction_new(struct eviction **out, const struct eviction_parts *parts); /* 0 or -ENOMEM */
void eviction_free(struct eviction *eviction);

/* Delete the temporary files of processes that have ended. Returns 0, -ECANCELED or another
 * negative code. */
int eviction_remove_temporaries(struct eviction *eviction);

/*
 * Count all files, correct the ledger, and sample the tiles' ages. *USED is the usage afterwards.
 * Returns 0; -ENOSPC if everything was counted, but the disk is too full for the ledger; -ECANCELED
 * or another negative code.
 */
int eviction_count(struct eviction *eviction, struct footprint *used);

/*
 * After a count, free at least SIZE, if there is that much. Tiles that are not current go first,
 * then the least recently used. Directories that become empty go, too. *FREED is the size of
 * everything deleted. Returns 0, -ECANCELED or another negative code.
 */
int eviction_run(struct eviction *eviction, struct footprint size, struct footprint *freed);

#endif
