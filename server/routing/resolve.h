/* Looks up a route's world, layer and tile. Pure. After an error WHY has the message. */
#ifndef FARLANDS_ROUTING_RESOLVE_H
#define FARLANDS_ROUTING_RESOLVE_H

#include "server/routing/route.h"
#include "server/world/tile.h"

/* Parse a tile's path, with or without a leading slash. Returns 0 or -EINVAL. */
int resolve_path(const char *path, struct route *route, char why[ROUTE_WHY]);

/* The route's configured world, or NULL. If the route has a seed, the world allows other seeds. */
const struct world *resolve_world(const struct worlds *worlds, const struct route *route,
                                  char why[ROUTE_WHY]);

/* The route's world, derived if the route has a seed. The caller gets a reference. NULL also if out
 * of memory. */
const struct world *resolve_hold(const struct worlds *worlds, const struct route *route,
                                 char why[ROUTE_WHY]);

/* The index of the route's layer, or -1 if WORLD doesn't serve it. *FIELD is the field it shows:
 * the named one if there is one layer per field, otherwise the layer's own. */
int resolve_layer(const struct world *world, const struct route *route, int *field,
                  char why[ROUTE_WHY]);

/* The number of WORLD's field NAME, or -1. */
int resolve_field(const struct world *world, struct span name, char why[ROUTE_WHY]);

/* Fields for a place, in the request's order. */
struct chosen_fields {
    int field[ROUTE_FIELDS_MAX], count;
};

/* Look up the fields that the route names, if any. Returns 0, or an HTTP status. */
unsigned resolve_fields(const struct world *world, const struct route *route,
                        struct chosen_fields *out, char why[ROUTE_WHY]);

/* Look up the biomes that a spawn's route names, if any, by id or name; _ may stand for a space.
 * Returns 0, or an HTTP status. */
unsigned resolve_biomes(const struct world *world, const struct route *route,
                        struct spawn_biomes *out, char why[ROUTE_WHY]);

/* The format for the route's extension, or -1 if LAYER doesn't have it. */
int resolve_format(int layer, const struct route *route, char why[ROUTE_WHY]);

/* True if LAYER has tiles in the format that the route names for TileJSON. */
bool resolve_tilejson(int layer, const struct route *route, char why[ROUTE_WHY]);

/* Resolve WORLD's tile for a ROUTE_TILE. Returns 0, or -ENOENT if there is no such layer or format,
 * or if the tile is beyond a limit. */
int resolve_tile(const struct world *world, const struct route *route, struct tile *tile,
                 char why[ROUTE_WHY]);

#endif
