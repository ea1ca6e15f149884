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

struct sweep_parts {
    struct folder *folder;
    struct usage *usage;
    uint64_t nonce;
    /* Whether the tiles of a fingerprint are served; NULL: all are. */
    bool (*is_current)(void *context, const char *fingerprint);
    void *context;
    /* False: stop now. Called for each entry, with the same thread. */
    bool (*go_on)(void *sweeper);
    void *sweeper;
};

struct sweep;

int sweep_new(struct sweep **out, const struct sweep_parts *parts); /* 0 or -ENOMEM */
void sweep_free(struct sweep *sweep);

/*
 * All that follows is done between begin and end, with which one process at a time sweeps a
 * folder. Begin returns 0; -EBUSY where another does; or a negative code.
 */
int sweep_begin(struct sweep *sweep);
void sweep_end(struct sweep *sweep);

/* Delete what dead processes left half-written. 0 or a negative code. */
int sweep_temporaries(struct sweep *sweep);

/*
 * Count everything, correct the books, and remember ages. 0; -ENOSPC where everything was COUNTED,
 * but the disk is too full for the books; -ECANCELED or another negative code.
 */
int sweep_survey(struct sweep *sweep, struct footprint *counted);

/*
 * After a survey: delete at least ROOM, if there is that much: first tiles that are not
 * current, then those not asked for in the longest time; and folders that are
 * empty. *FREED says how much went. 0, -ECANCELED or a negative code.
 */
int sweep_evict(struct sweep *sweep, struct footprint room, struct footprint *freed);

#endif
