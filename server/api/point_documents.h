/* JSON documents about places and courses of water. Each function returns one reference, or NULL if
 * out of memory. Any thread. */
#ifndef FARLANDS_API_POINT_DOCUMENTS_H
#define FARLANDS_API_POINT_DOCUMENTS_H

#include "server/core/blob.h"
#include "server/routing/route.h"
#include "server/world/spawn_search.h"
#include "server/world/world.h"

/* The values of COUNT fields at a place, or at several: that of field I at place J is number I + J
 * * COUNT. Names need no escapes. */
struct field_values {
    const char *name[ROUTE_FIELDS_MAX];
    const float *value;
    int count;
};

/* The climate at a place, or at several: the values of its fields at place J are VALUE[J], in the
 * order of enum climate_field; those of fields that the world does not have are ignored. CLIMATE
 * may be NULL: then there is none. */
struct climate_values {
    const struct climate *climate;
    const float (*value)[CLIMATE_FIELDS];
    /* The same of the water, in the order of enum water_field. RIVERS may be NULL. */
    const struct world_water *rivers;
    const float (*water)[WATER_FIELDS];
};

/* Documents about single places. X and Y are in units, and exact in blocks in the document; all
 * other numbers have enough digits to be read back exactly. */

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

/* A part of a course of water, and what to tell with it. */
struct course_part {
    int64_t x, y; /* where the course begins, units */
    int limit;    /* the most points of a part */
    const struct farlands_course_point *point;
    size_t count;                  /* at least 1 */
    struct farlands_course course; /* what the next part begins with */
    bool has_ended;
    enum query_crs crs;
    /* The window of web maps: its first place, in units, and the zoom at which a sample is a block.
     */
    int64_t origin[2];
    int native_zoom;
};

/* GeoJSON: a Feature, whose LineString has the place, by the part's CRS, and level of each point,
 * or a Point if LIMIT is 1. With CRS_NORTH it has the member "crs" of older GeoJSON, which GDAL
 * reads. Its properties are "from", lists of "level", "bed", "width", "order" and "kind", the "end"
 * and the "next" URL, either of which is null. */
struct blob *document_course(const struct course_part *part);

/* Like document_height, plus "distance" in blocks, and "from": [x, y], where that begins. */
struct blob *document_spawn(const struct spawn_place *place, const struct climate_values *climate,
                            int64_t x, int64_t y);

/* {"places": [...], "searched": SEARCHED, "from": [x, y]}: COUNT places in order, each with its
 * "distance". The same number of values in CLIMATE. "searched" is left out if SEARCHED is below 0.
 */
struct blob *document_spawns(const struct spawn_place *places, int count,
                             const struct climate_values *climate, int64_t x, int64_t y,
                             int searched);

#endif
