/* The keys of a world. Knows neither YAML nor the daemon. */
#ifndef FARLANDS_CONFIG_WORLD_OPTIONS_H
#define FARLANDS_CONFIG_WORLD_OPTIONS_H

#include "config.h"
#include "option.h"

/* Offsets are in struct world_config; name comes first. */
extern const struct option world_options[];

/* As option_format, of every kind but sections and layers: lists become JSON. */
bool world_option_format(const struct option *option, const struct world_config *world,
                         char *buffer, size_t size);

#endif
