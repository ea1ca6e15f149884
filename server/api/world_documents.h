/*
 * Documents about worlds with any seed. A document about a layer takes 10 to 20 us to write. The
 * description and WMTS take up to a millisecond. But between two seeds of a world they differ only
 * in seed, fingerprints and the addresses in URLs, so each is written once and then filled in. Any
 * thread.
 */
#ifndef FARLANDS_API_WORLD_DOCUMENTS_H
#define FARLANDS_API_WORLD_DOCUMENTS_H

#include "server/core/blob.h"
#include "server/world/world.h"

struct world_documents;

/* For WORLDS, which outlive *OUT, and worlds derived from them. Returns 0 or -ENOMEM. */
int world_documents_new(struct world_documents **out, const struct worlds *worlds);
void world_documents_free(struct world_documents *documents);

enum world_document {
    /* The long ones: */
    WORLD_DOCUMENT_DESCRIPTION, /* document_world */
    WORLD_DOCUMENT_WMTS,        /* document_wmts for this world alone */
    /* The others: */
    WORLD_DOCUMENT_TILEJSON, /* document_tilejson */
    WORLD_DOCUMENT_TILEJSON_WEBP,
    WORLD_DOCUMENT_GDAL, /* document_gdal */
};

/* The media type. */
const char *world_documents_type(enum world_document document);

/* The document about WORLD, or about LAYER (with FIELD, if LAYER is one for each field). URLs begin
 * with BASE. Returns one reference, or NULL if out of memory. */
struct blob *world_documents_get(struct world_documents *documents, const struct world *world,
                                 enum world_document document, int layer, int field,
                                 const char *base);

/* document_wmts for all configured worlds. */
struct blob *world_documents_wmts(struct world_documents *documents, const char *base);

#endif
