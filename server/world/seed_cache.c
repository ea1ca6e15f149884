#include "seed_cache.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

/* A world that stays here is noted again before as many others that it might be forgotten. */
enum { NOTE_AGAIN = RECENT_WORLDS_LATEST / 4 };

struct place {
    const struct world *base; /* held by worlds */
    uint64_t seed;
    uint64_t used;         /* when it was last found: the clock */
    uint64_t noted;        /* among the fingerprints, by their clock; 0: not yet */
    struct worlds *worlds; /* the one; NULL: nothing is here */
};

struct seed_cache {
    struct recent_worlds *recent_worlds;
    uint64_t clock;
    struct place *found; /* last; or NULL */
    struct place place[SEED_CACHE_MAX];
};

int seed_cache_new(struct seed_cache **out, struct recent_worlds *recent_worlds)
{
    struct seed_cache *seeded = calloc(1, sizeof *seeded);
    if (!seeded)
        return -ENOMEM;
    seeded->recent_worlds = recent_worlds;
    *out = seeded;
    return 0;
}

void seed_cache_clear(struct seed_cache *seeded)
{
    for (int i = 0; i < SEED_CACHE_MAX; i++) {
        worlds_release(seeded->place[i].worlds);
        seeded->place[i] = (struct place){0};
    }
    seeded->found = NULL;
}

void seed_cache_free(struct seed_cache *seeded)
{
    if (!seeded)
        return;
    seed_cache_clear(seeded);
    free(seeded);
}

/* Where it is, or else where it would go: what is empty, or was not found for longest. */
static struct place *place_of(struct seed_cache *seeded, const struct world *base, uint64_t seed)
{
    struct place *oldest = seeded->place;

    for (struct place *place = seeded->place; place < seeded->place + SEED_CACHE_MAX; place++) {
        if (place->base == base && place->seed == seed)
            return place;
        if (place->used < oldest->used)
            oldest = place;
    }
    return oldest;
}

const struct world *seed_cache_find(struct seed_cache *seeded, const struct world *base,
                                    uint64_t seed)
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

void seed_cache_touch(struct seed_cache *seeded)
{
    struct place *place = seeded->found;
    assert(place);
    if (!place->noted || recent_worlds_clock(seeded->recent_worlds) - place->noted > NOTE_AGAIN)
        place->noted = recent_worlds_add(seeded->recent_worlds, place->worlds->world);
}
