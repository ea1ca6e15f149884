/*
 * Writes tiles into one PMTiles 3 file, which web maps read from any file server by Range:
 * https://github.com/protomaps/PMTiles/blob/main/spec/v3/spec.md.
 *
 *     0       header, 127 bytes: the places and lengths of the following sections, counts,
 *             zooms, bounds, centre; integers are little-endian
 *     127     root directory    ends before 16,384, so that readers have it with their first
 * request
 *     ...     metadata          JSON with name, description, attribution, encoding, ...
 *     ...     leaf directories  none, if the root has room for all entries
 *     ...     tiles             as they are
 *
 * The first three are compressed by gzip. A directory is a list of entries by ascending tile id:
 *
 *     id      tiles are numbered from zoom 0 on, along a Hilbert curve in each zoom, so neighbours
 *             are near each other in the file
 *     run     so many tiles from id on are the same; 0: a leaf directory with the tiles from id on
 *     length  in bytes
 *     offset  from the beginning of the tiles, or of the leaf directories
 *
 * It is written as varints (7 bits a byte, the lowest first, bit 7: more follow): their number,
 * then all ids, each as the difference from the one before; all runs; all lengths; and all offsets
 * plus 1, or 0 for what follows the entry before. Equal tiles are there once. The archive is
 * "clustered": tiles are in the order of the first ids that have them.
 *
 * Tiles come in any order. They are collected in a file without a name, in the same directory, and
 * pmtiles_finish puts them in order; so the disk needs room for twice the tiles. A tile takes some
 * 70 bytes of memory.
 */
#ifndef FARLANDS_PRERENDER_PMTILES_H
#define FARLANDS_PRERENDER_PMTILES_H

#include <stdint.h>

#include "server/core/blob.h"
#include "server/prerender/tileset.h"

struct pmtiles;

/* Create FILE, as unfinished_file_open does. TILESET's texts must outlive the archive. Returns 0;
 * -EINVAL if TILESET is invalid; or an error of that function or of writing the file. */
int pmtiles_new(struct pmtiles **out, const char *file, const struct tileset *tileset);

/* As mbtiles_put. */
int pmtiles_put(struct pmtiles *archive, int z, int64_t x, int64_t y, const struct blob *tile);

/* As mbtiles_finish. -ENODATA without a tile, since no directory may be empty. */
int pmtiles_finish(struct pmtiles *archive);

/* Delete an archive that is not finished, and free it. */
void pmtiles_free(struct pmtiles *archive);

/* The id of a tile, 0 <= x, y < 2^z, z up to TILESET_ZOOM_MAX. */
uint64_t pmtiles_id(int z, int64_t x, int64_t y);

#endif
