#include "tile.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

/* Units of the first sample of tile INDEX on one axis, if all its samples exist. */
static int first_sample(int64_t index, int64_t origin, int size, int64_t step, int64_t *out)
{
    int64_t first, last;
    if (__builtin_mul_overflow(index, size * step, &first) ||
        __builtin_add_overflow(first, origin, &first) ||
        __builtin_add_overflow(first, (size - 1) * step, &last) || first < -FARLANDS_LIMIT ||
        last > FARLANDS_LIMIT)
        return -ERANGE;
    *out = first;
    return 0;
}

int tile_grid(const struct tile *tile, struct farlands_grid *grid, const char **what)
{
    const struct world *world = tile->world;
    const char *ignored;
    if (!what)
        what = &ignored;
    *what = "zoom";
    if (tile->z < world_min_zoom(world) || tile->z > world_max_zoom(world, tile->scale))
        return -ERANGE;
    int size = tile_size(tile);
    int64_t step = FARLANDS_UNIT << 42 >> (tile->z - world_min_zoom(world) + (tile->scale == 2));
    *what = "x";
    if (first_sample(tile->x, world->config.origin[0], size, step, &grid->x))
        return -ERANGE;
    *what = "y";
    if (first_sample(tile->y, world->config.origin[1], size, step, &grid->y))
        return -ERANGE;
    grid->step = step;
    grid->width = grid->height = size;
    grid->band_limit = !layers[tile->layer].exact;
    return 0;
}

char *tile_path(const struct tile *tile, char buffer[TILE_PATH_MAX])
{
    snprintf(buffer, TILE_PATH_MAX, "%s/%d/%" PRId64 "/%" PRId64 "%s.%s", layers[tile->layer].name,
             tile->z, tile->x, tile->y, tile->scale == 2 ? "@2x" : "",
             format_extension(tile->format));
    return buffer;
}
