/*
 * Writes tiles into one MBTiles 1.3 file, an SQLite database that map programs read:
 * https://github.com/mapbox/mbtiles-spec/blob/master/1.3/spec.md. No other file includes sqlite3.h.
 */
#ifndef FARLANDS_PRERENDER_MBTILES_H
#define FARLANDS_PRERENDER_MBTILES_H

#include <stdint.h>

#include "server/core/blob.h"
#include "server/prerender/tileset.h"

struct mbtiles;

/* Create FILE with unfinished_file_open, and copy TILESET into the file. Returns 0; -EINVAL if
 * TILESET is invalid; or an error from opening or writing. */
int mbtiles_new(struct mbtiles **out, const char *file, const struct tileset *tileset);

/*
 * Add a tile; y grows south as in URLs. If the archive has the tile already, the first one stays.
 * Any thread; calls take turns. Returns 0; -ERANGE unless the archive has this zoom and 0 <= x, y <
 * 2^z; -ENOMEM; or a write error: -ENOSPC, -EIO, ... The first write error is final: all later
 * calls return it.
 */
int mbtiles_put(struct mbtiles *archive, int z, int64_t x, int64_t y, const struct blob *png);

/*
 * Write everything to disk and rename the file to FILE. Call it once, after all puts. Reads all
 * tiles again, one at a time, for the hash that `mbtiles validate` compares. Returns 0; -EEXIST,
 * leaving FILE alone, if another one has appeared meanwhile; or a write error.
 */
int mbtiles_finish(struct mbtiles *archive);

/* Free the archive; delete the file unless mbtiles_finish has succeeded. */
void mbtiles_free(struct mbtiles *archive);

/* SQLite's own text for the first write error, or NULL. ARCHIVE may be NULL. Do not call it during
 * a put. */
const char *mbtiles_detail(const struct mbtiles *archive);

#endif
