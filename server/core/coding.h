/* Content codings (RFC 9110, section 8.4.1): compression by gzip and zstd. Pure, any thread. */
#ifndef FARLANDS_CORE_CODING_H
#define FARLANDS_CORE_CODING_H

#include <stdbool.h>

#include "server/core/blob.h"

/* If a client likes several equally, it gets the last one. */
enum coding { CODING_IDENTITY, CODING_GZIP, CODING_ZSTD, CODINGS };

enum { CODING_MIN = 1024 }; /* bytes: less is not worth it, as it fits one packet anyway */

/* "gzip"; "" for CODING_IDENTITY. */
const char *coding_name(enum coding coding);

/* BODY compressed, one reference; or NULL if out of memory, or if that is not smaller. KEPT: take
 * longer, as it is sent many times. CODING is not CODING_IDENTITY. */
struct blob *coding_pack(const struct blob *body, enum coding coding, bool kept);

/* The same of a reference that is taken over, or NULL; not to be kept, even if that is longer: at
 * most by some bytes. NULL only if out of memory. CODING_IDENTITY: BODY itself. */
struct blob *coding_pack_over(struct blob *body, enum coding coding);

/* The time that either takes for LENGTH bytes of JSON or XML that are not kept, in microseconds:
 * right within a factor of 2 for gzip, zstd takes less. */
static inline uint32_t coding_cost_us(size_t length)
{
    return 8 + (uint32_t)(length / 400);
}

#endif
