/*
 * A set-associative index: 64-bit keys -> slots, indices into an array that the caller has. A new
 * key takes an empty slot in the key's set, or the one used least recently. Allocates and locks
 * nothing: the memory is the caller's. One thread at a time.
 */
#ifndef FARLANDS_CORE_LRU_INDEX_H
#define FARLANDS_CORE_LRU_INDEX_H

#include <stdint.h>

struct lru_slot {
    uint64_t key;
    uint64_t used; /* CLOCK at the last use; 0: empty */
};

struct lru_index {
    struct lru_slot *slots; /* sets * ways, zeros at first */
    unsigned sets;          /* a power of two: a key's low bits choose its set */
    unsigned ways;
    uint64_t clock; /* uses so far */
};

static inline unsigned lru_set(const struct lru_index *index, uint64_t key)
{
    return (unsigned)(key & (index->sets - 1)) * index->ways;
}

/* KEY's slot, or -1. Does not count as a use: see lru_touch. */
static inline int lru_find(const struct lru_index *index, uint64_t key)
{
    const unsigned first = lru_set(index, key);
    for (unsigned slot = first; slot < first + index->ways; slot++)
        if (index->slots[slot].key == key && index->slots[slot].used)
            return (int)slot;
    return -1;
}

/* Count a use of SLOT. */
static inline void lru_touch(struct lru_index *index, int slot)
{
    index->slots[slot].used = ++index->clock;
}

/* Use KEY's slot, or give KEY one: then the caller replaces the entry there. */
static inline int lru_claim(struct lru_index *index, uint64_t key)
{
    int slot = lru_find(index, key);
    if (slot < 0) {
        const unsigned first = lru_set(index, key);
        slot = (int)first;
        for (unsigned other = first; other < first + index->ways; other++)
            if (index->slots[other].used < index->slots[slot].used)
                slot = (int)other;
        index->slots[slot].key = key;
    }
    lru_touch(index, slot);
    return slot;
}

/* Make SLOT empty. */
static inline void lru_drop(struct lru_index *index, int slot)
{
    index->slots[slot].used = 0;
}

#endif
