/* Reference-counted immutable bytes: an encoded tile, a document. Any thread. */
#ifndef FARLANDS_CORE_BLOB_H
#define FARLANDS_CORE_BLOB_H

#include <stddef.h>
#include <stdint.h>

enum { BLOB_USES_MAX = 3 };

struct blob {
    unsigned references; /* atomic */
    /* Atomic: uses since a cache last looked, at most BLOB_USES_MAX. It is the memory cache's
     * (S3-FIFO), but lives here so that a hit writes no other cache line, and takes no lock. */
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

/* The bytes of FIRST followed by those of SECOND, or NULL if out of memory. Releases both, which
 * may be NULL: then it returns NULL. */
struct blob *blob_join(struct blob *first, struct blob *second);

/* Take a reference, or drop one: the last one frees. */
struct blob *blob_hold(struct blob *blob);
void blob_release(struct blob *blob);

/* Count a use. Concurrent uses may count as one. A blob in constant use is only read, so that its
 * cache line stays shared. */
static inline void blob_use(struct blob *blob)
{
    uint8_t uses = __atomic_load_n(&blob->uses, __ATOMIC_RELAXED);
    if (uses < BLOB_USES_MAX)
        __atomic_store_n(&blob->uses, (uint8_t)(uses + 1), __ATOMIC_RELAXED);
}

#endif
