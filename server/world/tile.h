/* A tile: which one it is, and where it lies in the world. */
#ifndef FARLANDS_WORLD_TILE_H
#define FARLANDS_WORLD_TILE_H

#include "server/layers/layer.h"
#include "server/world/world.h"

enum { TILE_SIZE = 256, TILE_PATH_MAX = 128, TILE_KEY_MAX = FINGERPRINT_TEXT + TILE_PATH_MAX };

struct tile {
    const struct world *world;
    int layer; /* index in layers */
    enum format format;
    int scale; /* 1, or 2 for @2x */
    int z;
    int64_t x, y;
};

static inline int tile_size(const struct tile *tile)
{
    return TILE_SIZE * tile->scale;
}

/*
 * The tile's samples without a border. Returns 0, or -ERANGE where the zoom or
 * a sample lies beyond the world's limits, with *WHAT (if not NULL) the part: "zoom", "x" or "y".
 */
int tile_grid(const struct tile *tile, struct farlands_grid *grid, const char **what);

/* "relief/10/512/-3@2x.png": its name below the world, the same in URLs, ETags
 * and the disk cache. Returns BUFFER. */
char *tile_path(const struct tile *tile, char buffer[TILE_PATH_MAX]);

/* "{fingerprint}/{path}": its name among all tiles of all worlds. Returns BUFFER. */
char *tile_key(const struct tile *tile, char buffer[TILE_KEY_MAX]);

#endif
