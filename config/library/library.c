/* libfarlands' public functions: worlds from text, with fields by name. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/library/world_text.h"
#include "config/text/text_node.h"
#include "config/values/seed.h"
#include "config/world/world_terrain.h"
#include "noise/farlands.h"

_Static_assert((int)FARLANDS_WORLD_TEXT == (int)TEXT_BYTES_MAX, "the same limit as for files");
_Static_assert(sizeof((struct config_error *)0)->text == FARLANDS_MESSAGE, "room for it");
_Static_assert((int)FARLANDS_MAX_FIELDS == (int)TERRAIN_MAX_FIELDS, "what a terrain takes");

struct farlands_world {
    struct world_text text; /* with a reference to the fields */
    struct farlands_terrain *terrain;
};

/* --- Worlds --- */

/* Make a world from TEXT, which stays the caller's; *OUT takes a reference to the fields. */
static int make(struct farlands_world **out, const struct world_text *text)
{
    struct farlands_world *world = malloc(sizeof *world);
    if (!world)
        return -ENOMEM;
    world->text = *text;
    int err = world_config_terrain(&world->terrain, &world->text.world);
    if (err) {
        free(world);
        return err;
    }
    world_fields_hold(world->text.world.fields);
    *out = world;
    return 0;
}

static void say_fault(struct config_error *error, int err)
{
    const char *fault = terrain_kernel_fault();
    if (err == -EINVAL && fault)
        snprintf(error->text, sizeof error->text, "FARLANDS_KERNEL: got \"%.64s\"; %s",
                 getenv("FARLANDS_KERNEL"), fault);
    else
        snprintf(error->text, sizeof error->text, "%s",
                 err == -ENOMEM ? "out of memory" : "text: no terrain can be made of it");
}

static int read_and_make(struct farlands_world **out, const char *text, size_t length,
                         const char *name, struct config_error *error)
{
    struct world_text read;
    int err = world_text_read(&read, text, length, name, error);
    if (err)
        return err;
    err = make(out, &read);
    world_fields_release(read.world.fields);
    if (err)
        say_fault(error, err);
    return err;
}

int farlands_world_new(struct farlands_world **out, const char *text, size_t length,
                       const char *name, char *message, size_t size)
{
    struct config_error error = {.text =
                                     "NULL for a pointer; expected text and a place for the world"};
    int err = out && text ? read_and_make(out, text, length, name, &error) : -EINVAL;
    if (err && message && size > 0)
        snprintf(message, size, "%s", error.text);
    return err;
}

int farlands_seed(const char *text, size_t length, uint64_t *out)
{
    return text && out ? seed_parse(text, length, out) : -EINVAL;
}

int farlands_world_reseed(struct farlands_world **out, const struct farlands_world *world,
                          uint64_t seed)
{
    if (!out || !world)
        return -EINVAL;
    struct world_text text = world->text;
    char *name = text.world.name;
    const size_t base = strcspn(name, ":");
    snprintf(name + base, sizeof text.world.name - base, ":%" PRIu64, seed);
    text.world.terrain.seed = seed;
    text.fingerprint[0] = '\0';
    return make(out, &text);
}

void farlands_world_free(struct farlands_world *world)
{
    if (!world)
        return;
    terrain_free(world->terrain);
    world_fields_release(world->text.world.fields);
    free(world);
}

const char *farlands_world_name(const struct farlands_world *world)
{
    return world->text.world.name;
}

uint64_t farlands_world_seed(const struct farlands_world *world)
{
    return world->text.world.terrain.seed;
}

int farlands_world_generator(const struct farlands_world *world)
{
    return world_config_generator(&world->text.world);
}

const char *farlands_world_fingerprint(const struct farlands_world *world)
{
    return world->text.fingerprint;
}

int farlands_world_native_zoom(const struct farlands_world *world)
{
    return world->text.world.native_zoom;
}

void farlands_world_origin(const struct farlands_world *world, int64_t *x, int64_t *y)
{
    *x = world->text.world.origin[0];
    *y = world->text.world.origin[1];
}

const char *farlands_world_kernel(const struct farlands_world *world)
{
    return terrain_kernel(world->terrain);
}

/* --- Fields --- */

/* FIELD's number, or -1. */
static int find(const struct farlands_world *world, const char *field)
{
    return world && field ? terrain_field(world->terrain, field, strlen(field)) : -1;
}

const char *farlands_field_name(const struct farlands_world *world, size_t index)
{
    if (!world || index >= (size_t)terrain_field_count(world->terrain))
        return NULL;
    return terrain_field_name(world->terrain, (int)index);
}

const char *farlands_field_unit(const struct farlands_world *world, const char *field)
{
    const int i = find(world, field);
    if (i < 0)
        return NULL;
    const struct world_fields *fields = world->text.world.fields;
    return fields ? world_fields_unit(fields, i) : "m";
}

const char *farlands_biome_name(const struct farlands_world *world, int id)
{
    return world ? world_fields_biome_name(world->text.world.fields, id) : NULL;
}

int farlands_field_range(const struct farlands_world *world, const char *field, float *min,
                         float *max)
{
    if (!world || !field || !min || !max)
        return -EINVAL;
    const int i = find(world, field);
    if (i < 0)
        return -ENOENT;
    terrain_field_range(world->terrain, i, min, max);
    return 0;
}

/* --- Grids and boxes --- */

/* The scratch for one call: the caller's, or a new one that the call frees. */
struct working_memory {
    struct farlands_scratch *scratch, *own;
};

static int take_memory(struct working_memory *memory, struct farlands_scratch *scratch)
{
    *memory = (struct working_memory){scratch, NULL};
    if (scratch)
        return 0;
    int err = farlands_scratch_new(&memory->own);
    memory->scratch = memory->own;
    return err;
}

/* The first sample of tile INDEX along one axis. Tiles are SIDE units wide. */
static int first_sample(int64_t index, int64_t side, int64_t origin, int64_t step, int64_t *out)
{
    int64_t first, last;
    if (__builtin_mul_overflow(index, side, &first) ||
        __builtin_add_overflow(first, origin, &first) ||
        __builtin_add_overflow(first, side - step, &last) || first < -FARLANDS_LIMIT ||
        last > FARLANDS_LIMIT)
        return -EINVAL;
    *out = first;
    return 0;
}

int farlands_tile(const struct farlands_world *world, int zoom, int64_t x, int64_t y, int size,
                  struct farlands_grid *out)
{
    if (!world || !out || size < 1 || size > 4096 || (size & (size - 1)))
        return -EINVAL;
    const int64_t up = (int64_t)world->text.world.native_zoom - zoom;
    if (up < -FARLANDS_UNIT_BITS || up > 42)
        return -EINVAL;
    const int64_t side = INT64_C(256) << (FARLANDS_UNIT_BITS + up);
    struct farlands_grid grid = {0, 0, side / size, size, size, false};
    if (grid.step < 1 || grid.step > FARLANDS_MAX_STEP)
        return -EINVAL;
    int err = first_sample(x, side, world->text.world.origin[0], grid.step, &grid.x);
    if (!err)
        err = first_sample(y, side, world->text.world.origin[1], grid.step, &grid.y);
    if (!err)
        *out = grid;
    return err;
}

int farlands_heights(const struct farlands_world *world, struct farlands_scratch *scratch,
                     const struct farlands_grid *grid, float *out, size_t stride)
{
    struct working_memory memory;
    if (!world || !grid || !out)
        return -EINVAL;
    int err = take_memory(&memory, scratch);
    if (!err)
        err = terrain_heights(world->terrain, memory.scratch, grid, out, stride);
    farlands_scratch_free(memory.own);
    return err;
}

/* Find the numbers of COUNT fields, and check that each has an output. */
static int find_all(const struct farlands_world *world, const char *const *field, size_t count,
                    float *const *out, int number[FARLANDS_MAX_FIELDS])
{
    for (size_t i = 0; i < count; i++)
        if (!field[i] || !out[i])
            return -EINVAL;
    for (size_t i = 0; i < count; i++) {
        number[i] = find(world, field[i]);
        if (number[i] < 0)
            return -ENOENT;
    }
    return 0;
}

int farlands_fields(const struct farlands_world *world, struct farlands_scratch *scratch,
                    const struct farlands_grid *grid, const char *const *field, size_t count,
                    float *const *out, size_t stride)
{
    struct working_memory memory;
    int number[FARLANDS_MAX_FIELDS];
    if (!world || !grid || !field || !out || count < 1 || count > FARLANDS_MAX_FIELDS)
        return -EINVAL;
    int err = find_all(world, field, count, out, number);
    if (err)
        return err;
    err = take_memory(&memory, scratch);
    if (!err)
        err = terrain_fields(world->terrain, memory.scratch, grid, number, (int)count, out, stride);
    farlands_scratch_free(memory.own);
    return err;
}

int farlands_gradients(const struct farlands_world *world, struct farlands_scratch *scratch,
                       const struct farlands_grid *grid, const char *field, float *value, float *dx,
                       float *dy, size_t stride)
{
    struct working_memory memory;
    if (!world || !grid || !field || !value || !dx || !dy)
        return -EINVAL;
    const int number = find(world, field);
    if (number < 0)
        return -ENOENT;
    int err = take_memory(&memory, scratch);
    if (!err)
        err =
            terrain_gradients(world->terrain, memory.scratch, grid, number, value, dx, dy, stride);
    farlands_scratch_free(memory.own);
    return err;
}

typedef int box_function(const struct farlands_terrain *, struct farlands_scratch *,
                         const struct farlands_box *, float *);

static int over_box(const struct farlands_world *world, struct farlands_scratch *scratch,
                    const struct farlands_box *box, float *out, box_function *compute)
{
    struct working_memory memory;
    if (!world || !box || !out)
        return -EINVAL;
    int err = take_memory(&memory, scratch);
    if (!err)
        err = compute(world->terrain, memory.scratch, box, out);
    farlands_scratch_free(memory.own);
    return err;
}

int farlands_density(const struct farlands_world *world, struct farlands_scratch *scratch,
                     const struct farlands_box *box, float *out)
{
    return over_box(world, scratch, box, out, terrain_density);
}

int farlands_volume(const struct farlands_world *world, struct farlands_scratch *scratch,
                    const struct farlands_box *box, float *out)
{
    return over_box(world, scratch, box, out, terrain_volume);
}

/* --- Places --- */

float farlands_height(const struct farlands_world *world, struct farlands_scratch *scratch,
                      int64_t x, int64_t y)
{
    if (!world)
        return NAN;
    return terrain_field_at(world->terrain, scratch, terrain_height_field(world->terrain), x, y);
}

float farlands_value(const struct farlands_world *world, struct farlands_scratch *scratch,
                     const char *field, int64_t x, int64_t y)
{
    const int number = find(world, field);
    return number < 0 ? NAN : terrain_field_at(world->terrain, scratch, number, x, y);
}

float farlands_density_at(const struct farlands_world *world, int64_t x, int64_t y, int64_t z)
{
    return world ? terrain_density_at(world->terrain, x, y, z) : NAN;
}

double farlands_noise(const struct farlands_world *world, int dimensions, const int64_t *place)
{
    const struct farlands_terrain *terrain = world && place ? world->terrain : NULL;
    switch (terrain ? dimensions : 0) {
    case 1:
        return terrain_noise1(terrain, place[0]);
    case 2:
        return terrain_noise2(terrain, place[0], place[1]);
    case 3:
        return terrain_noise3(terrain, place[0], place[1], place[2]);
    case 4:
        return terrain_noise4(terrain, place[0], place[1], place[2], place[3]);
    default:
        return NAN;
    }
}

/* --- Water --- */

int farlands_course_at(const struct farlands_world *world, struct farlands_scratch *scratch,
                       int64_t x, int64_t y, struct farlands_course *out)
{
    struct working_memory memory;
    if (!world || !out)
        return -EINVAL;
    const int water = find(world, "water");
    if (water < 0 || !terrain_field_is_water(world->terrain, water))
        return -ENOENT;
    int err = take_memory(&memory, scratch);
    if (!err)
        err = terrain_course_at(world->terrain, memory.scratch, water, x, y, out);
    farlands_scratch_free(memory.own);
    return err;
}

int farlands_downstream(const struct farlands_world *world, struct farlands_scratch *scratch,
                        struct farlands_course *course, struct farlands_course_point *out,
                        size_t room, size_t *count)
{
    struct working_memory memory;
    if (!world || !course || !out || !count)
        return -EINVAL;
    const int water = find(world, "water");
    if (water < 0 || !terrain_field_is_water(world->terrain, water))
        return -ENOENT;
    int err = take_memory(&memory, scratch);
    if (!err)
        err = terrain_downstream(world->terrain, memory.scratch, water, course, out, room, count);
    farlands_scratch_free(memory.own);
    return err;
}

/* --- Versions --- */

const char *farlands_version(void)
{
    return FARLANDS_VERSION;
}

void farlands_generators(int *first, int *last)
{
    *first = FARLANDS_GENERATOR;
    *last = WORLD_FIELDS_GENERATOR;
}
