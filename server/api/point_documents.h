/*
 * JSON documents about single places. X and Y are in units, and exact in blocks in the document;
 * all other numbers have enough digits to be read back exactly. Each function returns one
 * reference, or NULL if out of memory. Any thread.
 */
#ifndef FARLANDS_API_POINT_DOCUMENTS_H
#define FARLANDS_API_POINT_DOCUMENTS_H

#include <stddef.h>

#include "server/core/blob.h"
#include "server/world/spawn_search.h"

/* {"x": ..., "y": ..., "height": ..., "slope": ..., "normal": [x, y, z]} */
struct blob *document_height(int64_t x, int64_t y, const struct surface *surface);

/* {"heights": [...]}: COUNT heights, in order. */
struct blob *document_heights(const float *heights, size_t count);

/* Like document_height, plus "distance" in blocks. */
struct blob *document_spawn(const struct spawn_place *place);

#endif
