/*
 * Writes tiles into one MBTiles 1.3 file, an SQLite database that map programs read:
 * https://github.com/mapbox/mbtiles-spec/blob/master/1.3/spec.md. The only includer of sqlite3.h.
 */
#ifndef FARLANDS_PRERENDER_MBTILES_H
#define FARLANDS_PRERENDER_MBTILES_H

#include <stdint.h>

#include "server/core/blob.h"
#include "server/prerender/tileset.h"

struct mbtiles;

/* Create FILE, as unfinished_file_open does. Copies TILESET into the file. Returns 0; -EINVAL if
 * TILESET is invalid; or an error of that function or of writing the file. */
int mbtiles_new(struct mbtiles **out, const char *file, const struct tileset *tileset);

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

/* SQLite's own text for the first write error, or NULL. ARCHIVE may be NULL. Not during a put. */
const char *mbtiles_detail(const struct mbtiles *archive);

#endif
