/* An archive's description of its tiles. Pure. */
#ifndef FARLANDS_PRERENDER_TILESET_H
#define FARLANDS_PRERENDER_TILESET_H

#include <stdbool.h>
#include <stdint.h>

/* Up to this zoom columns and rows fit every reader's integers. */
enum { TILESET_ZOOM_MAX = 30 };

/* A NULL text is left out. */
struct tileset {
    const char *name, *description;  /* the name is required */
    int zoom_min, zoom_max;          /* 0 <= zoom_min <= zoom_max <= TILESET_ZOOM_MAX */
    double west, south, east, north; /* degrees; see tileset_set_bounds */
    const char *format;              /* "png" or "webp"; required */
    int version;                     /* the content's; 0: left out */
    const char *fingerprint;         /* the layer's */
    const char *encoding;            /* how colors encode heights, in TileJSON's terms */
    const char *attribution;
    int tile_size; /* pixels per side */
};

/* Set the bounds to those of the tiles x0 <= x < x1, y0 <= y < y1 at zoom Z in Web Mercator. */
void tileset_set_bounds(struct tileset *tileset, int z, int64_t x0, int64_t y0, int64_t x1,
                        int64_t y1);

bool tileset_is_valid(const struct tileset *tileset);

/* True if the archive may have this tile. */
bool tileset_has(const struct tileset *tileset, int z, int64_t x, int64_t y);

struct tileset_center {
    double longitude, latitude;
    int zoom;
};

/* The center in the map's projection, and the zoom at which the bounds are up to four tiles
 * wide. */
struct tileset_center tileset_center(const struct tileset *tileset);

#endif
