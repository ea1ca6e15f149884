/* Content codings (RFC 9110, section 8.4.1): compression by gzip and zstd. Pure, any thread. */
#ifndef FARLANDS_CORE_CODING_H
#define FARLANDS_CORE_CODING_H

#include <stdbool.h>

#include "server/core/blob.h"

/* If a client likes several equally, it gets the last one. */
enum coding { CODING_IDENTITY, CODING_GZIP, CODING_ZSTD, CODINGS };

enum { CODING_MIN = 1024 }; /* bytes: less fits one packet anyway */

/* "gzip"; "" for CODING_IDENTITY. */
const char *coding_name(enum coding coding);

/* BODY compressed, one reference; NULL if out of memory, or if compression makes BODY no smaller.
 * KEPT: take longer, because the result is sent many times. CODING is not CODING_IDENTITY. */
struct blob *coding_pack(const struct blob *body, enum coding coding, bool kept);

/* The same, not to be kept. Takes over BODY, which may be NULL; CODING_IDENTITY returns BODY
 * itself. The result may be some bytes longer than BODY. NULL only if BODY is, or if out of memory.
 */
struct blob *coding_pack_over(struct blob *body, enum coding coding);

/* The time in microseconds to compress LENGTH bytes of JSON or XML that are not kept: within a
 * factor of 2 for gzip; zstd takes less. */
static inline uint32_t coding_cost_us(size_t length)
{
    return 8 + (uint32_t)(length / 400);
}

#endif
