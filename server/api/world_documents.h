/*
 * The JSON documents about worlds of any seed. To write one takes 25 to 100 us; but the documents
 * of worlds that differ in their seed are the same except for the seed, the fingerprint and the
 * addresses of URLs, so each is written once and then filled in. Any thread.
 */
#ifndef FARLANDS_API_WORLD_DOCUMENTS_H
#define FARLANDS_API_WORLD_DOCUMENTS_H

#include "server/core/blob.h"
#include "server/world/world.h"

struct world_documents;

/* Of WORLDS, which outlive it, and worlds derived from them. Returns 0 or -ENOMEM. */
int world_documents_new(struct world_documents **out, const struct worlds *worlds);
void world_documents_free(struct world_documents *documents);

enum { WORLD_DOCUMENTS_DESCRIPTION = -1 };

/* The TileJSON of LAYER in WORLD (document_tilejson), whose URLs begin with BASE; or, if LAYER is
 * WORLD_DOCUMENTS_DESCRIPTION, document_world. Returns one reference, or NULL if out of memory. */
struct blob *world_documents_get(struct world_documents *documents, const struct world *world,
                                 int layer, const char *base);

#endif
