#include "tile.h"

#include <errno.h>
#include <string.h>

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

/* printf takes a microsecond for these names, and each request needs one. */
static char *put_integer(char *at, int64_t value)
{
    char digits[20];
    int count = 0;
    uint64_t rest = value < 0 ? -(uint64_t)value : (uint64_t)value;

    do {
        digits[count++] = (char)('0' + rest % 10);
        rest /= 10;
    } while (rest > 0);
    if (value < 0)
        *at++ = '-';
    while (count > 0)
        *at++ = digits[--count];
    return at;
}

char *tile_path(const struct tile *tile, char buffer[TILE_PATH_MAX])
{
    char *at = stpcpy(buffer, layers[tile->layer].name);
    *at++ = '/';
    at = put_integer(at, tile->z);
    *at++ = '/';
    at = put_integer(at, tile->x);
    *at++ = '/';
    at = put_integer(at, tile->y);
    at = stpcpy(at, tile->scale == 2 ? "@2x." : ".");
    stpcpy(at, format_extension(tile->format));
    return buffer;
}

char *tile_key(const struct tile *tile, char buffer[TILE_KEY_MAX])
{
    char *at = stpcpy(buffer, tile->world->fingerprint);
    *at++ = '/';
    tile_path(tile, at);
    return buffer;
}
