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

struct setup {
    unsigned references; /* atomic */
    struct config *config;
    struct worlds *worlds;
    struct pages *pages;
};

/* With one reference. CONFIG is taken over, also on error. Returns 0 or a negative code. */
int setup_new(struct setup **out, struct config *config);

/* Whether tiles of FINGERPRINT are served: of a world that is configured, or of one of another seed
 * that may be asked for, and was lately, as FINGERPRINTS say. Any thread. */
bool setup_serves(const struct setup *setup, struct fingerprints *fingerprints,
                  const char *fingerprint);

/* One reference more, or less; the last one frees. Any thread. */
struct setup *setup_hold(struct setup *setup);
void setup_release(struct setup *setup);

#endif
