/* A tile: address, grid, and names. */
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

/* A tile's address, as a request or a list of tiles names it. */
struct tile_address {
    const struct world *world;
    int layer; /* index in layers */
    enum format format;
    int scale; /* 1, or 2 for @2x */
    int z;
    int64_t x, y;
    bool border; /* one more column and row: the first of the next tiles to the east and south */
    int field;   /* if there is one layer per field */
    enum coding coding; /* for HTTP, only of numbers; such tiles are never on disk */
};

/* LAYER's name, with FIELD's if there is one layer per field. Returns BUFFER. */
char *layer_name(const struct world *world, int layer, int field, char buffer[LAYER_NAME_MAX]);

/* A raster's content: a layer's picture of a field, or the field's values over a range. */
struct content {
    const struct world *world;
    int layer;    /* of a picture: index in layers */
    int field;    /* a field's number */
    bool surface; /* the field is the world's surface */
    struct value_range range;
    const struct climate *climate;   /* NULL unless the picture shows climate, too */
    const struct world_water *water; /* likewise */
};

/* Samples per side. */
static inline int tile_size(const struct tile_address *tile)
{
    return TILE_SIZE * tile->scale + tile->border;
}

/*
 * A requested tile, resolved once, with all that fetching, caches and renders need. Doesn't hold
 * its world.
 */
struct tile {
    struct tile_address address;
    struct content content;
    struct farlands_grid grid; /* without the border that slopes need */
    char key[TILE_KEY_MAX];    /* tile_key */
};

/* Resolve ADDRESS. Returns 0 or an error of tile_grid. If the world does not serve the layer, only
 * the grid has a meaning. */
int tile_resolve(struct tile *out, const struct tile_address *address, const char **what);

/* Set how the tile's bytes are coded. */
void tile_set_coding(struct tile *tile, enum coding coding);

/*
 * The grid of the tile's samples, without the border that slopes need. Returns 0, or -ERANGE if the
 * world has no such zoom, or if a sample is beyond the world's limits. *WHAT, unless NULL, is then
 * "zoom", "x" or "y".
 */
int tile_grid(const struct tile_address *tile, struct farlands_grid *grid, const char **what);

/* The content of LAYER, which WORLD serves. FIELD is only used if there is one layer per field. */
struct content world_content(const struct world *world, int layer, int field);

/* Let CONTENT show FIELD, over its whole range. */
void content_show(struct content *content, int field);

/* The number of samples beyond each edge that LAYER needs for slopes if samples are STEP units
 * apart; 0 if it shows no slopes. */
int world_reach(const struct world *world, int layer, int64_t step);

/* The fingerprint of the tile's kind (tile_kind). */
const char *tile_fingerprint(const struct tile_address *tile);

/* "relief/10/512/-3@2x.png", with a border "relief/10/512/-3@2x+border.png": the tile's name within
 * its world, in ETags and the disk cache. Returns BUFFER. */
char *tile_path(const struct tile_address *tile, char buffer[TILE_PATH_MAX]);

/* The same for URLs: "relief/10/512/-3@2x.png", "relief/10/512/-3@2x.png?border=1". */
char *tile_url(const struct tile_address *tile, char buffer[TILE_PATH_MAX]);

/* "{fingerprint}/{path}", and ".gzip" or ".zstd" if compressed: the tile's name among all worlds.
 * Returns BUFFER. */
char *tile_key(const struct tile_address *tile, char buffer[TILE_KEY_MAX]);

#endif
