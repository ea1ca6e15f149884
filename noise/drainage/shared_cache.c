#include "noise/drainage/shared_cache.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "noise/exact/aligned.h"
#include "noise/exact/arithmetic.h"
#include "noise/exact/lattice.h"

/* A key may be in any record of its set. */
enum { WAYS = 16 };

/* A record's state: how many pins it has; and whether it is claimed. A record that is claimed or
 * new has no key, so that pins on it are withdrawn at once. */
static const uint32_t CLAIMED = UINT32_C(1) << 31;

struct record {
    uint32_t state;
    uint64_t hash; /* of the key; 0: none */
    uint64_t used; /* when: a count */
    struct shared_key key;
    _Alignas(ALIGNED_TO) char content[];
};

struct shared_cache {
    size_t stride; /* bytes from record to record */
    uint64_t sets;
    uint64_t clock;
    char *records;
};

int shared_cache_new(struct shared_cache **out, size_t size, int count)
{
    struct shared_cache *cache = malloc(sizeof *cache);
    if (!cache)
        return -ENOMEM;
    const size_t stride = (sizeof(struct record) + size + ALIGNED_TO - 1) / ALIGNED_TO * ALIGNED_TO;
    const uint64_t sets = count > WAYS ? (uint64_t)(count / WAYS) : 1;
    *cache = (struct shared_cache){stride, sets, 0, aligned_new((size_t)sets * WAYS * stride)};
    if (!cache->records) {
        free(cache);
        return -ENOMEM;
    }
    for (uint64_t k = 0; k < sets * WAYS; k++)
        memset(cache->records + k * stride, 0, sizeof(struct record));
    *out = cache;
    return 0;
}

void shared_cache_free(struct shared_cache *cache)
{
    if (cache)
        aligned_free(cache->records);
    free(cache);
}

/* Never 0. */
static uint64_t hash_of(const struct shared_key *key)
{
    const int64_t part[] = {key->part, key->size, key->i, key->j};
    uint64_t hash = lattice_mix(key->owner);
    for (size_t k = 0; k < sizeof part / sizeof *part; k++)
        hash = lattice_mix(hash ^ (uint64_t)part[k]);
    return hash | 1;
}

static bool is_same(const struct shared_key *a, const struct shared_key *b)
{
    return a->owner == b->owner && a->part == b->part && a->size == b->size && a->i == b->i &&
           a->j == b->j;
}

static struct record *record_at(const struct shared_cache *cache, uint64_t hash, int way)
{
    const uint64_t set = (hash >> 16) % cache->sets;
    return (struct record *)(void *)(cache->records + (set * WAYS + (uint64_t)way) * cache->stride);
}

/* The record of CONTENT. */
static struct record *record_of(const struct shared_cache *cache, const void *content)
{
    const size_t at = (size_t)((const char *)content - cache->records) / cache->stride;
    return (struct record *)(void *)(cache->records + at * cache->stride);
}

static void touch(struct shared_cache *cache, struct record *record)
{
    __atomic_store_n(&record->used, __atomic_add_fetch(&cache->clock, 1, __ATOMIC_RELAXED),
                     __ATOMIC_RELAXED);
}

const void *shared_cache_pin(struct shared_cache *cache, const struct shared_key *key)
{
    const uint64_t hash = hash_of(key);
    for (int way = 0; way < WAYS; way++) {
        struct record *record = record_at(cache, hash, way);
        if (__atomic_load_n(&record->hash, __ATOMIC_RELAXED) != hash)
            continue;
        /* What was written before it was published is seen from here on. */
        const uint32_t state = __atomic_fetch_add(&record->state, 1, __ATOMIC_ACQUIRE);
        if (!(state & CLAIMED) && __atomic_load_n(&record->hash, __ATOMIC_RELAXED) == hash &&
            is_same(&record->key, key)) {
            touch(cache, record);
            return record->content;
        }
        __atomic_fetch_sub(&record->state, 1, __ATOMIC_RELEASE);
    }
    return NULL;
}

/* Claim the record without pins that was used least recently in HASH's set; NULL if there is none,
 * or if another thread was faster. */
static struct record *try_to_claim(const struct shared_cache *cache, uint64_t hash)
{
    struct record *oldest = NULL;
    uint64_t least = UINT64_MAX;
    for (int way = 0; way < WAYS; way++) {
        struct record *record = record_at(cache, hash, way);
        const uint64_t used = __atomic_load_n(&record->used, __ATOMIC_RELAXED);
        if (used < least && __atomic_load_n(&record->state, __ATOMIC_RELAXED) == 0) {
            oldest = record;
            least = used;
        }
    }
    uint32_t free_of_pins = 0;
    const bool is_ours =
        oldest && __atomic_compare_exchange_n(&oldest->state, &free_of_pins, CLAIMED, false,
                                              __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
    return is_ours ? oldest : NULL;
}

void *shared_cache_claim(struct shared_cache *cache, const struct shared_key *key)
{
    const uint64_t hash = hash_of(key);
    struct record *record;
    do {
        record = try_to_claim(cache, hash);
    } while (!record);
    __atomic_store_n(&record->hash, 0, __ATOMIC_RELAXED);
    record->key = *key;
    touch(cache, record);
    return record->content;
}

void shared_cache_publish(struct shared_cache *cache, const void *content)
{
    struct record *record = record_of(cache, content);
    __atomic_store_n(&record->hash, hash_of(&record->key), __ATOMIC_RELAXED);
    __atomic_fetch_sub(&record->state, CLAIMED - 1, __ATOMIC_RELEASE);
}

void shared_cache_unpin(struct shared_cache *cache, const void *content)
{
    __atomic_fetch_sub(&record_of(cache, content)->state, 1, __ATOMIC_RELEASE);
}
