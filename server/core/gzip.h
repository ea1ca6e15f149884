/* gzip, for short texts: 4 us per KiB. Any thread. */
#ifndef FARLANDS_CORE_GZIP_H
#define FARLANDS_CORE_GZIP_H

#include "server/core/blob.h"

/* TEXT as a gzip file. Returns one reference, or NULL if out of memory. */
struct blob *gzip_compress(const struct blob *text);

#endif
