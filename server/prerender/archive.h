/* A tile archive in one file. The name's ending decides the format: MBTiles or PMTiles. */
#ifndef FARLANDS_PRERENDER_ARCHIVE_H
#define FARLANDS_PRERENDER_ARCHIVE_H

#include "server/core/blob.h"
#include "server/prerender/tileset.h"
#include "server/prerender/unfinished_file.h"

#define ARCHIVE_ENDINGS ".mbtiles or .pmtiles"

/* True if FILE's name ends in one of these, in upper or lower case. */
bool archive_is_named(const char *file);

struct archive;

/* Create FILE; the name must have one of the endings. Errors are those of mbtiles_new and
 * pmtiles_new. The texts of TILESET must outlive the archive. */
int archive_new(struct archive **out, const char *file, const struct tileset *tileset);

/*
 * Add a tile; y grows south as in URLs. If the archive has the tile already, the first one stays.
 * Any thread; calls take turns. Returns 0; -ERANGE if the tileset cannot have the tile; -ENOMEM; or
 * a write error: -ENOSPC, -EIO, ... The first write error is final: all later calls return it.
 */
int archive_put(struct archive *archive, int z, int64_t x, int64_t y, const struct blob *tile);

/* Write everything to disk and rename the file to its final name. Call it once, after all puts. */
int archive_finish(struct archive *archive);

/* Free the archive; delete the file unless archive_finish has succeeded. */
void archive_free(struct archive *archive);

/* Write the message for ERR, an error from the functions above, to WHY and return WHY. ARCHIVE may
 * be NULL. Do not call it during a put. */
char *archive_explain(const struct archive *archive, const char *file, int err,
                      char why[UNFINISHED_FILE_WHY]);

#endif
