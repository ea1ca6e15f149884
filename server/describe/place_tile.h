/* The tile that contains a place. */
#ifndef FARLANDS_DESCRIBE_PLACE_TILE_H
#define FARLANDS_DESCRIBE_PLACE_TILE_H

#include "server/world/tile.h"

/* Set the column and row of ADDRESS, whose other members are set, to those of the tile that
 * contains PLACE, in units. Returns 0, or -ERANGE if there is no such tile. */
int place_tile_find(struct tile_address *address, const int64_t place[2]);

#endif
