#include "recent_worlds.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <uv.h>

#include "server/core/lru_index.h"

/*
 * Twice RECENT_WORLDS_MIN slots: after RECENT_WORLDS_MIN additions a set of 16 slots holds 8 on
 * average. Few sets were given more than 16, and have forgotten one (Poisson: 0.4 %).
 */
enum { WAYS = 16, SLOTS = 2 * RECENT_WORLDS_MIN };

struct recent_worlds {
    uv_mutex_t lock;
    uint64_t clock; /* a copy of lru.clock, read without the lock */
    struct lru_index lru;
    struct lru_slot slots[SLOTS];
    char family[SLOTS][FINGERPRINT_TEXT];
};

/* A fingerprint is a 64-bit hash in hexadecimal. */
static uint64_t key_of(const char *fingerprint)
{
    return strtoull(fingerprint, NULL, 16);
}

uint64_t recent_worlds_add(struct recent_worlds *recent, const struct world *world, int kind)
{
    uv_mutex_lock(&recent->lock);
    const int slot = lru_claim(&recent->lru, key_of(world->fingerprints.tile[kind]));
    memcpy(recent->family[slot], world->parameters->family[kind], FINGERPRINT_TEXT);
    const uint64_t now = recent->lru.clock;
    __atomic_store_n(&recent->clock, now, __ATOMIC_RELAXED);
    uv_mutex_unlock(&recent->lock);
    return now;
}

uint64_t recent_worlds_clock(const struct recent_worlds *recent)
{
    return __atomic_load_n(&recent->clock, __ATOMIC_RELAXED);
}

bool recent_worlds_find(struct recent_worlds *recent, const char *fingerprint,
                        char family[FINGERPRINT_TEXT])
{
    uv_mutex_lock(&recent->lock);
    const int slot = lru_find(&recent->lru, key_of(fingerprint));
    if (slot >= 0)
        memcpy(family, recent->family[slot], FINGERPRINT_TEXT);
    uv_mutex_unlock(&recent->lock);
    return slot >= 0;
}

int recent_worlds_new(struct recent_worlds **out)
{
    struct recent_worlds *recent = calloc(1, sizeof *recent);
    if (!recent)
        return -ENOMEM;
    recent->lru = (struct lru_index){.slots = recent->slots, .sets = SLOTS / WAYS, .ways = WAYS};
    int err = uv_mutex_init(&recent->lock);
    if (err) {
        free(recent);
        return err;
    }
    *out = recent;
    return 0;
}

void recent_worlds_free(struct recent_worlds *recent)
{
    if (!recent)
        return;
    uv_mutex_destroy(&recent->lock);
    free(recent);
}
