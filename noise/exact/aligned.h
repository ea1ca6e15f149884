/* Memory for vectors. Private to noise/. */
#ifndef FARLANDS_ALIGNED_H
#define FARLANDS_ALIGNED_H

#include <stdlib.h>

enum { ALIGNED_TO = 64 }; /* in bytes: the widest vector, and a cache line */

/* Returns SIZE bytes, or NULL if out of memory. The caller frees them with aligned_free, because
 * Windows has a separate function for aligned memory. */
static inline void *aligned_new(size_t size)
{
#ifdef _WIN32
    return _aligned_malloc(size, ALIGNED_TO);
#else
    return aligned_alloc(ALIGNED_TO, (size + ALIGNED_TO - 1) / ALIGNED_TO * ALIGNED_TO);
#endif
}

static inline void aligned_free(void *memory)
{
#ifdef _WIN32
    _aligned_free(memory);
#else
    free(memory);
#endif
}

#endif
