/* The keys of a world. Knows neither YAML nor the daemon. */
#ifndef FARLANDS_CONFIG_WORLD_OPTIONS_H
#define FARLANDS_CONFIG_WORLD_OPTIONS_H

#include "config/values/option.h"
#include "config/world/world_config.h"

/* Offsets are in struct world_config; name comes first. */
extern const struct option world_options[];

/*
 * The values of keys that a world omits, in a configuration or a document. A released default never
 * changes: documents without its key mean this value. So a later key's default is the one that
 * leaves worlds as they are, whatever the built-in worlds have.
 */
extern const struct world_config world_defaults;

/*
 * True if KEY (LENGTH bytes), at the top of a document, says nothing about heights and densities,
 * so that those who compute them ignore it. Any other key that they do not know may be a parameter
 * of a later release, and is refused.
 */
bool world_key_is_ignored(const char *key, size_t length);

/* As option_format, of every kind but sections and layers: lists become JSON. */
bool world_option_format(const struct option *option, const struct world_config *world,
                         char *buffer, size_t size);

#endif
