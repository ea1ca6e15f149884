#include "command_worlds.h"

#include <stdio.h>
#include <string.h>

#include "server/resolve.h"

int command_config(struct config **config, const char *file)
{
    struct config_layer known[CONFIG_LAYERS_MAX + 1];
    struct config_error error;
    layers_known(known);
    if (config_load(config, file, known, &error) == 0)
        return EXIT_DONE;
    fprintf(stderr, "farlands: %s\n", error.text);
    return EXIT_WRONG_USAGE;
}

int command_worlds(struct worlds **worlds, const struct config *config)
{
    int err = worlds_new(worlds, config);
    if (!err)
        return EXIT_DONE;
    fprintf(stderr, "farlands: %s\n", strerror(-err));
    return EXIT_FAILED;
}

const struct world *command_world(const struct worlds *worlds, const struct route *route,
                                  char why[ROUTE_WHY])
{
    const struct world *world = resolve_world(worlds, route, why);
    struct worlds *derived;

    if (!world)
        return NULL;
    if (!route->seeded)
        return world_hold(world);
    if (worlds_derive(&derived, world, route->seed) == 0)
        return derived->world;
    snprintf(why, ROUTE_WHY, "out of memory");
    return NULL;
}
