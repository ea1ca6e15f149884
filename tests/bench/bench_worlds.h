/* The worlds that benchmarks measure. */
#ifndef FARLANDS_BENCH_WORLDS_H
#define FARLANDS_BENCH_WORLDS_H

#include <stdio.h>

#include "server/layers/layer.h"
#include "server/world/worlds.h"

/* The worlds of the configuration FILE, or, if that is NULL, those built in. The caller releases
 * them. NULL if there are none, which it tells. */
static inline struct worlds *bench_worlds(const char *file)
{
    struct config_layer known[CONFIG_LAYERS_MAX + 1];
    struct config_error error;
    struct config *config;
    struct worlds *worlds = NULL;

    layers_known(known);
    if (config_load(&config, file, known, &error)) {
        fprintf(stderr, "%s\n", error.text);
        return NULL;
    }
    if (worlds_new(&worlds, config))
        fprintf(stderr, "no worlds\n");
    config_free(config);
    return worlds;
}

#endif
