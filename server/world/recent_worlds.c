#include "recent_worlds.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <uv.h>

/*
 * Twice as many places as are promised: of the latest 4096 a set gets 8 on average, and more than
 * 16 of them, so that one must go, hardly ever (Poisson: 0.4 % of the sets).
 */
enum { WAYS = 16, SETS = 2 * RECENT_WORLDS_LATEST / WAYS };

/* Fingerprints as numbers; they are hashes, so that a remainder of them will do as one. */
struct place {
    uint64_t fingerprint, family;
    uint64_t noted; /* by the clock; 0: nothing is here */
};

struct recent_worlds {
    uv_mutex_t lock;
    uint64_t clock; /* atomic too */
    struct place place[SETS][WAYS];
};

static uint64_t number_of(const char *fingerprint)
{
    return strtoull(fingerprint, NULL, 16);
}

/* Where FINGERPRINT is, or else where it would go: what was noted first of its set. */
static struct place *place_of(struct recent_worlds *recent_worlds, uint64_t fingerprint)
{
    struct place *set = recent_worlds->place[fingerprint % SETS], *oldest = set;

    for (struct place *place = set; place < set + WAYS; place++) {
        if (place->noted && place->fingerprint == fingerprint)
            return place;
        if (place->noted < oldest->noted)
            oldest = place;
    }
    return oldest;
}

uint64_t recent_worlds_add(struct recent_worlds *recent_worlds, const struct world *world)
{
    const uint64_t fingerprint = number_of(world->fingerprint);
    const uint64_t family = number_of(world->family);

    uv_mutex_lock(&recent_worlds->lock);
    const uint64_t now = recent_worlds->clock + 1;
    *place_of(recent_worlds, fingerprint) = (struct place){fingerprint, family, now};
    __atomic_store_n(&recent_worlds->clock, now, __ATOMIC_RELAXED);
    uv_mutex_unlock(&recent_worlds->lock);
    return now;
}

uint64_t recent_worlds_clock(const struct recent_worlds *recent_worlds)
{
    return __atomic_load_n(&recent_worlds->clock, __ATOMIC_RELAXED);
}

bool recent_worlds_find(struct recent_worlds *recent_worlds, const char *fingerprint,
                        char family[FINGERPRINT_TEXT])
{
    const uint64_t wanted = number_of(fingerprint);

    uv_mutex_lock(&recent_worlds->lock);
    const struct place place = *place_of(recent_worlds, wanted);
    uv_mutex_unlock(&recent_worlds->lock);
    if (!place.noted || place.fingerprint != wanted)
        return false;
    snprintf(family, FINGERPRINT_TEXT, "%016" PRIx64, place.family);
    return true;
}

int recent_worlds_new(struct recent_worlds **out)
{
    struct recent_worlds *recent_worlds = calloc(1, sizeof *recent_worlds);
    if (!recent_worlds)
        return -ENOMEM;
    int err = uv_mutex_init(&recent_worlds->lock);
    if (err) {
        free(recent_worlds);
        return err;
    }
    *out = recent_worlds;
    return 0;
}

void recent_worlds_free(struct recent_worlds *recent_worlds)
{
    if (!recent_worlds)
        return;
    uv_mutex_destroy(&recent_worlds->lock);
    free(recent_worlds);
}
