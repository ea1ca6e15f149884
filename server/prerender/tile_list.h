/* Lists of tiles by their paths, one a line, as in URLs: world/layer/z/x/y[@2x].png. */
#ifndef FARLANDS_PRERENDER_TILE_LIST_H
#define FARLANDS_PRERENDER_TILE_LIST_H

#include <stdio.h>

#include "server/routing/route.h"
#include "server/world/tile.h"

/* The most worlds in a list, each of which takes some 20 KB until that is freed. */
enum { TILE_LIST_WHY = ROUTE_WHY + 64, TILE_LIST_WORLDS = 16384 };

struct tile_list {
    struct tile *tiles;
    size_t count;
    struct listed_world *worlds; /* that the tiles are in, held */
};

/*
 * Read IN to its end, with or without slashes before the paths; what a query says is passed over,
 * and so are empty lines. Returns 0; -EINVAL where a line is not the path of a PNG, there are too
 * many worlds, or no path at all, with the line's number and what is wrong in WHY; -ENOMEM, or the
 * error of reading. On 0 tile_list_free it.
 */
int tile_list_read(struct tile_list *list, FILE *in, const struct worlds *worlds,
                   char why[TILE_LIST_WHY]);

/* Tiles, too, unless someone has taken them and put NULL in their place. */
void tile_list_free(struct tile_list *list);

#endif
