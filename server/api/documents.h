/* JSON documents. Each function returns one reference, or NULL if out of memory. Any thread. */
#ifndef FARLANDS_API_DOCUMENTS_H
#define FARLANDS_API_DOCUMENTS_H

#include "server/core/blob.h"
#include "server/routing/route.h"
#include "server/world/world.h"

/* /worlds.json: the catalogue. WATCHED: it names the document of changes. */
struct blob *document_worlds(const struct worlds *worlds, bool watched);

/* {"worlds": ETAG, "error": ERROR, or null if that is empty}. ETAG is that of /worlds.json, and
 * DOCUMENT_CHANGES the name among the viewer's files. */
#define DOCUMENT_CHANGES "changes.json"
struct blob *document_changes(const char *etag, const char *error);

/* /{world}.json: everything about one world. */
struct blob *document_world(const struct world *world);

/* /{world}/{layer}.json: TileJSON 3.0.0. Its URLs begin with BASE ("http://host:port/path"), of at
 * most 1023 bytes. FIELD is the layer's if it is one for each field, and FORMAT that of its
 * tiles, which the layer has. */
struct blob *document_tilejson(const struct world *world, int layer, int field, enum format format,
                               const char *base);

/* {KEY: TEXT} */
struct blob *document_message(const char *key, const char *text);

#endif
