/* An archive of tiles in one file, whose name's ending is its format: MBTiles or PMTiles. */
#ifndef FARLANDS_PRERENDER_ARCHIVE_H
#define FARLANDS_PRERENDER_ARCHIVE_H

#include "server/core/blob.h"
#include "server/prerender/tileset.h"
#include "server/prerender/unfinished_file.h"

#define ARCHIVE_ENDINGS ".mbtiles or .pmtiles"

/* Whether FILE has one of the endings, in any case. */
bool archive_is_named(const char *file);

struct archive;

/* Create FILE, which has one of the endings; see mbtiles_new and pmtiles_new. TILESET's texts must
 * outlive the archive. */
int archive_new(struct archive **out, const char *file, const struct tileset *tileset);

/*
 * Add a tile, y growing south as in URLs. A tile that is already in the archive is kept. Any
 * thread; calls take turns. Returns 0; -ERANGE if the tileset cannot have it; -ENOMEM; or a write
 * error: -ENOSPC, -EIO, ... The first write error is final: all later calls return it.
 */
int archive_put(struct archive *archive, int z, int64_t x, int64_t y, const struct blob *tile);

/* Write everything to disk and give the file its name. Once, after all puts. */
int archive_finish(struct archive *archive);

/* Delete an archive that is not finished, and free it. */
void archive_free(struct archive *archive);

/* The message for ERR, an error of the functions above. ARCHIVE may be NULL. Not during a put.
 * Returns WHY. */
char *archive_explain(const struct archive *archive, const char *file, int err,
                      char why[UNFINISHED_FILE_WHY]);

#endif
