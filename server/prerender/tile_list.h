/* Reads tile lists, one path per line as in URLs: world/layer/z/x/y[@2x].{png,webp}[?border=1]. */
#ifndef FARLANDS_PRERENDER_TILE_LIST_H
#define FARLANDS_PRERENDER_TILE_LIST_H

#include <stdio.h>

#include "server/routing/route.h"
#include "server/world/tile.h"

/* Each world in a list takes 1.4 KB. */
enum { TILE_LIST_WHY = ROUTE_WHY + 64, TILE_LIST_WORLDS = 16384 };

struct tile_list {
    struct tile_address *tiles;
    size_t count;
    struct listed_world *worlds; /* the tiles' worlds, held */
};

/*
 * Read IN to its end. Leading slashes are optional; empty lines, and queries but for border, are
 * ignored. Returns 0, and the caller calls tile_list_free. Returns -EINVAL with the line and the
 * message in WHY if a line is not the path of a PNG or WebP tile, if there are more than
 * TILE_LIST_WORLDS worlds, or if there is no path at all; -ENOMEM; or a read error.
 */
int tile_list_read(struct tile_list *list, FILE *in, const struct worlds *worlds,
                   char why[TILE_LIST_WHY]);

/* Release the worlds and free the tiles. To keep the tiles, set list->tiles to NULL before. */
void tile_list_free(struct tile_list *list);

#endif
