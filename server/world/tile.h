/* A tile: its address, its samples, and its name. */
#ifndef FARLANDS_WORLD_TILE_H
#define FARLANDS_WORLD_TILE_H

#include "server/core/coding.h"
#include "server/layers/layer.h"
#include "server/world/world.h"

enum {
    TILE_SIZE = 256,
    TILE_PATH_MAX = 144,
    LAYER_NAME_MAX = 80,
    TILE_KEY_MAX = FINGERPRINT_TEXT + TILE_PATH_MAX + sizeof ".gzip"
};

/* What a request for a tile names, and a list of tiles has. */
struct tile_address {
    const struct world *world;
    int layer; /* index in layers */
    enum format format;
    int scale; /* 1, or 2 for @2x */
    int z;
    int64_t x, y;
    bool border; /* one more column and row: the first of the next tiles to the east and south */
    int field;   /* its number, if the layer is one for each field */
    enum coding coding; /* of its bytes, if they are numbers for HTTP, which are never on disk */
};

/* The name of LAYER, with that of FIELD if it is one for each field. Returns BUFFER. */
char *layer_name(const struct world *world, int layer, int field, char buffer[LAYER_NAME_MAX]);

/* What a raster shows: a layer's picture of a field, or the field's values over a range. */
struct content {
    const struct world *world;
    int layer; /* index in layers, of a picture */
    int field; /* its number */
    struct value_range range;
    const struct climate *climate;   /* that the picture shows, too; or NULL */
    const struct world_water *water; /* the same */
};

/* Samples per side. */
static inline int tile_size(const struct tile_address *tile)
{
    return TILE_SIZE * tile->scale + tile->border;
}

/*
 * A tile that was asked for, resolved once: what fetching, caches and renders need to know. It has
 * no reference to its world.
 */
struct tile {
    struct tile_address address;
    struct content content;
    struct farlands_grid grid; /* without the samples around it that slopes need */
    char key[TILE_KEY_MAX];    /* tile_key */
};

/* Resolve ADDRESS, whose layer its world serves. Returns 0, or the error of tile_grid. */
int tile_resolve(struct tile *out, const struct tile_address *address, const char **what);

/* Let the tile's bytes have CODING. */
void tile_set_coding(struct tile *tile, enum coding coding);

/*
 * The grid of the tile's samples, without those for slopes. Returns 0, or -ERANGE if the world has
 * no such zoom, or a sample is beyond the world's limits; *WHAT, unless NULL, is then "zoom", "x"
 * or "y".
 */
int tile_grid(const struct tile_address *tile, struct farlands_grid *grid, const char **what);

/* LAYER of WORLD, which serves it: pictures of the field that it shows, or of FIELD if there is one
 * for each field. */
struct content world_content(const struct world *world, int layer, int field);

/* Samples beyond each edge that LAYER of WORLD needs for its slopes, STEP units apart; 0 if it
 * shows none. */
int world_reach(const struct world *world, int layer, int64_t step);

/* The fingerprint of tiles of its kind. */
const char *tile_fingerprint(const struct tile_address *tile);

/* "relief/10/512/-3@2x.png", with a border "relief/10/512/-3@2x+border.png": the name within its
 * world, in ETags and the disk cache. Returns BUFFER. */
char *tile_path(const struct tile_address *tile, char buffer[TILE_PATH_MAX]);

/* The same in URLs: "relief/10/512/-3@2x.png", "relief/10/512/-3@2x.png?border=1". */
char *tile_url(const struct tile_address *tile, char buffer[TILE_PATH_MAX]);

/* "{fingerprint}/{path}", and ".gzip" or ".zstd" if compressed: the name among the tiles of all
 * worlds. Returns BUFFER. */
char *tile_key(const struct tile_address *tile, char buffer[TILE_KEY_MAX]);

#endif
