/*
 * Writes tiles into one MBTiles 1.3 file, an SQLite database that map programs read:
 * https://github.com/mapbox/mbtiles-spec/blob/master/1.3/spec.md. The only includer of sqlite3.h.
 */
#ifndef FARLANDS_PRERENDER_MBTILES_H
#define FARLANDS_PRERENDER_MBTILES_H

#include <stdint.h>

#include "server/core/blob.h"

/* Columns and rows up to this zoom fit the integers of every MBTiles reader. */
enum { MBTILES_ZOOM_MAX = 30 };

/* The rows of the metadata table. Texts are copied; a NULL text is left out. */
struct mbtiles_metadata {
    const char *name, *description;  /* the name is required */
    int zoom_min, zoom_max;          /* 0 <= zoom_min <= zoom_max <= MBTILES_ZOOM_MAX */
    double west, south, east, north; /* degrees; see mbtiles_set_bounds */
    const char *format;              /* of the tiles: "png" or "webp"; required */
    int version;                     /* of the content; 0: left out */
    const char *fingerprint;         /* of the layer */
    const char *encoding;            /* of heights as colours, in TileJSON's terms */
    const char *attribution;
    int tile_size; /* pixels of a side */
};

/* Set the bounds to those of the tiles x0 <= x < x1, y0 <= y < y1 at zoom Z, in Web Mercator. */
void mbtiles_set_bounds(struct mbtiles_metadata *metadata, int z, int64_t x0, int64_t y0,
                        int64_t x1, int64_t y1);

struct mbtiles;

/*
 * Create FILE, which appears complete or not at all: until mbtiles_finish it is FILE.unfinished,
 * which is locked. A killed writer leaves that unlocked, and the next writer overwrites it. Returns
 * 0; -EINVAL if METADATA is invalid; -EEXIST if FILE exists, even as a dangling link; -EBUSY if a
 * running writer has FILE.unfinished; -ENOTUNIQ if that is no archive; or an error of creating or
 * writing the file.
 */
int mbtiles_new(struct mbtiles **out, const char *file, const struct mbtiles_metadata *metadata);

/*
 * Add a tile, y growing south as in URLs. A tile that is already in the archive is kept. Any
 * thread; calls take turns. Returns 0; -ERANGE if the zoom is not one of the archive's or the tile
 * is not 0 <= x, y < 2^z; -ENOMEM; or a write error: -ENOSPC, -EIO, ... The first write error is
 * final: all later calls return it.
 */
int mbtiles_put(struct mbtiles *archive, int z, int64_t x, int64_t y, const struct blob *png);

/*
 * Write everything to disk and give FILE its name. Once, after all puts. Reads all tiles again, one
 * at a time, for the hash of them that the program mbtiles verifies. Returns 0; -EEXIST if
 * another FILE has appeared by now, which is kept; or a write error.
 */
int mbtiles_finish(struct mbtiles *archive);

/* Delete an archive that is not finished, and free it. */
void mbtiles_free(struct mbtiles *archive);

enum { MBTILES_WHY = 512 };

/*
 * The message for ERR, an error of the functions above: FILE, the reason, and SQLite's own text if
 * there is one. ARCHIVE may be NULL. Not during a put. Returns WHY.
 */
char *mbtiles_explain(const struct mbtiles *archive, const char *file, int err,
                      char why[MBTILES_WHY]);

#endif
