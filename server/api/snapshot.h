/*
 * What is served, as one configuration says it: immutable, shared by all
 * threads, and replaced as a whole when the configuration is read again.
 */
#ifndef FARLANDS_API_SNAPSHOT_H
#define FARLANDS_API_SNAPSHOT_H

#include "config/config.h"
#include "server/api/static_pages.h"
#include "server/world/recent_worlds.h"
#include "server/world/world.h"

struct snapshot {
    unsigned references; /* atomic */
    struct config *config;
    struct worlds *worlds;
    struct static_pages *pages;
};

/* With one reference. CONFIG is taken over, also on error. Returns 0 or a negative code. */
int snapshot_new(struct snapshot **out, struct config *config);

/* Whether tiles of FINGERPRINT are served: of a world that is configured, or of one of another seed
 * that may be asked for, and was lately, as RECENT_WORLDS say. Any thread. */
bool snapshot_serves(const struct snapshot *snapshot, struct recent_worlds *recent_worlds,
                     const char *fingerprint);

/* One reference more, or less; the last one frees. Any thread. */
struct snapshot *snapshot_hold(struct snapshot *snapshot);
void snapshot_release(struct snapshot *snapshot);

#endif
