/* Reference-counted immutable bytes: an encoded tile, a document. Any thread. */
#ifndef FARLANDS_CORE_BLOB_H
#define FARLANDS_CORE_BLOB_H

#include <stddef.h>
#include <stdint.h>

enum { BLOB_USES_MAX = 3 };

struct blob {
    unsigned references; /* atomic */
    /* Atomic: uses since the memory cache (S3-FIFO) last looked, at most BLOB_USES_MAX. The count
     * is here so that a hit writes no other cache line, and takes no lock. */
    uint8_t uses;
    size_t length;
    uint8_t bytes[];
};

/* LENGTH uninitialized bytes with one reference, or NULL if out of memory. */
struct blob *blob_new(size_t length);
/* A copy of BYTES. */
struct blob *blob_copy(const void *bytes, size_t length);

/* The first LENGTH bytes of BLOB, which has one reference; perhaps elsewhere in memory. */
struct blob *blob_trim(struct blob *blob, size_t length);

/* FIRST's bytes, then SECOND's; NULL if out of memory, or if FIRST or SECOND is NULL. Releases
 * both. */
struct blob *blob_join(struct blob *first, struct blob *second);

/* Take a reference, or drop one: the last one frees. */
struct blob *blob_hold(struct blob *blob);
void blob_release(struct blob *blob);

/* Count a use. Concurrent uses may count as one. A blob in constant use is only read, so that the
 * cache line stays shared. */
static inline void blob_use(struct blob *blob)
{
    uint8_t uses = __atomic_load_n(&blob->uses, __ATOMIC_RELAXED);
    if (uses < BLOB_USES_MAX)
        __atomic_store_n(&blob->uses, (uint8_t)(uses + 1), __ATOMIC_RELAXED);
}

#endif
