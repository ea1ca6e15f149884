/* Tiles for tests, by their addresses. */
#ifndef FARLANDS_TILE_FIXTURES_H
#define FARLANDS_TILE_FIXTURES_H

#include "server/tiles/render.h"
#include "tests/unit/support/fixtures.h"

/* The key of the tile at ADDRESS. Valid until the end of the block that has the call. */
#define KEY_OF(address) tile_key(address, (char[TILE_KEY_MAX]){0})

/* The tile at ADDRESS, which exists. */
static inline struct tile tile_at_address(const struct tile_address *address)
{
    struct tile tile;
    char path[TILE_PATH_MAX];
    const char *what;
    must(tile_resolve(&tile, address, &what) == 0, "%s: beyond the world's %s",
         tile_path(address, path), what);
    return tile;
}

/* render_tile of the tile at ADDRESS. */
static inline int render_address(struct blob **out, struct render_scratch *scratch,
                                 const struct tile_address *address,
                                 struct render_progress *progress, struct render_times *times)
{
    const struct tile tile = tile_at_address(address);
    return render_tile(out, scratch, &tile, progress, times);
}

#endif
