/* JSON documents about places and water courses. Each function returns one reference, or NULL if
 * out of memory. Any thread. */
#ifndef FARLANDS_API_POINT_DOCUMENTS_H
#define FARLANDS_API_POINT_DOCUMENTS_H

#include "server/core/blob.h"
#include "server/routing/route.h"
#include "server/world/spawn_search.h"
#include "server/world/world.h"

/* The values of COUNT fields at one or several places: VALUE[I + J * COUNT] is field I at place J.
 * Names need no escapes. */
struct field_values {
    const char *name[ROUTE_FIELDS_MAX];
    const float *value;
    int count;
};

/* The climate at one or several places: VALUE[J] are the values at place J, in the order of enum
 * climate_field. Values are ignored if the world lacks their field. CLIMATE may be NULL, for none.
 */
struct climate_values {
    const struct climate *climate;
    const float (*value)[CLIMATE_FIELDS];
    /* The same for water, in the order of enum water_field. RIVERS may be NULL. */
    const struct world_water *rivers;
    const float (*water)[WATER_FIELDS];
};

/* Documents about single places. X and Y are in units; the document has them in blocks, exactly.
 * All other numbers have enough digits to be read back exactly. */

/* {"x": ..., "y": ..., "height": ..., "surface": ..., "slope": ..., "normal": [x, y, z]}; then
 * "biome": {"id": ..., "name": ...}, "temperature" and "humidity" if there is a CLIMATE; "water"
 * and "depth" in metres, the order of the "river", its "width" in metres, and the "kind" of water,
 * each of which may be null, if there are RIVERS; and "fields": {NAME: ...} if there are FIELDS. */
struct blob *document_height(int64_t x, int64_t y, const struct surface *surface,
                             const struct climate_values *climate,
                             const struct field_values *fields);

/* {"heights": [...], "at": [[x, y], ...]}: COUNT heights and their PLACES (x and y), in order; then
 * "biome": [id, ...], "temperature": [...] and "humidity": [...] if there is a CLIMATE; lists of
 * "water", "depth", "river", "width" and "kind" if there are RIVERS; and
 * "fields": {NAME: [...]} if there are FIELDS. */
struct blob *document_heights(const float *heights, const int64_t (*places)[2], size_t count,
                              const struct climate_values *climate,
                              const struct field_values *fields);

/* A part of a water course, and how to write it. */
struct course_part {
    int64_t x, y; /* where the course begins, units */
    int limit;    /* the most points of a part */
    const struct farlands_course_point *point;
    size_t count;                  /* at least 1 */
    struct farlands_course course; /* where the next part begins */
    bool has_ended;
    enum query_crs crs;
    /* The window of web maps: the first place, in units, and the zoom at which a sample is a block.
     */
    int64_t origin[2];
    int native_zoom;
};

/* GeoJSON: a Feature. Its LineString, or Point if LIMIT is 1, has each point's place in the part's
 * CRS and level. CRS_NORTH adds the member "crs" from older GeoJSON, because GDAL reads that.
 * Properties are "from", lists of "level", "bed", "width", "order" and "kind", "end" and the "next"
 * URL; "end" or "next" is null. */
struct blob *document_course(const struct course_part *part);

/* Like document_height, plus "distance" in blocks from "from": [x, y]. */
struct blob *document_spawn(const struct spawn_place *place, const struct climate_values *climate,
                            int64_t x, int64_t y);

/* {"places": [...], "searched": SEARCHED, "from": [x, y]}: COUNT places in order, each with a
 * "distance". CLIMATE has as many values. "searched" is left out if SEARCHED is below 0. */
struct blob *document_spawns(const struct spawn_place *places, int count,
                             const struct climate_values *climate, int64_t x, int64_t y,
                             int searched);

#endif
