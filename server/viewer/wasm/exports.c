/*
 * The exports of farlands.wasm, which farlands.js wraps. An instance has one world: read its
 * document once, then compute fields, heights, water and densities. Strings pass through the buffer
 * TEXT without a terminating NUL; their lengths are passed separately.
 */
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "config/library/world_text.h"
#include "config/world/world_terrain.h"
#include "noise/terrain/terrain.h"

#define EXPORT(name) __attribute__((export_name(name), visibility("default")))

static struct world_text world;
static struct farlands_terrain *terrain;
static struct farlands_scratch *scratch;
static float *samples; /* the results of values, gradients and densities */
static size_t samples_bytes;
static struct config_error error;
static char *text;
static size_t text_bytes;

/* A buffer for a text of LENGTH bytes, valid until the next call; NULL if out of memory. */
EXPORT("text") char *text_at(size_t length);
char *text_at(size_t length)
{
    if (length > text_bytes) {
        text = aligned_alloc(16, length);
        text_bytes = text ? length : 0;
    }
    return text;
}

/* Read the document in TEXT, LENGTH bytes, and make its world. Returns 0; or an error, whose
 * message error_at returns. */
EXPORT("read") int read_world(size_t length);
int read_world(size_t length)
{
    int err = world_json_read(&world, text, length, NULL, &error);
    if (err)
        return err;
    error = (struct config_error){.text = "out of memory"};
    err = world_config_terrain(&terrain, &world.world);
    return err ? err : farlands_scratch_new(&scratch);
}

/* The message from read, which ends with a NUL. The line number is left out, because a document has
 * one line. */
EXPORT("error") const char *error_at(void);
const char *error_at(void)
{
    const char *colon = strstr(error.text, ": ");
    return colon ? colon + 2 : error.text;
}

EXPORT("field_count") int field_count(void);
int field_count(void)
{
    return terrain_field_count(terrain);
}

/* FIELD's name, and below its unit, which end with a NUL. */
EXPORT("field_name") const char *field_name(int field);
const char *field_name(int field)
{
    return terrain_field_name(terrain, field);
}

EXPORT("field_unit") const char *field_unit(int field);
const char *field_unit(int field)
{
    return world.world.fields ? world_fields_unit(world.world.fields, field) : "m";
}

/* The name, with a NUL at its end, of the biome with value ID in the field `biome`; or NULL. */
EXPORT("biome_name") const char *biome_name(int id);
const char *biome_name(int id)
{
    return world_fields_biome_name(world.world.fields, id);
}

/* The least and the greatest value that FIELD can have, as two floats. */
EXPORT("field_range") const float *field_range(int field);
const float *field_range(int field)
{
    static float range[2];
    terrain_field_range(terrain, field, &range[0], &range[1]);
    return range;
}

/* FIELD at a place. */
EXPORT("value") float value(int field, int64_t x, int64_t y);
float value(int field, int64_t x, int64_t y)
{
    return terrain_field_at(terrain, scratch, field, x, y);
}

/* The water at a place. NULL if the world has no rivers, if the place is beyond a grid's bounds, or
 * if out of memory. Valid until the next call. */
EXPORT("water") const struct water_here *water_at(int64_t x, int64_t y);
const struct water_here *water_at(int64_t x, int64_t y)
{
    static struct water_here here;
    const struct farlands_grid grid = {x, y, 1, 1, 1, false};
    struct world_water water;
    float level, order, height;
    if (!world_fields_water(&water, world.world.fields))
        return NULL;
    if (terrain_fields(terrain, scratch, &grid,
                       (int[]){water.water, water.river, terrain_height_field(terrain)}, 3,
                       (float *const[]){&level, &order, &height}, 1))
        return NULL;
    here = world_water_here(&water, level, order, height);
    return &here;
}

enum { COURSE_POINTS = 32 };

/* Points on a course, and where it continues. farlands.js knows the layout. */
static struct course_part {
    struct farlands_course next;
    uint32_t count; /* fewer than COURSE_POINTS: the course has ended */
    struct farlands_course_point point[COURSE_POINTS];
} part;
_Static_assert(offsetof(struct course_part, count) == 24 &&
                   offsetof(struct course_part, point) == 32 &&
                   offsetof(struct farlands_course_point, kind) == 32 && sizeof *part.point == 40,
               "the layout in farlands.js");

/* The field whose rivers have courses, or -1. */
static int course_field(void)
{
    const int water = terrain_field(terrain, "water", 5);
    return water >= 0 && terrain_field_is_water(terrain, water) ? water : -1;
}

/* The course from a place, without points. NULL if the world has no rivers, if the place is beyond
 * a grid's bounds, or if out of memory. Valid until the next call to course or downstream. */
EXPORT("course") const struct course_part *course_at(int64_t x, int64_t y);
const struct course_part *course_at(int64_t x, int64_t y)
{
    const int water = course_field();
    return water < 0 || terrain_course_at(terrain, scratch, water, x, y, &part.next) ? NULL : &part;
}

/* The points after STEP at node I, J of a course, valid as long as those from course; NULL if out
 * of memory. */
EXPORT("downstream") const struct course_part *downstream(int64_t i, int64_t j, int step);
const struct course_part *downstream(int64_t i, int64_t j, int step)
{
    size_t count;
    part.next = (struct farlands_course){i, j, step};
    if (terrain_downstream(terrain, scratch, course_field(), &part.next, part.point, COURSE_POINTS,
                           &count))
        return NULL;
    part.count = (uint32_t)count;
    return &part;
}

/* A buffer for WIDTH * HEIGHT * DEPTH floats, or NULL. */
static float *allocate(int width, int height, int depth)
{
    uint64_t bytes = (uint64_t)width * (uint64_t)height;
    if (width < 1 || height < 1 || depth < 1 || bytes > UINT32_MAX)
        return NULL;
    bytes *= (uint64_t)depth;
    if (bytes > UINT32_MAX)
        return NULL;
    bytes *= sizeof(float);
    if (bytes <= samples_bytes)
        return samples;
    /* Memory is never freed. Doubling wastes at most twice the largest buffer. */
    if (bytes < 2 * (uint64_t)samples_bytes)
        bytes = 2 * (uint64_t)samples_bytes;
    float *larger = bytes > UINT32_MAX ? NULL : aligned_alloc(64, (size_t)bytes);
    if (!larger)
        return NULL;
    samples = larger;
    samples_bytes = (size_t)bytes;
    return samples;
}

/* FIELD over a grid, rows without gaps. Returns the floats, valid until the next call; NULL if out
 * of bounds or out of memory. */
EXPORT("values")
float *values(int field, int64_t x, int64_t y, int64_t step, int width, int height, int band_limit);
float *values(int field, int64_t x, int64_t y, int64_t step, int width, int height, int band_limit)
{
    const struct farlands_grid grid = {x, y, step, width, height, band_limit != 0};
    float *const out = allocate(width, height, 1);
    return out && !terrain_fields(terrain, scratch, &grid, &field, 1, &out, (size_t)width) ? out
                                                                                           : NULL;
}

/* FIELD over a grid, then the derivatives along x and along y; otherwise like values. */
EXPORT("gradients")
float *gradients(int field, int64_t x, int64_t y, int64_t step, int width, int height);
float *gradients(int field, int64_t x, int64_t y, int64_t step, int width, int height)
{
    const struct farlands_grid grid = {x, y, step, width, height, false};
    float *const out = allocate(width, height, 3);
    const size_t count = (size_t)width * (size_t)height;
    return out && !terrain_gradients(terrain, scratch, &grid, field, out, out + count,
                                     out + 2 * count, (size_t)width)
               ? out
               : NULL;
}

EXPORT("density") float density(int64_t x, int64_t y, int64_t z);
float density(int64_t x, int64_t y, int64_t z)
{
    const struct farlands_box box = {x, y, z, 1, 1, 1, 1};
    float value;
    return terrain_density(terrain, scratch, &box, &value) ? NAN : value;
}

/* Like terrain_surface; NAN beyond a box's bounds, or if out of memory. */
EXPORT("surface") float surface(int64_t x, int64_t y, float height);
float surface(int64_t x, int64_t y, float height)
{
    float ground;
    return isnan(height) || terrain_surface(terrain, scratch, x, y, height, &ground) ? NAN : ground;
}

/* Like terrain_density, with a result like that of values. */
EXPORT("densities")
float *densities(int64_t x, int64_t y, int64_t z, int64_t step, int width, int height, int depth);
float *densities(int64_t x, int64_t y, int64_t z, int64_t step, int width, int height, int depth)
{
    const struct farlands_box box = {x, y, z, step, width, height, depth};
    float *out = allocate(width, height, depth);
    return out && !terrain_density(terrain, scratch, &box, out) ? out : NULL;
}
