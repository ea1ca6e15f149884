/* What a route names, looked up among the worlds. Pure. */
#ifndef FARLANDS_ROUTING_RESOLVE_H
#define FARLANDS_ROUTING_RESOLVE_H

#include "server/routing/route.h"
#include "server/world/tile.h"

/* The tile's route that PATH is, with or without a slash before it. Returns 0, or -EINVAL with what
 * is wrong in WHY. */
int resolve_path(const char *path, struct route *route, char why[ROUTE_WHY]);

/* The route's world, or NULL with what is wrong in WHY. Where the route has a seed it is the one to
 * derive that from, which allows it. */
const struct world *resolve_world(const struct worlds *worlds, const struct route *route,
                                  char why[ROUTE_WHY]);

/* The same, made where it is one of another seed: with a hold on it for the caller. NULL also where
 * memory is out. */
const struct world *resolve_hold(const struct worlds *worlds, const struct route *route,
                                 char why[ROUTE_WHY]);

/* The index of the route's layer, which WORLD serves, or -1 with what is wrong in WHY. */
int resolve_layer(const struct world *world, const struct route *route, char why[ROUTE_WHY]);

/* The tile that a ROUTE_TILE names in WORLD, and its grid. Returns 0, or -ENOENT
 * with what is wrong in WHY: no such layer or format, or beyond a limit. */
int resolve_tile(const struct world *world, const struct route *route, struct tile *tile,
                 struct farlands_grid *grid, char why[ROUTE_WHY]);

#endif
