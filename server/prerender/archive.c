#include "archive.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "server/prerender/mbtiles.h"
#include "server/prerender/pmtiles.h"

/* One member is set, the other NULL. */
struct archive {
    struct mbtiles *mbtiles;
    struct pmtiles *pmtiles;
};

static bool ends_with(const char *file, const char *ending)
{
    const size_t length = strlen(file), end = strlen(ending);
    return length > end && strcasecmp(file + length - end, ending) == 0;
}

bool archive_is_named(const char *file)
{
    return ends_with(file, ".mbtiles") || ends_with(file, ".pmtiles");
}

int archive_new(struct archive **out, const char *file, const struct tileset *tileset)
{
    struct archive *archive = calloc(1, sizeof *archive);
    if (!archive)
        return -ENOMEM;
    const int err = ends_with(file, ".pmtiles") ? pmtiles_new(&archive->pmtiles, file, tileset)
                                                : mbtiles_new(&archive->mbtiles, file, tileset);
    if (err) {
        free(archive);
        return err;
    }
    *out = archive;
    return 0;
}

int archive_put(struct archive *archive, int z, int64_t x, int64_t y, const struct blob *tile)
{
    return archive->pmtiles ? pmtiles_put(archive->pmtiles, z, x, y, tile)
                            : mbtiles_put(archive->mbtiles, z, x, y, tile);
}

int archive_finish(struct archive *archive)
{
    return archive->pmtiles ? pmtiles_finish(archive->pmtiles) : mbtiles_finish(archive->mbtiles);
}

void archive_free(struct archive *archive)
{
    if (!archive)
        return;
    mbtiles_free(archive->mbtiles);
    pmtiles_free(archive->pmtiles);
    free(archive);
}

char *archive_explain(const struct archive *archive, const char *file, int err,
                      char why[UNFINISHED_FILE_WHY])
{
    const char *detail = archive ? mbtiles_detail(archive->mbtiles) : NULL;
    if (err == -ENODATA)
        detail = "no tiles; PMTiles have one at least";
    return unfinished_file_explain(file, err, detail, why);
}
