/* What commands make of a configuration: worlds, and tiles in them by their paths. What is wrong
 * with a configuration is told on stderr here. */
#ifndef FARLANDS_COMMAND_WORLDS_H
#define FARLANDS_COMMAND_WORLDS_H

#include "server/command_line.h"
#include "server/route.h"
#include "server/tile.h"

/* Read FILE, or the built-in configuration where it is NULL. Returns EXIT_DONE with *CONFIG, to be
 * freed; or an exit code. */
int command_config(struct config **config, const char *file);

/* Its worlds, with one reference. Returns EXIT_DONE or an exit code. */
int command_worlds(struct worlds **worlds, const struct config *config);

/* The route's world, a configured one or one of another seed, with a hold on it; or NULL with what
 * is wrong in WHY. */
const struct world *command_world(const struct worlds *worlds, const struct route *route,
                                  char why[ROUTE_WHY]);

#endif
