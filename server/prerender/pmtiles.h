/*
 * Writes tiles into one PMTiles 3 file, which web maps read from any file server by Range:
 * https://github.com/protomaps/PMTiles/blob/main/spec/v3/spec.md
 *
 *     0       header, 127 bytes: offset and length of each section below, counts, zooms,
 *             bounds, center; integers are little-endian
 *     127     root directory    ends before 16,384: the first request of a reader gets it all
 *     ...     metadata          JSON with name, description, attribution, encoding, ...
 *     ...     leaf directories  none, if the root has room for all entries
 *     ...     tiles             as they are
 *
 * Directories and metadata are compressed with gzip. A directory lists its entries by tile id:
 *
 *     id      numbers the tiles from zoom 0 on, along a Hilbert curve in each zoom, so that
 *             neighbors are near each other in the file
 *     run     this many tiles from id on are the same; 0: a leaf directory, for tiles from id on
 *     length  in bytes
 *     offset  from the beginning of the tiles, or of the leaf directories
 *
 * A directory is written as varints (7 bits per byte, the lowest first, bit 7: more follow): the
 * number of entries, then all ids, each as the difference from the one before; all runs; all
 * lengths; all offsets, each plus 1, or 0 if the entry directly follows the one before. Equal tiles
 * are stored once. The archive is "clustered": tiles are stored in the order in which ids first use
 * them.
 *
 * Tiles arrive in any order. A nameless file in the same directory collects them, and
 * pmtiles_finish copies them in order, so the disk needs room for twice the tiles. Each tile takes
 * about 70 bytes of memory.
 */
#ifndef FARLANDS_PRERENDER_PMTILES_H
#define FARLANDS_PRERENDER_PMTILES_H

#include <stdint.h>

#include "server/core/blob.h"
#include "server/prerender/tileset.h"

struct pmtiles;

/* Create FILE with unfinished_file_open. The texts of TILESET must outlive the archive. Returns 0;
 * -EINVAL if TILESET is invalid; or an error from opening the files. */
int pmtiles_new(struct pmtiles **out, const char *file, const struct tileset *tileset);

/* Like mbtiles_put; also -EFBIG for an empty tile or more than 2^32 - 1 tiles or bytes. */
int pmtiles_put(struct pmtiles *archive, int z, int64_t x, int64_t y, const struct blob *tile);

/* Like mbtiles_finish; -ENODATA if there is no tile, because a directory must not be empty. */
int pmtiles_finish(struct pmtiles *archive);

/* Free the archive; delete the file unless pmtiles_finish has succeeded. */
void pmtiles_free(struct pmtiles *archive);

/* The tile's id, for 0 <= x, y < 2^z and z <= TILESET_ZOOM_MAX. */
uint64_t pmtiles_id(int z, int64_t x, int64_t y);

#endif
