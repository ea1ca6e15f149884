#include "tile.h"

#include <errno.h>
#include <string.h>

#include "noise/terrain/terrain.h"
#include "server/core/decimal.h"

/* Set *OUT to TILE's first sample along one axis, in units. INDEX is the tile's x or y. Returns 0,
 * or -ERANGE unless all samples exist. */
static int first_sample(const struct tile_address *tile, int64_t index, int64_t origin,
                        int64_t step, int64_t *out)
{
    int64_t first, last;
    if (__builtin_mul_overflow(index, TILE_SIZE * tile->scale * step, &first) ||
        __builtin_add_overflow(first, origin, &first) ||
        __builtin_add_overflow(first, (tile_size(tile) - 1) * step, &last) ||
        first < -FARLANDS_LIMIT || last > FARLANDS_LIMIT)
        return -ERANGE;
    *out = first;
    return 0;
}

int tile_grid(const struct tile_address *tile, struct farlands_grid *grid, const char **what)
{
    const struct world *world = tile->world;
    const char *ignored;
    if (!what)
        what = &ignored;
    *what = "zoom";
    if (tile->z < world_min_zoom(world) || tile->z > world_max_zoom(world, tile->scale))
        return -ERANGE;
    int64_t step = FARLANDS_UNIT << 42 >> (tile->z - world_min_zoom(world) + (tile->scale == 2));
    *what = "x";
    if (first_sample(tile, tile->x, world->config->origin[0], step, &grid->x))
        return -ERANGE;
    *what = "y";
    if (first_sample(tile, tile->y, world->config->origin[1], step, &grid->y))
        return -ERANGE;
    grid->step = step;
    grid->width = grid->height = tile_size(tile);
    /* Numbers are exact unless samples are far apart; pictures are filtered. */
    grid->band_limit = step > TERRAIN_FAR || !format_is_exact(tile->layer, tile->format);
    return 0;
}

struct content world_content(const struct world *world, int layer, int field)
{
    struct content content = {
        .world = world,
        .layer = layer,
        .climate = layers[layer].climate ? world_climate(world) : NULL,
        .water = layers[layer].water ? world_water(world) : NULL,
    };

    content_show(&content, layers[layer].fields ? field : world_layer_field(world, layer));
    return content;
}

void content_show(struct content *content, int field)
{
    content->field = field;
    content->surface = world_is_surface(content->world, field);
    content->range = world_field_range(content->world, field);
}

int tile_resolve(struct tile *out, const struct tile_address *address, const char **what)
{
    const int err = tile_grid(address, &out->grid, what);

    if (err)
        return err;
    out->address = *address;
    out->content = world_content(address->world, address->layer, address->field);
    tile_key(address, out->key);
    return 0;
}

void tile_set_coding(struct tile *tile, enum coding coding)
{
    tile->address.coding = coding;
    tile_key(&tile->address, tile->key);
}

/*
 * Slopes are measured between neighbors, but over at least 1/8 of the terrain's finest wavelength:
 * below that the ground is smooth, and slopes would show the rounding of float heights instead.
 */
int world_reach(const struct world *world, int layer, int64_t step)
{
    const int64_t finest = terrain_finest(world->base_terrain);
    int reach = layers[layer].slopes ? 1 : 0;
    while (reach > 0 && reach < LAYER_MAX_REACH && 2 * reach * step < finest / 8)
        reach *= 2;
    return reach;
}

static char *put_layer(char *at, const struct world *world, int layer, int field)
{
    at = stpcpy(at, layers[layer].name);
    return layers[layer].fields ? stpcpy(stpcpy(at, "."), world_field_name(world, field)) : at;
}

const char *tile_fingerprint(const struct tile_address *tile)
{
    return tile->world->fingerprints.tile[tile_kind(tile->layer, tile->format)];
}

char *layer_name(const struct world *world, int layer, int field, char buffer[LAYER_NAME_MAX])
{
    put_layer(buffer, world, layer, field);
    return buffer;
}

/* Write the path, with BORDER before the extension. Returns the end. */
static char *put_path(char *buffer, const struct tile_address *tile, const char *border)
{
    char *at = put_layer(buffer, tile->world, tile->layer, tile->field);
    *at++ = '/';
    at = decimal_put_signed(at, tile->z);
    *at++ = '/';
    at = decimal_put_signed(at, tile->x);
    *at++ = '/';
    at = decimal_put_signed(at, tile->y);
    at = stpcpy(stpcpy(at, tile->scale == 2 ? "@2x" : ""), border);
    *at++ = '.';
    return stpcpy(at, format_extension(tile->format));
}

char *tile_path(const struct tile_address *tile, char buffer[TILE_PATH_MAX])
{
    put_path(buffer, tile, tile->border ? "+border" : "");
    return buffer;
}

char *tile_url(const struct tile_address *tile, char buffer[TILE_PATH_MAX])
{
    stpcpy(put_path(buffer, tile, ""), tile->border ? "?border=1" : "");
    return buffer;
}

char *tile_key(const struct tile_address *tile, char buffer[TILE_KEY_MAX])
{
    char *at = stpcpy(buffer, tile_fingerprint(tile));
    *at++ = '/';
    at = put_path(at, tile, tile->border ? "+border" : "");
    if (tile->coding)
        stpcpy(stpcpy(at, "."), coding_name(tile->coding));
    return buffer;
}
