/* Reference-counted bytes that never change: an encoded tile, a document. */
#ifndef FARLANDS_CORE_BLOB_H
#define FARLANDS_CORE_BLOB_H

#include <stddef.h>
#include <stdint.h>

enum { BLOB_USES_MAX = 3 };

struct blob {
    unsigned references; /* atomic; use the functions */
    uint8_t uses;        /* atomic: 0 to BLOB_USES_MAX, by which a cache knows what to keep */
    size_t length;
    uint8_t bytes[];
};

/* LENGTH bytes to fill in, with one reference, or NULL where memory is out. Any thread. */
struct blob *blob_new(size_t length);
/* The same with a copy of BYTES. */
struct blob *blob_copy(const void *bytes, size_t length);

/* The bytes of FIRST and behind them those of SECOND, whose references are taken, or NULL. */
struct blob *blob_join(struct blob *first, struct blob *second);

/* One reference more, or less; the last one frees. Any thread. */
struct blob *blob_hold(struct blob *blob);
void blob_release(struct blob *blob);

/* Count a use. Any thread that holds a reference; no lock. Of two at the same time one may be
 * lost, and a blob in constant use is only read: its cache line stays shared. */
static inline void blob_use(struct blob *blob)
{
    uint8_t uses = __atomic_load_n(&blob->uses, __ATOMIC_RELAXED);
    if (uses < BLOB_USES_MAX)
        __atomic_store_n(&blob->uses, (uint8_t)(uses + 1), __ATOMIC_RELAXED);
}

#endif
