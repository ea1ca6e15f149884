#include "world.h"

#include <assert.h>
#include <endian.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "config/world/world_terrain.h"
#include "noise/terrain/price.h"
#include "server/core/decimal.h"
#include "server/layers/climate_colors.h"
#include "server/layers/inland_water.h"
#include "server/layers/layer.h"
#include "server/layers/shading.h"
#include "server/png/image_version.h"
#include "server/webp/webp_writer.h"
#include "server/world/terrain_cache.h"

static uint64_t hash_parameter(const struct world_key *key, const char *value)
{
    return XXH64(value, strlen(value), XXH64(key->name, strlen(key->name), 0));
}

/* Add up the hashes of keys, so that their order does not matter. Defaults are left out: a key that
 * a later release adds changes no fingerprint of a world without it. */
static void add_parameter(void *context, const struct world_key *key)
{
    struct parameters *parameters = context;
    if (key->is_default)
        return;
    parameters->part[key->part] +=
        hash_parameter(key, key->plain_value ? key->plain_value : key->value);
    if (key->plain_value)
        parameters->part[WORLD_COLORS] += hash_parameter(key, key->value);
}

/* What a world gives: the tiles of a layer, regions or volumes. */
struct product {
    const char *name;
    unsigned parts; /* bits 1 << WORLD_...: those that it depends on */
    int version;
    uint64_t encoder; /* its version, and all else that decides its bytes; 0 without pictures */
};

static void make_fingerprint(char out[FINGERPRINT_TEXT], struct product product,
                             const struct world_config *config, uint64_t seed,
                             const struct parameters *parameters)
{
    uint64_t input[] = {XXH64(product.name, strlen(product.name), 0),
                        (uint64_t)world_config_generator(config),
                        (uint64_t)product.version,
                        product.encoder,
                        seed,
                        (uint64_t)world_config_period(config),
                        0};
    const size_t count = sizeof input / sizeof input[0];
    for (int part = 0; part < WORLD_PARTS; part++)
        if (product.parts >> part & 1)
            input[count - 1] += parameters->part[part];
    for (size_t i = 0; i < count; i++)
        input[i] = htole64(input[i]);
    uint64_t hash = XXH64(input, sizeof input, 0);
    for (int i = FINGERPRINT_TEXT - 2; i >= 0; i--, hash >>= 4)
        out[i] = "0123456789abcdef"[hash & 15];
    out[FINGERPRINT_TEXT - 1] = '\0';
}

/* Increase it if a sample of a region of heights changes, in any format. */
enum { REGION_VERSION = 0 };
enum { HEIGHTS = 1 << WORLD_HEIGHTS, DENSITY = 1 << WORLD_DENSITY, GRID = 1 << WORLD_GRID };

static void make_layer_fingerprints(char out[TILE_KINDS][FINGERPRINT_TEXT],
                                    const struct world_config *config, uint64_t seed,
                                    const struct parameters *parameters,
                                    const struct webp_config *webp)
{
    for (int i = 0; layers[i].name; i++) {
        struct product tiles = {layers[i].name, HEIGHTS | GRID | layers[i].parts, layers[i].version,
                                IMAGE_VERSION};
        make_fingerprint(out[i], tiles, config, seed, parameters);
        tiles.encoder = webp_writer_identity(webp);
        if (layers[i].formats & 1U << FORMAT_WEBP)
            make_fingerprint(out[tile_kind(i, FORMAT_WEBP)], tiles, config, seed, parameters);
    }
}

static void make_fingerprints(struct world *world)
{
    /* The samples of regions are those of exact tiles of "height", in each format. */
    const struct product regions = {"region", HEIGHTS, REGION_VERSION, IMAGE_VERSION},
                         volumes = {"volume", HEIGHTS | DENSITY, 0, 0};
    const struct world_config *config = world->config;
    const uint64_t seed = world->seed;
    make_fingerprint(world->fingerprint, regions, config, seed, world->parameters);
    make_fingerprint(world->volume_fingerprint, volumes, config, seed, world->parameters);
    make_layer_fingerprints(world->layer_fingerprint, config, seed, world->parameters,
                            &world->webp);
}

static struct worlds *allocate(int capacity)
{
    struct worlds *worlds = calloc(1, sizeof *worlds + (size_t)capacity * sizeof *worlds->world);
    if (worlds) {
        worlds->references = 1;
        worlds->capacity = capacity;
    }
    return worlds;
}

static void find_climate(struct climate *climate, const struct world_fields *fields)
{
    climate->temperature = world_fields_find(fields, "temperature", 11);
    climate->humidity = world_fields_find(fields, "humidity", 8);
    climate->biome = world_fields_find(fields, "biome", 5);
    if (climate->biome >= 0)
        climate->table = world_fields_biomes(fields, climate->biome);
}

/* Add the configured world of CONFIG, which the set has, without its colors. */
static int add_world(struct worlds *worlds, const struct world_config *config,
                     const struct parameters *parameters, const struct webp_config *webp)
{
    struct world *world = &worlds->world[worlds->count];
    int err = world_config_terrain(&world->base_terrain, config);
    if (err)
        return err;
    world->set = worlds;
    world->config = config;
    world->seed = config->terrain.seed;
    memcpy(world->name, config->name, sizeof world->name);
    world_fields_hold(config->fields);
    if (config->fields)
        find_climate(&world->climate, config->fields);
    if (!world_fields_water(&world->water, config->fields))
        world->water.rivers = NULL;
    world->parameters = parameters;
    world->webp = *webp;
    make_fingerprints(world);
    worlds->count++;
    return 0;
}

/* Whether heights and biomes have the same colors in A and B, if they are in the same range. */
static bool is_painted_like(const struct world_config *a, const struct world_config *b)
{
    return a->fields == b->fields && a->stops == b->stops &&
           memcmp(a->palette, b->palette, (size_t)a->stops * sizeof *a->palette) == 0;
}

/* The colors of the last world: those of an earlier one that is like it, or else its own. */
static struct color_table *find_colors(struct worlds *worlds)
{
    const int last = worlds->count - 1;
    const struct world *world = &worlds->world[last];
    float min, max;

    terrain_range(world->base_terrain, &min, &max);
    max = color_table_end(min, max);
    for (int i = 0; i < last; i++) {
        struct color_table *colors = worlds->world[i].colors;
        if (is_painted_like(worlds->world[i].config, world->config) && colors->min == min &&
            colors->max == max)
            return colors;
    }
    color_table_make(&worlds->colors[last], world->config, min, max);
    return &worlds->colors[last];
}

/* The prices of WORLD, the last of WORLDS. Those that are `like` another share its fields. */
static int add_prices(struct worlds *worlds, struct world *world)
{
    for (const struct world *other = worlds->world; other < world && !world->prices; other++)
        if (other->config->fields && other->config->fields == world->config->fields)
            world->prices = other->prices;
    if (!world->prices)
        world->prices = worlds->prices[worlds->count - 1] = prices_new(world->base_terrain);
    return world->prices ? 0 : -ENOMEM;
}

/* Add the configured world of CONFIG, with what worlds derived from it share. */
static int add_family(struct worlds *worlds, const struct world_config *config,
                      const struct webp_config *webp)
{
    struct world *world = &worlds->world[worlds->count];
    struct parameters *parameters = &worlds->parameters[worlds->count];
    struct world_config *own = &worlds->configs[worlds->count];

    *own = *config;
    config_world_visit(config, add_parameter, parameters);
    make_layer_fingerprints(parameters->family, config, 0, parameters, webp);
    int err = add_world(worlds, own, parameters, webp);
    if (err)
        return err;
    err = add_prices(worlds, world);
    if (err)
        return err;
    world->colors = find_colors(worlds);
    return 0;
}

int worlds_new(struct worlds **out, const struct config *config)
{
    const size_t count = (size_t)config->world_count;
    struct worlds *worlds = allocate(config->world_count);
    if (!worlds)
        return -ENOMEM;
    worlds->configs = calloc(count, sizeof *worlds->configs);
    worlds->colors = calloc(count, sizeof *worlds->colors);
    worlds->parameters = calloc(count, sizeof *worlds->parameters);
    worlds->prices = calloc(count, sizeof(struct price *));
    int err =
        worlds->configs && worlds->colors && worlds->parameters && worlds->prices ? 0 : -ENOMEM;
    if (!err)
        err = terrain_cache_new(&worlds->terrains);
    for (int i = 0; i < config->world_count && !err; i++)
        err = add_family(worlds, &config->worlds[i], &config->webp);
    if (err) {
        worlds_release(worlds);
        return err;
    }
    *out = worlds;
    return 0;
}

int worlds_derive(struct worlds **out, const struct world *base, uint64_t seed)
{
    struct worlds *worlds = allocate(1);
    if (!worlds)
        return -ENOMEM;
    struct world *world = worlds->world;
    assert(!base->set->base && strlen(base->name) < WORLD_NAME_MAX);
    *world = *base;
    world->set = worlds;
    world->seed = seed;
    char *end = world->name + strlen(world->name);
    *end++ = ':';
    *decimal_put(end, seed) = '\0';
    make_fingerprints(world);
    worlds->count = 1;
    worlds->base = world_hold(base)->set;
    *out = worlds;
    return 0;
}

int world_terrain_hold(const struct world *world, const struct farlands_terrain **out)
{
    if (world->seed != world->config->terrain.seed)
        return terrain_cache_hold(world->set->base->terrains, world->config, world->seed, out);
    *out = world->base_terrain;
    return 0;
}

void world_terrain_release(const struct world *world, const struct farlands_terrain *terrain)
{
    if (terrain != world->base_terrain)
        terrain_cache_release(world->set->base->terrains, terrain);
}

void world_config_of(struct world_config *out, const struct world *world)
{
    *out = *world->config;
    out->terrain.seed = world->seed;
    memcpy(out->name, world->name, sizeof out->name);
}

static void free_world(struct world *world)
{
    terrain_free(world->base_terrain);
    world_fields_release(world->config->fields);
}

void worlds_release(struct worlds *worlds)
{
    while (worlds && __atomic_sub_fetch(&worlds->references, 1, __ATOMIC_ACQ_REL) == 0) {
        struct worlds *base = worlds->base;
        for (int i = 0; !base && i < worlds->count; i++)
            free_world(&worlds->world[i]);
        terrain_cache_free(worlds->terrains);
        free(worlds->configs);
        free(worlds->parameters);
        for (int i = 0; worlds->colors && i < worlds->count; i++)
            free(worlds->colors[i].climate);
        free(worlds->colors);
        for (int i = 0; worlds->prices && i < worlds->count; i++)
            free(worlds->prices[i]);
        free((void *)worlds->prices);
        free(worlds);
        worlds = base;
    }
}

const struct world *world_hold(const struct world *world)
{
    __atomic_fetch_add(&world->set->references, 1, __ATOMIC_RELAXED);
    return world;
}

void world_release(const struct world *world)
{
    worlds_release(world->set);
}

const struct world *worlds_find(const struct worlds *worlds, const char *name)
{
    for (int i = 0; i < worlds->count; i++)
        if (strcmp(worlds->world[i].name, name) == 0)
            return &worlds->world[i];
    return NULL;
}

bool world_serves(const struct world *world, int layer)
{
    return world->config->layers >> layer & 1 && (!layers[layer].biomes || world_climate(world)) &&
           (!layers[layer].rivers || world_water(world));
}

bool world_lists(const struct world *world, int layer)
{
    return world_serves(world, layer) && !layers[layer].fields;
}

const char *world_region_fingerprint(const struct world *world, int layer, int field)
{
    if (world_is_surface(world, field))
        layer = layer_find("field.surface");
    return layer == layer_find("height") ? world->fingerprint : world->layer_fingerprint[layer];
}

static const char surface[] = "surface";

int world_field_count(const struct world *world)
{
    const int count = terrain_field_count(world->base_terrain);
    return terrain_field(world->base_terrain, surface, sizeof surface - 1) < 0 ? count + 1 : count;
}

bool world_is_surface(const struct world *world, int field)
{
    return field == terrain_field_count(world->base_terrain);
}

int world_field_over(const struct world *world, int field, const struct farlands_grid *grid)
{
    const bool far = grid->band_limit && grid->step > TERRAIN_FAR;
    return far && world_is_surface(world, field) ? world_height_field(world) : field;
}

bool world_has_layers(const struct world *world, int field)
{
    return terrain_is_graph(world->base_terrain) || !world_is_surface(world, field);
}

const char *world_field_name(const struct world *world, int field)
{
    return world_is_surface(world, field) ? surface
                                          : terrain_field_name(world->base_terrain, field);
}

int world_field(const struct world *world, const char *name, size_t length)
{
    const int field = terrain_field(world->base_terrain, name, length);
    const bool is_surface = length == sizeof surface - 1 && memcmp(name, surface, length) == 0;
    return field < 0 && is_surface ? terrain_field_count(world->base_terrain) : field;
}

const char *world_field_unit(const struct world *world, int field)
{
    const struct world_fields *fields = world->config->fields;
    return fields && !world_is_surface(world, field) ? world_fields_unit(fields, field) : "m";
}

int world_height_field(const struct world *world)
{
    return terrain_height_field(world->base_terrain);
}

int world_layer_field(const struct world *world, int layer)
{
    return layers[layer].biomes ? world->climate.biome : world_height_field(world);
}

struct value_range world_field_range(const struct world *world, int field)
{
    struct value_range range = {world->colors->min, world->colors->max};

    if (field == world_height_field(world) || world_is_surface(world, field))
        return range;
    if (world->config->fields && world_fields_biomes(world->config->fields, field))
        return (struct value_range){0, BIOME_MAX_ID};
    terrain_field_range(world->base_terrain, field, &range.min, &range.max);
    range.max = color_table_end(range.min, range.max);
    return range;
}

float world_exaggeration(const struct world *world, int64_t step)
{
    return shading_exaggeration((float)step / FARLANDS_UNIT) * (float)world->config->exaggeration;
}

int world_course_field(const struct world *world)
{
    const int water = terrain_field(world->base_terrain, "water", 5);
    return water >= 0 && terrain_field_is_water(world->base_terrain, water) ? water : -1;
}

int world_color_climate(const struct world *world)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    struct climate_colors **climate = &world->colors->climate;
    if (!world->climate.table || __atomic_load_n(climate, __ATOMIC_ACQUIRE))
        return 0;
    pthread_mutex_lock(&lock);
    if (!*climate)
        __atomic_store_n(climate, climate_colors_new(world->climate.table, world->colors),
                         __ATOMIC_RELEASE);
    const int err = *climate ? 0 : -ENOMEM;
    pthread_mutex_unlock(&lock);
    return err;
}

const struct climate *world_climate(const struct world *world)
{
    return world->climate.table ? &world->climate : NULL;
}

const struct world_water *world_water(const struct world *world)
{
    return world->water.rivers ? &world->water : NULL;
}

struct river_scale world_river_scale(const struct world *world, int64_t step)
{
    double width[RIVER_ORDERS];
    for (int order = 0; order < RIVER_ORDERS; order++)
        width[order] = world_water_width(&world->water, order);
    return river_scale_make((double)step / FARLANDS_UNIT, width);
}

/* Samples are 2^(native_zoom - zoom) blocks apart: from 2^42 blocks down to one unit. */
int world_min_zoom(const struct world *world)
{
    return world->config->native_zoom - 42;
}

int world_max_zoom(const struct world *world, int scale)
{
    return world->config->native_zoom + FARLANDS_UNIT_BITS - (scale == 2);
}

int world_exact_zoom(const struct world *world)
{
    return world->config->native_zoom + FARLANDS_UNIT_BITS - __builtin_ctzll(TERRAIN_FAR);
}

/* The zoom at which a lattice cell of the broadest octave is PIXELS wide. */
static double zoom_of_cells(const struct world *world, double pixels)
{
    const struct world_config *config = world->config;
    const int64_t broadest =
        config->fields ? world_fields_broadest(config->fields) : config->terrain.wavelength;
    return config->native_zoom + log2(pixels / ((double)broadest / FARLANDS_UNIT));
}

static int within_zooms(const struct world *world, double zoom)
{
    return (int)fmin(fmax(zoom, world_min_zoom(world)), world_max_zoom(world, 1));
}

int world_first_zoom(const struct world *world)
{
    return within_zooms(world, round(zoom_of_cells(world, 1024)));
}

int world_overview_zoom(const struct world *world)
{
    return within_zooms(world, ceil(zoom_of_cells(world, 16)));
}
