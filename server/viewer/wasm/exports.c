/*
 * What a page calls. An instance of the module is one terrain: parameters are set one by one, the
 * terrain is made, and then it has heights. Strings go through one place in memory, TEXT, and are
 * not terminated there: their lengths go beside. See farlands.js, which wraps this.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "config/world_options.h"
#include "noise/farlands.h"

#define EXPORT(name) __attribute__((export_name(name), visibility("default")))

enum { TEXT_BYTES = 4096, KEY_DEPTH = 4 };

static struct world_config world;
static struct farlands_terrain *terrain;
static struct farlands_scratch *scratch;
static float *room; /* of heights or densities */
static size_t room_bytes;
static char text[TEXT_BYTES];
static size_t text_length;

static void append(const char *more)
{
    const size_t length = strlen(more), left = TEXT_BYTES - text_length;
    memcpy(text + text_length, more, length < left ? length : left);
    text_length += length < left ? length : left;
}

/* A parameter of one value; names, lists and sections are none. */
static bool is_scalar(const struct option *option)
{
    return option->kind > OPTION_TEXT && option->kind <= OPTION_BLOCKS;
}

/* The dotted keys below PREFIX, which has DEPTH parts, a line each. */
static void list_keys(const struct option *options, const char *const *prefix, int depth)
{
    const char *path[KEY_DEPTH];
    for (int i = 0; i < depth; i++)
        path[i] = prefix[i];
    for (; options->key; options++) {
        path[depth] = options->key;
        if (options->kind == OPTION_SECTION && depth + 1 < KEY_DEPTH)
            list_keys(options->options, path, depth + 1);
        if (!is_scalar(options))
            continue;
        for (int i = 0; i <= depth; i++) {
            append(path[i]);
            append(i < depth ? "." : "\n");
        }
    }
}

static const struct option *find_option(const char *key, size_t length)
{
    const struct option *options = world_options;
    const char *dot;
    while ((dot = memchr(key, '.', length))) {
        const size_t part = (size_t)(dot - key);
        const struct option *section = option_find(options, key, part);
        if (!section || !section->options)
            return NULL;
        options = section->options;
        key += part + 1;
        length -= part + 1;
    }
    return option_find(options, key, length);
}

EXPORT("generator") int generator(void);
int generator(void)
{
    return FARLANDS_GENERATOR;
}

/* Where TEXT is. */
EXPORT("text") char *text_at(void);
char *text_at(void)
{
    return text;
}

/* Put the keys that set wants into TEXT, a line each. Returns its length. */
EXPORT("keys") size_t keys(void);
size_t keys(void)
{
    text_length = 0;
    list_keys(world_options, NULL, 0);
    return text_length;
}

/* Set the parameter KEY, the first KEY_LENGTH bytes of TEXT, to what follows it. Returns 0 or
 * -EINVAL. */
EXPORT("set") int set(size_t key_length, size_t length);
int set(size_t key_length, size_t length)
{
    const struct option *option = key_length <= TEXT_BYTES ? find_option(text, key_length) : NULL;
    if (!option || !is_scalar(option) || length > TEXT_BYTES - key_length)
        return -EINVAL;
    return option_parse(option, text + key_length, length, &world);
}

/* The next knot of the elevation curve. Returns 0, or -EINVAL where there is no room for it. */
EXPORT("knot") int knot(double noise, double metres);
int knot(double noise, double metres)
{
    struct farlands_params *params = &world.terrain;
    if (params->knots >= FARLANDS_MAX_KNOTS)
        return -EINVAL;
    params->elevation[params->knots++] = (struct farlands_knot){(float)noise, (float)metres};
    return 0;
}

/* Make the terrain, once. Returns 0; -EINVAL, and TEXT says what is wrong; or -ENOMEM. */
EXPORT("make") int make(void);
int make(void)
{
    const char *key;
    world.terrain.period = world_config_period(&world);
    const char *fault = farlands_params_fault(&world.terrain, &key);
    text_length = 0;
    if (fault) {
        append(key);
        append(": ");
        append(fault);
        return -EINVAL;
    }
    int err = farlands_terrain_new(&terrain, &world.terrain);
    return err ? err : farlands_scratch_new(&scratch);
}

/* How long what make wrote is. */
EXPORT("length") size_t length(void);
size_t length(void)
{
    return text_length;
}

EXPORT("height") float height(int64_t x, int64_t y);
float height(int64_t x, int64_t y)
{
    return farlands_height(terrain, x, y);
}

/* Room for WIDTH by HEIGHT by DEPTH floats, or NULL where there is none. */
static float *room_for(int width, int height, int depth)
{
    uint64_t bytes = (uint64_t)width * (uint64_t)height;
    if (width < 1 || height < 1 || depth < 1 || bytes > UINT32_MAX)
        return NULL;
    bytes *= (uint64_t)depth;
    if (bytes > UINT32_MAX)
        return NULL;
    bytes *= sizeof(float);
    if (bytes <= room_bytes)
        return room;
    /* Twice as much as ever before, or what is wanted: no more than twice the largest is lost. */
    const uint64_t more = bytes > 2 * (uint64_t)room_bytes ? bytes : 2 * (uint64_t)room_bytes;
    float *larger = more > UINT32_MAX ? NULL : aligned_alloc(64, (size_t)more);
    if (!larger)
        return NULL;
    room = larger;
    room_bytes = (size_t)more;
    return room;
}

/* As farlands_heights, without gaps: where the floats are until the next call, or NULL: out of
 * bounds, or of memory. */
EXPORT("heights")
float *heights(int64_t x, int64_t y, int64_t step, int width, int height, int band_limit);
float *heights(int64_t x, int64_t y, int64_t step, int width, int height, int band_limit)
{
    const struct farlands_grid grid = {x, y, step, width, height, band_limit != 0};
    float *out = room_for(width, height, 1);
    return out && !farlands_heights(terrain, scratch, &grid, out, (size_t)width) ? out : NULL;
}

EXPORT("density") float density(int64_t x, int64_t y, int64_t z);
float density(int64_t x, int64_t y, int64_t z)
{
    return farlands_density_at(terrain, x, y, z);
}

/* As farlands_density; otherwise as heights. */
EXPORT("densities")
float *densities(int64_t x, int64_t y, int64_t z, int64_t step, int width, int height, int depth);
float *densities(int64_t x, int64_t y, int64_t z, int64_t step, int width, int height, int depth)
{
    const struct farlands_box box = {x, y, z, step, width, height, depth};
    float *out = room_for(width, height, depth);
    return out && !farlands_density(terrain, scratch, &box, out) ? out : NULL;
}
