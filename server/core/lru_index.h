/*
 * A set-associative index: 64-bit keys -> slots, which number the entries of an array of the
 * caller's. A new key takes an empty slot of its set, or the one used least recently. Allocates
 * and locks nothing: the memory is the caller's, and one thread at a time uses it.
 */
#ifndef FARLANDS_CORE_LRU_INDEX_H
#define FARLANDS_CORE_LRU_INDEX_H

#include <stdint.h>

struct lru_slot {
    uint64_t key;
    uint64_t used; /* the index's clock at the last use; 0: empty */
};

struct lru_index {
    struct lru_slot *slots; /* sets * ways of them, zeros at first */
    unsigned sets;          /* a power of two: a key's low bits choose its set */
    unsigned ways;
    uint64_t clock; /* uses so far */
};

static inline unsigned lru_set(const struct lru_index *index, uint64_t key)
{
    return (unsigned)(key & (index->sets - 1)) * index->ways;
}

/* The slot that KEY has, or -1. No use of it: see lru_touch. */
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

/* Use the slot that KEY has, or give it one: the caller replaces the entry there. */
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
