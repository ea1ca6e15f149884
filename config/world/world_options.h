/* A world's keys. Knows neither YAML nor the daemon. */
#ifndef FARLANDS_CONFIG_WORLD_OPTIONS_H
#define FARLANDS_CONFIG_WORLD_OPTIONS_H

#include "config/values/option.h"
#include "config/world/world_config.h"

/* Offsets are in struct world_config; name comes first. */
extern const struct option world_options[];

/*
 * The values of keys that a configuration or a document omits. A released default never changes,
 * because documents without the key mean this value. So the default of a new key must leave
 * existing worlds as they are; built-in worlds may have another value.
 */
extern const struct world_config world_defaults;

/*
 * True if KEY (LENGTH bytes), at the top of a document, changes neither heights nor densities:
 * programs that compute these ignore the key. An unknown key is refused instead, because in a later
 * release it may be a parameter.
 */
bool world_key_is_ignored(const char *key, size_t length);

/* As option_format, for every kind except sections and layers: lists become JSON. */
bool world_option_format(const struct option *option, const struct world_config *world,
                         char *buffer, size_t size);

#endif
