#include "commands.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/layers/layer.h"
#include "server/routing/resolve.h"
#include "server/world/worlds.h"

int check_kernel(void)
{
    const char *fault = terrain_kernel_fault();
    if (!fault)
        return EXIT_DONE;
    fprintf(stderr, "farlands: FARLANDS_KERNEL: got \"%s\"; %s\n", getenv("FARLANDS_KERNEL"),
            fault);
    return EXIT_WRONG_USAGE;
}

int load_config(struct config **config, const char *file)
{
    struct config_layer known[CONFIG_LAYERS_MAX + 1];
    struct config_error error;
    int code = check_kernel();
    if (code)
        return code;
    layers_known(known);
    if (config_load(config, file, known, &error) == 0)
        return EXIT_DONE;
    fprintf(stderr, "farlands: %s\n", error.text);
    return EXIT_WRONG_USAGE;
}

int load_worlds(struct worlds **worlds, const struct config *config)
{
    int err = worlds_new(worlds, config);
    return err ? failed("%s", strerror(-err)) : EXIT_DONE;
}

int load_worlds_of_file(struct worlds **worlds, const char *file)
{
    struct config *config;
    int code = load_config(&config, file);
    if (code)
        return code;
    code = load_worlds(worlds, config);
    config_free(config);
    return code;
}

int hold_world(const struct world **out, const struct worlds *worlds, const char *option,
               const char *name)
{
    char path[ROUTE_WORD + 64], why[ROUTE_WHY];
    struct route route;
    const int length = snprintf(path, sizeof path, "/%s.json", name);

    *out = NULL;
    if (length >= (int)sizeof path || strpbrk(name, "/?"))
        return wrong_usage("%s: expected NAME or NAME:SEED, not: %s", option, name);
    if (route_parse(&route, path, why) == 0)
        *out = resolve_hold(worlds, &route, why);
    return *out ? EXIT_DONE : wrong_usage("%s: %s", option, why);
}
