#include "world.h"

#include <math.h>
#include <string.h>

#include "server/layers/inland_water.h"
#include "server/layers/shading.h"

void world_config_of(struct world_config *out, const struct world *world)
{
    *out = *world->config;
    out->terrain.seed = world->seed;
    memcpy(out->name, world->name, sizeof out->name);
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
    return layer == layer_find("height") ? world->fingerprints.region
                                         : world->fingerprints.tile[layer];
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

/* The zoom at which the broadest octave's lattice cells are PIXELS wide. */
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
