/* Looks up a route's world, layer and tile. Pure. On error, WHY has the message. */
#ifndef FARLANDS_ROUTING_RESOLVE_H
#define FARLANDS_ROUTING_RESOLVE_H

#include "server/routing/route.h"
#include "server/world/tile.h"

/* Parse the path of a tile, with or without a leading slash. Returns 0 or -EINVAL. */
int resolve_path(const char *path, struct route *route, char why[ROUTE_WHY]);

/* The route's configured world, or NULL. If the route has a seed, the world is one that may be
 * derived. */
const struct world *resolve_world(const struct worlds *worlds, const struct route *route,
                                  char why[ROUTE_WHY]);

/* The route's world, derived if the route has a seed, with a reference for the caller; or NULL,
 * also if out of memory. */
const struct world *resolve_hold(const struct worlds *worlds, const struct route *route,
                                 char why[ROUTE_WHY]);

/* The index of the route's layer, or -1 if WORLD does not serve it. *FIELD is its field: the height
 * unless the layer is one for each field. */
int resolve_layer(const struct world *world, const struct route *route, int *field,
                  char why[ROUTE_WHY]);

/* The number of the field NAME of WORLD, or -1. */
int resolve_field(const struct world *world, struct span name, char why[ROUTE_WHY]);

/* The fields of a place, in the order of the request. */
struct chosen_fields {
    int field[ROUTE_FIELDS_MAX], count;
};

/* Those that the route names, if any. Returns 0, or an HTTP status. */
unsigned resolve_fields(const struct world *world, const struct route *route,
                        struct chosen_fields *out, char why[ROUTE_WHY]);

/* The biomes that a spawn's route names, if any: by their ids or names, in which _ may stand for a
 * space. Returns 0, or an HTTP status. */
unsigned resolve_biomes(const struct world *world, const struct route *route,
                        struct spawn_biomes *out, char why[ROUTE_WHY]);

/* The format that the route's extension names, or -1 if LAYER does not have it. */
int resolve_format(int layer, const struct route *route, char why[ROUTE_WHY]);

/* Whether LAYER has tiles in the format that the route names for TileJSON. */
bool resolve_tilejson(int layer, const struct route *route, char why[ROUTE_WHY]);

/* Resolve the tile of a ROUTE_TILE in WORLD. Returns 0, or -ENOENT if there is no such layer
 * or format, or if it is beyond a limit. */
int resolve_tile(const struct world *world, const struct route *route, struct tile *tile,
                 char why[ROUTE_WHY]);

#endif
