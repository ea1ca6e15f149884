/*
 * A cache that threads share: records of one size, found by a key. Private to noise/.
 *
 * Whoever finds a record pins it, and it stays as it is until it is unpinned; that takes no lock.
 * Records are filled one at a time: claimed, written, published. The cache never grows; a claim
 * takes the place of the record that was used least recently among those that may hold its key, and
 * that have no pins. A thread that claims must hold no pin, and pins should be held briefly: a
 * claim waits while all records in question are pinned.
 */
#ifndef FARLANDS_SHARED_CACHE_H
#define FARLANDS_SHARED_CACHE_H

#include <stddef.h>
#include <stdint.h>

/* Equal keys name equal content. OWNER and PART: what it is made of; the others: where it lies. */
struct shared_key {
    uint64_t owner;
    int64_t part, size, i, j;
};

struct shared_cache;

/* At most COUNT records with SIZE bytes of content. Returns 0 or -ENOMEM. Memory is touched as it
 * is used. */
int shared_cache_new(struct shared_cache **out, size_t size, int count);
/* No thread may use it any more. */
void shared_cache_free(struct shared_cache *cache);

/* The content of KEY's record, pinned; NULL: it is not there. */
const void *shared_cache_pin(struct shared_cache *cache, const struct shared_key *key);

/* Room for the content of KEY, which is the caller's alone until it is published. */
void *shared_cache_claim(struct shared_cache *cache, const struct shared_key *key);
/* From now on others find CONTENT. It is pinned. */
void shared_cache_publish(struct shared_cache *cache, const void *content);

void shared_cache_unpin(struct shared_cache *cache, const void *content);

#endif
