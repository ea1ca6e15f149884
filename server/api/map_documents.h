/*
 * XML documents by which geographic information systems add layers. Each function returns one
 * reference, or NULL if out of memory. BASE is the beginning of their URLs
 * ("http://host:port/path"), of letters that need no escape in XML. Any thread.
 */
#ifndef FARLANDS_API_MAP_DOCUMENTS_H
#define FARLANDS_API_MAP_DOCUMENTS_H

#include "server/core/blob.h"
#include "server/world/world.h"

/* The tile matrix set of a world's layers, for printf with the world's last zoom. */
#define WMTS_SET "GoogleMapsCompatible_Level%d"
int wmts_max_zoom(const struct world *world);

/*
 * /wmts.xml: the capabilities of a Web Map Tile Service (OGC 07-057r7) with all layers of COUNT
 * worlds from FIRST on. SELF is the document's path below BASE without its ".xml", which is that of
 * the service by keys and values. The window that web maps see is Web
 * Mercator's square (EPSG:3857), because clients of tile services know few other systems.
 */
struct blob *document_wmts(const struct world *first, int count, const char *self,
                           const char *base);

/* An exception report (OGC 06-121r3, 8) of CODE: LOCATOR is the parameter or operation, and WHY the
 * message. */
struct blob *document_wmts_exception(const char *code, const char *locator, const char *why);

/*
 * /{world}/{layer}.xml: the same window for GDAL, with one pixel per block. Its unit is the block
 * and north is up, so y is the block's with the sign changed. A file of the driver WMS or, for
 * 16-bit values, of VRT, which knows what they stand for.
 */
struct blob *document_gdal(const struct world *world, int layer, int field, const char *base);

#endif
