/*
 * XML documents by which geographic information systems add layers. Each function returns one
 * reference, or NULL if out of memory. URLs begin with BASE ("http://host:port/path"), which needs
 * no escapes in XML. Any thread.
 */
#ifndef FARLANDS_API_MAP_DOCUMENTS_H
#define FARLANDS_API_MAP_DOCUMENTS_H

#include "server/core/blob.h"
#include "server/world/world.h"

/* A world's tile matrix set, for printf with the world's last zoom. */
#define WMTS_SET "GoogleMapsCompatible_Level%d"
int wmts_max_zoom(const struct world *world);

/*
 * /wmts.xml: the capabilities of a Web Map Tile Service (OGC 07-057r7) with all layers in COUNT
 * worlds from FIRST on. SELF is the document's path below BASE without ".xml": there the service
 * answers requests by keys and values. Web maps see a window, Web Mercator's square (EPSG:3857),
 * because clients of tile services know few other systems.
 */
struct blob *document_wmts(const struct world *first, int count, const char *self,
                           const char *base);

/* An exception report (OGC 06-121r3, 8) with CODE: LOCATOR is the parameter or operation, and WHY
 * the message. */
struct blob *document_wmts_exception(const char *code, const char *locator, const char *why);

/*
 * /{world}/{layer}.xml: the same window for GDAL, with one pixel per block. The unit is the block,
 * and north is up, so y has the opposite sign. A file for GDAL's driver WMS; for 16-bit values VRT,
 * which has an offset and a scale for them.
 */
struct blob *document_gdal(const struct world *world, int layer, int field, const char *base);

#endif
