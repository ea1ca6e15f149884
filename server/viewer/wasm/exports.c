/*
 * The exports of farlands.wasm, wrapped by farlands.js. An instance is one terrain: set its
 * parameters one by one, call make once, then compute heights and densities. Strings pass through
 * the buffer TEXT, without a terminating NUL; their lengths are passed separately.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "config/world_options.h"
#include "noise/terrain.h"

#define EXPORT(name) __attribute__((export_name(name), visibility("default")))

enum { TEXT_BYTES = 4096, KEY_DEPTH = 4 };

static struct world_config world; /* its defaults, from keys on */
static struct farlands_terrain *terrain;
static struct farlands_scratch *scratch;
static float *samples; /* the result of heights and densities */
static size_t samples_bytes;
static char text[TEXT_BYTES];
static size_t text_length;

static void append(const char *more)
{
    const size_t length = strlen(more), left = TEXT_BYTES - text_length;
    memcpy(text + text_length, more, length < left ? length : left);
    text_length += length < left ? length : left;
}

/* True for parameters that have one value, unlike names, lists and sections. */
static bool is_scalar(const struct option *option)
{
    return option->kind > OPTION_TEXT && option->kind <= OPTION_BLOCKS;
}

/* Append the dotted keys below PREFIX, which has DEPTH parts, one per line. */
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

/* The address of TEXT. */
EXPORT("text") char *text_at(void);
char *text_at(void)
{
    return text;
}

/* Begin with the defaults of all parameters. Write the keys for set into TEXT, one per line.
 * Returns the length. */
EXPORT("keys") size_t keys(void);
size_t keys(void)
{
    world = world_defaults;
    text_length = 0;
    list_keys(world_options, NULL, 0);
    return text_length;
}

/* Set a parameter: the first KEY_LENGTH bytes of TEXT are its key, the next LENGTH bytes its value.
 * Returns 0 or -EINVAL. */
EXPORT("set") int set(size_t key_length, size_t length);
int set(size_t key_length, size_t length)
{
    const struct option *option = key_length <= TEXT_BYTES ? find_option(text, key_length) : NULL;
    if (!option || !is_scalar(option) || length > TEXT_BYTES - key_length)
        return -EINVAL;
    return option_parse(option, text + key_length, length, &world);
}

/* True if documents of this release may have the key in TEXT, of LENGTH bytes, at their top. */
EXPORT("known") int known(size_t length);
int known(size_t length)
{
    if (length > TEXT_BYTES)
        return false;
    const struct option *option = option_find(world_options, text, length);
    return option ? option->kind != OPTION_FIELDS : world_key_is_ignored(text, length);
}

/* Set knot I of the elevation curve; it is the last one unless I + 1 is set, too. Returns 0, or
 * -EINVAL if there are too many. */
EXPORT("knot") int knot(int i, double noise, double metres);
int knot(int i, double noise, double metres)
{
    struct farlands_params *params = &world.terrain;
    if (i < 0 || i >= FARLANDS_MAX_KNOTS)
        return -EINVAL;
    params->elevation[i] = (struct farlands_knot){(float)noise, (float)metres};
    params->knots = i + 1;
    return 0;
}

/* Make the terrain. Returns 0; -EINVAL, with the problem in TEXT; or -ENOMEM. */
EXPORT("make") int make(void);
int make(void)
{
    const char *key;
    world.terrain.period = world_config_period(&world);
    const char *fault = params_fault(&world.terrain, &key);
    text_length = 0;
    if (fault) {
        append(key);
        append(": ");
        append(fault);
        return -EINVAL;
    }
    int err = terrain_new_noise(&terrain, &world.terrain);
    return err ? err : farlands_scratch_new(&scratch);
}

/* The length of the message of make. */
EXPORT("length") size_t length(void);
size_t length(void)
{
    return text_length;
}

EXPORT("height") float height(int64_t x, int64_t y);
float height(int64_t x, int64_t y)
{
    return terrain_height(terrain, x, y);
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

/* As terrain_heights, rows without gaps. Returns the floats, valid until the next call; NULL if
 * out of bounds or out of memory. */
EXPORT("heights")
float *heights(int64_t x, int64_t y, int64_t step, int width, int height, int band_limit);
float *heights(int64_t x, int64_t y, int64_t step, int width, int height, int band_limit)
{
    const struct farlands_grid grid = {x, y, step, width, height, band_limit != 0};
    float *out = allocate(width, height, 1);
    return out && !terrain_heights(terrain, scratch, &grid, out, (size_t)width) ? out : NULL;
}

EXPORT("density") float density(int64_t x, int64_t y, int64_t z);
float density(int64_t x, int64_t y, int64_t z)
{
    return terrain_density_at(terrain, x, y, z);
}

/* As terrain_density; the result as of heights. */
EXPORT("densities")
float *densities(int64_t x, int64_t y, int64_t z, int64_t step, int width, int height, int depth);
float *densities(int64_t x, int64_t y, int64_t z, int64_t step, int width, int height, int depth)
{
    const struct farlands_box box = {x, y, z, step, width, height, depth};
    float *out = allocate(width, height, depth);
    return out && !terrain_density(terrain, scratch, &box, out) ? out : NULL;
}
