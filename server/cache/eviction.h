/*
 * Makes room in a cache folder, and counts what is in it: one pass counts and draws a sample of
 * the tiles' ages, from which follows which tiles must go; a second pass deletes them.
 * One thread, the sweeper's.
 */
#ifndef FARLANDS_CACHE_EVICTION_H
#define FARLANDS_CACHE_EVICTION_H

#include <stdbool.h>
#include <stdint.h>

#include "server/cache/quota.h"

struct eviction_parts {
    struct directory *directory;
    struct quota *usage;
    uint64_t nonce;
    /* Whether the tiles of a fingerprint are served; NULL: all are. */
    bool (*is_current)(void *context, const char *fingerprint);
    void *context;
    /* False: stop now. Called for each entry, with the same thread. */
    bool (*go_on)(void *evictor);
    void *evictor;
};

struct eviction;

int eviction_new(struct eviction **out, const struct eviction_parts *parts); /* 0 or -ENOMEM */
void eviction_free(struct eviction *sweep);

/*
 * All that follows is done between begin and end, with which one process at a time sweeps a
 * folder. Begin returns 0; -EBUSY where another does; or a negative code.
 */
int eviction_begin(struct eviction *sweep);
void eviction_end(struct eviction *sweep);

/* Delete what dead processes left half-written. 0 or a negative code. */
int eviction_temporaries(struct eviction *sweep);

/*
 * Count everything, correct the books, and remember ages. 0; -ENOSPC where everything was COUNTED,
 * but the disk is too full for the books; -ECANCELED or another negative code.
 */
int eviction_count(struct eviction *sweep, struct footprint *counted);

/*
 * After a survey: delete at least ROOM, if there is that much: first tiles that are not
 * current, then those not asked for in the longest time; and folders that are
 * empty. *FREED says how much went. 0, -ECANCELED or a negative code.
 */
int eviction_run(struct eviction *sweep, struct footprint room, struct footprint *freed);

#endif
