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
enum { WAYS = 16, SETS = 2 * FINGERPRINTS_LATEST / WAYS };

/* Fingerprints as numbers; they are hashes, so that a remainder of them will do as one. */
struct place {
    uint64_t fingerprint, family;
    uint64_t noted; /* by the clock; 0: nothing is here */
};

struct fingerprints {
    uv_mutex_t lock;
    uint64_t clock; /* atomic too */
    struct place place[SETS][WAYS];
};

static uint64_t number_of(const char *fingerprint)
{
    return strtoull(fingerprint, NULL, 16);
}

/* Where FINGERPRINT is, or else where it would go: what was noted first of its set. */
static struct place *place_of(struct fingerprints *fingerprints, uint64_t fingerprint)
{
    struct place *set = fingerprints->place[fingerprint % SETS], *oldest = set;

    for (struct place *place = set; place < set + WAYS; place++) {
        if (place->noted && place->fingerprint == fingerprint)
            return place;
        if (place->noted < oldest->noted)
            oldest = place;
    }
    return oldest;
}

uint64_t fingerprints_note(struct fingerprints *fingerprints, const struct world *world)
{
    const uint64_t fingerprint = number_of(world->fingerprint);
    const uint64_t family = number_of(world->family);

    uv_mutex_lock(&fingerprints->lock);
    const uint64_t now = fingerprints->clock + 1;
    *place_of(fingerprints, fingerprint) = (struct place){fingerprint, family, now};
    __atomic_store_n(&fingerprints->clock, now, __ATOMIC_RELAXED);
    uv_mutex_unlock(&fingerprints->lock);
    return now;
}

uint64_t fingerprints_clock(const struct fingerprints *fingerprints)
{
    return __atomic_load_n(&fingerprints->clock, __ATOMIC_RELAXED);
}

bool fingerprints_find(struct fingerprints *fingerprints, const char *fingerprint,
                       char family[FINGERPRINT_TEXT])
{
    const uint64_t wanted = number_of(fingerprint);

    uv_mutex_lock(&fingerprints->lock);
    const struct place place = *place_of(fingerprints, wanted);
    uv_mutex_unlock(&fingerprints->lock);
    if (!place.noted || place.fingerprint != wanted)
        return false;
    snprintf(family, FINGERPRINT_TEXT, "%016" PRIx64, place.family);
    return true;
}

int fingerprints_new(struct fingerprints **out)
{
    struct fingerprints *fingerprints = calloc(1, sizeof *fingerprints);
    if (!fingerprints)
        return -ENOMEM;
    int err = uv_mutex_init(&fingerprints->lock);
    if (err) {
        free(fingerprints);
        return err;
    }
    *out = fingerprints;
    return 0;
}

void fingerprints_free(struct fingerprints *fingerprints)
{
    if (!fingerprints)
        return;
    uv_mutex_destroy(&fingerprints->lock);
    free(fingerprints);
}
