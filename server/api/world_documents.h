/*
 * The documents about worlds of any seed. Those about layers are short: to write one takes 10 to 20
 * us. The description and WMTS take up to a millisecond; but those of worlds that differ in their
 * seed are the same except for the seed, the fingerprints and the addresses of URLs, so each is
 * written once and then filled in. Any thread.
 */
#ifndef FARLANDS_API_WORLD_DOCUMENTS_H
#define FARLANDS_API_WORLD_DOCUMENTS_H

#include "server/core/blob.h"
#include "server/world/world.h"

struct world_documents;

/* Of WORLDS, which outlive it, and worlds derived from them. Returns 0 or -ENOMEM. */
int world_documents_new(struct world_documents **out, const struct worlds *worlds);
void world_documents_free(struct world_documents *documents);

enum world_document {
    /* The long ones: */
    WORLD_DOCUMENT_DESCRIPTION, /* document_world */
    WORLD_DOCUMENT_WMTS,        /* document_wmts of the world alone */
    /* The others: */
    WORLD_DOCUMENT_TILEJSON, /* document_tilejson of a layer */
    WORLD_DOCUMENT_TILEJSON_WEBP,
    WORLD_DOCUMENT_GDAL, /* document_gdal of a layer */
};

/* The media type. */
const char *world_documents_type(enum world_document document);

/* The document about WORLD, or LAYER in it (of FIELD, if it is one for each), whose URLs begin with
 * BASE. Returns one reference, or NULL if out of memory. */
struct blob *world_documents_get(struct world_documents *documents, const struct world *world,
                                 enum world_document document, int layer, int field,
                                 const char *base);

/* document_wmts of all configured worlds. */
struct blob *world_documents_wmts(struct world_documents *documents, const char *base);

#endif
