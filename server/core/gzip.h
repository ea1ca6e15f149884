/* Compression of documents by gzip. Pure, any thread. */
#ifndef FARLANDS_CORE_GZIP_H
#define FARLANDS_CORE_GZIP_H

#include "server/core/blob.h"

enum {
    GZIP_MIN = 1024, /* bytes: less is not worth it, as it fits one packet anyway */
    GZIP_FAST = 1,   /* for a document that is sent once */
    GZIP_SMALL = 9,  /* for one that is kept */
};

/* BODY compressed, one reference; or NULL if out of memory, or if that is not smaller. */
struct blob *gzip_blob(const struct blob *body, int level);

/* The same, even if that is longer: at most by some bytes. NULL only if out of memory. */
struct blob *gzip_blob_always(const struct blob *body, int level);

/* The time that GZIP_FAST takes for LENGTH bytes of JSON or XML, in microseconds, right within a
 * factor of 2. */
static inline uint32_t gzip_cost_us(size_t length)
{
    return 8 + (uint32_t)(length / 400);
}

#endif
