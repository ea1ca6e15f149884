#include "seed_cache.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

/* A world that stays here is noted again before as many others that it might be forgotten. */
enum { NOTE_AGAIN = FINGERPRINTS_LATEST / 4 };

struct place {
    const struct world *base; /* held by worlds */
    uint64_t seed;
    uint64_t used;         /* when it was last found: the clock */
    uint64_t noted;        /* among the fingerprints, by their clock; 0: not yet */
    struct worlds *worlds; /* the one; NULL: nothing is here */
};

struct seeded {
    struct fingerprints *fingerprints;
    uint64_t clock;
    struct place *found; /* last; or NULL */
    struct place place[SEEDED_MAX];
};

int seeded_new(struct seeded **out, struct fingerprints *fingerprints)
{
    struct seeded *seeded = calloc(1, sizeof *seeded);
    if (!seeded)
        return -ENOMEM;
    seeded->fingerprints = fingerprints;
    *out = seeded;
    return 0;
}

void seeded_clear(struct seeded *seeded)
{
    for (int i = 0; i < SEEDED_MAX; i++) {
        worlds_release(seeded->place[i].worlds);
        seeded->place[i] = (struct place){0};
    }
    seeded->found = NULL;
}

void seeded_free(struct seeded *seeded)
{
    if (!seeded)
        return;
    seeded_clear(seeded);
    free(seeded);
}

/* Where it is, or else where it would go: what is empty, or was not found for longest. */
static struct place *place_of(struct seeded *seeded, const struct world *base, uint64_t seed)
{
    struct place *oldest = seeded->place;

    for (struct place *place = seeded->place; place < seeded->place + SEEDED_MAX; place++) {
        if (place->base == base && place->seed == seed)
            return place;
        if (place->used < oldest->used)
            oldest = place;
    }
    return oldest;
}

const struct world *seeded_find(struct seeded *seeded, const struct world *base, uint64_t seed)
{
    struct place *place = place_of(seeded, base, seed);

    if (place->base != base || place->seed != seed) {
        struct worlds *worlds;
        if (worlds_derive(&worlds, base, seed))
            return NULL;
        worlds_release(place->worlds);
        *place = (struct place){.base = base, .seed = seed, .worlds = worlds};
    }
    place->used = ++seeded->clock;
    seeded->found = place;
    return place->worlds->world;
}

void seeded_keep(struct seeded *seeded)
{
    struct place *place = seeded->found;
    assert(place);
    if (!place->noted || fingerprints_clock(seeded->fingerprints) - place->noted > NOTE_AGAIN)
        place->noted = fingerprints_note(seeded->fingerprints, place->worlds->world);
}
