/* The built-in worlds, for fuzz targets. */
#ifndef FARLANDS_FUZZ_WORLD_H
#define FARLANDS_FUZZ_WORLD_H

#include "server/layers/layer.h"
#include "server/world/worlds.h"
#include "tests/fuzz/fuzz.h"

/* Created once, never freed. */
static inline const struct worlds *fuzz_worlds(void)
{
    static struct worlds *worlds;
    if (!worlds) {
        struct config_layer known[CONFIG_LAYERS_MAX + 1];
        struct config_error error;
        struct config *config;
        layers_known(known);
        must(config_load(&config, NULL, known, &error) == 0, "%s", error.text);
        must(worlds_new(&worlds, config) == 0, "out of memory");
        config_free(config);
    }
    return worlds;
}

#endif
