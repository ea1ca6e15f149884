/*
 * An archive of tiles in one file, as map programs read it: MBTiles 1.3
 * (https://github.com/mapbox/mbtiles-spec/blob/master/1.3/spec.md), which is SQLite. It is written
 * once and then only read. Nobody else includes sqlite3.h.
 */
#ifndef FARLANDS_PRERENDER_MBTILES_H
#define FARLANDS_PRERENDER_MBTILES_H

#include <stdbool.h>
#include <stdint.h>

#include "server/core/blob.h"

/* What an archive says of itself. A text is copied; one that is NULL is left out. */
struct mbtiles_about {
    const char *name, *description;  /* a name it must have */
    int zoom_min, zoom_max;          /* 0 <= zoom_min <= zoom_max <= MBTILES_ZOOM_MAX */
    double west, south, east, north; /* degrees, of all tiles; see mbtiles_window */
    int version;                     /* of what the tiles show; 0: left out */
    const char *fingerprint;         /* of the world */
    const char *encoding;            /* of heights in colours, as TileJSON names it */
};

/* Columns and rows are whole numbers that SQLite and all its readers have. */
enum { MBTILES_ZOOM_MAX = 30 };

/* The bounds of the tiles x0 <= x < x1, y0 <= y < y1 of zoom Z, whose window is Web Mercator's
 * square, in degrees. */
void mbtiles_window(struct mbtiles_about *about, int z, int64_t x0, int64_t y0, int64_t x1,
                    int64_t y1);

struct mbtiles;

/*
 * Begin the archive FILE. Until it is finished it lies beside that as FILE.unfinished, locked; what
 * a run that was killed has left there is overwritten. Returns 0; -EEXIST where FILE is there;
 * -EBUSY where a run that lives writes it; -ENOTUNIQ where FILE.unfinished is no such archive;
 * -EINVAL where ABOUT is impossible; or the error of making it.
 */
int mbtiles_new(struct mbtiles **out, const char *file, const struct mbtiles_about *about);

/*
 * Add a tile as URLs number it, y growing south. PNG is copied. What is there already stays as
 * it is. Any thread; from time to time a call writes what has come together, and others may
 * wait for that. Returns 0; -ERANGE for a tile that is not one of the archive's zooms and of
 * 0 <= x, y < 2^z; -ENOMEM; or what went wrong in writing, now or before: -ENOSPC, -EIO, ...,
 * after which the archive is spoilt and only to be freed.
 */
int mbtiles_put(struct mbtiles *archive, int z, int64_t x, int64_t y, const struct blob *png);

/*
 * FILE appears, whole and on the disk, with all that was put. Returns 0; -EEXIST where another file
 * has come there meanwhile, which stays; or the error of writing. One thread, once, after all puts.
 */
int mbtiles_finish(struct mbtiles *archive);

/* What is unfinished is removed. */
void mbtiles_free(struct mbtiles *archive);

enum { MBTILES_WHY = 512 };

/*
 * ERR, which came from a function above, as a sentence for people: it names FILE, and has what
 * SQLite says, if anything. ARCHIVE is NULL where there is none. Returns WHY.
 */
char *mbtiles_explain(const struct mbtiles *archive, const char *file, int err,
                      char why[MBTILES_WHY]);

#endif
