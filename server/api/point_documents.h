/*
 * The JSON documents about single places. Places are in units, and told in blocks exactly; every
 * other number has the digits that give it back exactly. Each returns one reference, or NULL where
 * memory is out. Any thread.
 */
#ifndef FARLANDS_API_POINT_DOCUMENTS_H
#define FARLANDS_API_POINT_DOCUMENTS_H

#include <stddef.h>

#include "server/core/blob.h"
#include "server/world/spawn_search.h"

/* {"x": ..., "y": ..., "height": ..., "slope": ..., "normal": [x, y, z]} */
struct blob *document_height(int64_t x, int64_t y, const struct surface *surface);

/* {"heights": [...]}: COUNT of them, in order. */
struct blob *document_heights(const float *heights, size_t count);

/* As document_height, with the "distance" in blocks behind it. */
struct blob *document_spawn(const struct spawn_place *place);

#endif
