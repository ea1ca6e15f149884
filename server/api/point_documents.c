#include "point_documents.h"

#include <inttypes.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "config/values/exact_numbers.h"
#include "noise/graph/rivers_params.h"
#include "server/core/json.h"
#include "server/world/web_window.h"

/* Places have more digits than a double. */
static void add_blocks(struct json *document, const char *key, int64_t units)
{
    char text[BLOCKS_TEXT];
    json_raw(document, key, blocks_format(units, text));
}

/* [X, Y] */
static void add_place(struct json *document, const char *key, int64_t x, int64_t y)
{
    json_list(document, key);
    add_blocks(document, NULL, x);
    add_blocks(document, NULL, y);
    json_close(document);
}

static void add_surface(struct json *document, int64_t x, int64_t y, const struct surface *surface)
{
    add_blocks(document, "x", x);
    add_blocks(document, "y", y);
    json_float(document, "height", surface->height);
    json_float(document, "surface", surface->ground);
    json_float(document, "slope", surface->slope);
    json_list(document, "normal");
    for (int i = 0; i < 3; i++)
        json_float(document, NULL, surface->normal[i]);
    json_close(document);
}

/* KEY's values: a list of COUNT, or one if COUNT is 0. */
struct values {
    struct json *document;
    const char *key; /* NULL in a list */
    size_t count;
};

static struct values begin_values(struct json *document, const char *key, size_t count)
{
    if (count > 0)
        json_list(document, key);
    return (struct values){document, count > 0 ? NULL : key, count > 0 ? count : 1};
}

static void end_values(const struct values *values)
{
    if (!values->key)
        json_close(values->document);
}

/* Below, COUNT is the number of places, or 0 if the document is about one place. */

static void add_fields(struct json *document, const struct field_values *fields, size_t count)
{
    if (fields->count == 0)
        return;
    json_object(document, "fields");
    for (int i = 0; i < fields->count; i++) {
        const struct values values = begin_values(document, fields->name[i], count);
        for (size_t j = 0; j < values.count; j++)
            json_float(document, values.key, fields->value[j * (size_t)fields->count + (size_t)i]);
        end_values(&values);
    }
    json_close(document);
}

static void add_climate_field(struct json *document, const struct climate_values *climate,
                              enum climate_field field, size_t count)
{
    static const char *const names[] = {"temperature", "humidity", "biome"};
    const struct values values = begin_values(document, names[field], count);

    for (size_t i = 0; i < values.count; i++)
        json_float(document, values.key, climate->value[i][field]);
    end_values(&values);
}

static void add_biome(struct json *document, const struct climate *climate, int id)
{
    const int row = biome_table_row(climate->table, id);

    json_object(document, "biome");
    json_integer(document, "id", id);
    json_string(document, "name", row < 0 ? "" : climate->table->look[row].name);
    json_close(document);
}

static void add_climate(struct json *document, const struct climate_values *values, size_t count)
{
    const struct climate *climate = values->climate;

    if (!climate)
        return;
    if (count > 0)
        add_climate_field(document, values, CLIMATE_BIOME, count);
    else
        add_biome(document, climate, (int)values->value[0][CLIMATE_BIOME]);
    if (climate->temperature >= 0)
        add_climate_field(document, values, CLIMATE_TEMPERATURE, count);
    if (climate->humidity >= 0)
        add_climate_field(document, values, CLIMATE_HUMIDITY, count);
}

enum { WATER_KEYS = 5 };

/* Value K about the water HERE: null if there is none. */
static void add_water_value(struct json *document, const char *key, int k,
                            const struct water_here *here)
{
    const float value[] = {here->level, here->depth, (float)here->order, (float)here->width};

    if (k == WATER_KEYS - 1)
        json_string(document, key, here->kind);
    else if (k < 2 ? here->kind != NULL : here->order > 0)
        json_float(document, key, value[k]);
    else
        json_raw(document, key, "null");
}

static void add_water(struct json *document, const struct climate_values *climate,
                      const float *height, size_t count)
{
    static const char *const names[WATER_KEYS] = {"water", "depth", "river", "width", "kind"};

    for (int k = 0; climate->rivers && k < WATER_KEYS; k++) {
        const struct values values = begin_values(document, names[k], count);
        for (size_t i = 0; i < values.count; i++) {
            const float *value = climate->water[i];
            const struct water_here here = world_water_here(climate->rivers, value[WATER_LEVEL],
                                                            value[WATER_ORDER], height[i]);
            add_water_value(document, values.key, k, &here);
        }
        end_values(&values);
    }
}

struct blob *document_height(int64_t x, int64_t y, const struct surface *surface,
                             const struct climate_values *climate,
                             const struct field_values *fields)
{
    struct json document = json_new(false);

    add_surface(&document, x, y, surface);
    add_climate(&document, climate, 0);
    add_water(&document, climate, &surface->height, 0);
    add_fields(&document, fields, 0);
    return json_end(&document);
}

struct blob *document_heights(const float *heights, const int64_t (*places)[2], size_t count,
                              const struct climate_values *climate,
                              const struct field_values *fields)
{
    struct json document = json_new(false);

    json_list(&document, "heights");
    for (size_t i = 0; i < count; i++)
        json_float(&document, NULL, heights[i]);
    json_close(&document);
    json_list(&document, "at");
    for (size_t i = 0; i < count; i++)
        add_place(&document, NULL, places[i][0], places[i][1]);
    json_close(&document);
    add_climate(&document, climate, count);
    add_water(&document, climate, heights, count);
    add_fields(&document, fields, count);
    return json_end(&document);
}

/* PLACE, number I of those in CLIMATE. */
static void add_spawn(struct json *document, const struct spawn_place *place,
                      const struct climate_values *climate, int i)
{
    struct climate_values here = *climate;

    here.value = here.climate ? here.value + i : NULL;
    here.water = here.rivers ? here.water + i : NULL;
    add_surface(document, place->x, place->y, &place->surface);
    add_climate(document, &here, 0);
    add_water(document, &here, &place->surface.height, 0);
    json_real(document, "distance", place->distance);
}

struct blob *document_spawn(const struct spawn_place *place, const struct climate_values *climate,
                            int64_t x, int64_t y)
{
    struct json document = json_new(false);

    add_spawn(&document, place, climate, 0);
    add_place(&document, "from", x, y);
    return json_end(&document);
}

struct blob *document_spawns(const struct spawn_place *places, int count,
                             const struct climate_values *climate, int64_t x, int64_t y,
                             int searched)
{
    struct json document = json_new(false);

    json_list(&document, "places");
    for (int i = 0; i < count; i++) {
        json_object(&document, NULL);
        add_spawn(&document, &places[i], climate, i);
        json_close(&document);
    }
    json_close(&document);
    if (searched >= 0)
        json_integer(&document, "searched", searched);
    add_place(&document, "from", x, y);
    return json_end(&document);
}

/* --- Courses --- */

static void add_numbers(struct json *document, const char *key, const struct course_part *part,
                        size_t offset)
{
    json_list(document, key);
    for (size_t i = 0; i < part->count; i++) {
        float number;
        memcpy(&number, (const char *)&part->point[i] + offset, sizeof number);
        json_float(document, NULL, number);
    }
    json_close(document);
}

/* NUMBER in just enough decimals to tell units apart, because the last bits of a sine differ
 * between machines. */
static void add_degrees(struct json *document, double number)
{
    json_real(document, NULL, floor(number * 1e9 + 0.5) / 1e9);
}

static void add_coordinates(struct json *document, const char *key, const struct course_part *part,
                            const struct farlands_course_point *point)
{
    json_list(document, key);
    if (part->crs == CRS_LNGLAT) {
        const int zoom = part->native_zoom;
        add_degrees(document, web_longitude(web_window_position(point->x, part->origin[0], zoom)));
        add_degrees(document, web_latitude(web_window_position(point->y, part->origin[1], zoom)));
    } else {
        add_blocks(document, NULL, point->x);
        add_blocks(document, NULL, part->crs == CRS_NORTH ? -point->y : point->y);
    }
    json_float(document, NULL, point->level);
    json_close(document);
}

/* Without this GDAL and QGIS assume WGS 84. */
static void add_crs(struct json *document)
{
    json_object(document, "crs");
    json_string(document, "type", "name");
    json_object(document, "properties");
    json_string(document, "name",
                "ENGCRS[\"blocks, y to the north\",EDATUM[\"Farlands\"],CS[Cartesian,2],"
                "AXIS[\"x\",east],AXIS[\"y\",north],LENGTHUNIT[\"metre\",1]]");
    json_close(document);
    json_close(document);
}

static void add_geometry(struct json *document, const struct course_part *part)
{
    const bool is_line = part->limit > 1;

    json_object(document, "geometry");
    json_string(document, "type", is_line ? "LineString" : "Point");
    if (is_line)
        json_list(document, "coordinates");
    for (size_t i = 0; i < part->count; i++)
        add_coordinates(document, is_line ? NULL : "coordinates", part, &part->point[i]);
    if (is_line)
        json_close(document);
    json_close(document);
}

static void add_next(struct json *document, const struct course_part *part)
{
    char x[BLOCKS_TEXT], y[BLOCKS_TEXT];
    const bool usual = part->crs == CRS_BLOCKS;

    if (part->has_ended)
        json_string(document, "next", NULL);
    else
        json_text(document, "next",
                  "downstream?x=%s&y=%s&limit=%d%s%s&after=%" PRId64 ",%" PRId64 ",%d",
                  blocks_format(part->x, x), blocks_format(part->y, y), part->limit,
                  usual ? "" : "&crs=", usual ? "" : query_crs_name(part->crs), part->course.i,
                  part->course.j, part->course.step);
}

struct blob *document_course(const struct course_part *part)
{
    static const char *const kinds[] = {"land", "river", "lake", "sea", "end lake"};
    struct json document = json_new(false);

    json_string(&document, "type", "Feature");
    if (part->crs == CRS_NORTH)
        add_crs(&document);
    add_geometry(&document, part);
    json_object(&document, "properties");
    add_place(&document, "from", part->x, part->y);
    add_numbers(&document, "level", part, offsetof(struct farlands_course_point, level));
    add_numbers(&document, "bed", part, offsetof(struct farlands_course_point, bed));
    add_numbers(&document, "width", part, offsetof(struct farlands_course_point, width));
    add_numbers(&document, "order", part, offsetof(struct farlands_course_point, order));
    json_list(&document, "kind");
    for (size_t i = 0; i < part->count; i++)
        json_string(&document, NULL, kinds[part->point[i].kind]);
    json_close(&document);
    json_string(&document, "end",
                part->has_ended ? kinds[part->point[part->count - 1].kind] : NULL);
    add_next(&document, part);
    return json_end(&document);
}
