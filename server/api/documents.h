/* JSON documents. Each function returns one reference, or NULL if out of memory. Any thread. */
#ifndef FARLANDS_API_DOCUMENTS_H
#define FARLANDS_API_DOCUMENTS_H

#include "server/core/blob.h"
#include "server/routing/route.h"
#include "server/world/world.h"

/* /worlds.json: the catalogue. WATCHED: with the URL of document_changes. */
struct blob *document_worlds(const struct worlds *worlds, bool watched);

/* {"worlds": ETAG, "error": ERROR}; null if ERROR is empty. ETAG is /worlds.json's, and
 * DOCUMENT_CHANGES the name among the viewer's files. */
#define DOCUMENT_CHANGES "changes.json"
struct blob *document_changes(const char *etag, const char *error);

/* /{world}.json: everything about one world. */
struct blob *document_world(const struct world *world);

/* /{world}/{layer}.json: TileJSON 3.0.0. URLs begin with BASE ("http://host:port/path"), at most
 * 1023 bytes. FIELD is the field of a `field` layer. FORMAT, which LAYER has, is the tiles' format.
 */
struct blob *document_tilejson(const struct world *world, int layer, int field, enum format format,
                               const char *base);

/* {KEY: TEXT} */
struct blob *document_message(const char *key, const char *text);

#endif
