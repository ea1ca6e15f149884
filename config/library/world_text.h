/* A world from text: a document /{world}.json, or a configuration. Private to the project; other
 * programs use farlands.h. */
#ifndef FARLANDS_CONFIG_WORLD_TEXT_H
#define FARLANDS_CONFIG_WORLD_TEXT_H

#include "config/reading/world_document.h"

/*
 * Read the world NAME from TEXT. Returns what farlands_world_new does, with the message in ERROR.
 * The caller releases OUT->world.fields.
 */
typedef int world_reader(struct world_text *out, const char *text, size_t length, const char *name,
                         struct config_error *error);

world_reader world_text_read;

/* The same, if TEXT is not too long and the floating-point mode is the default. world_yaml_read
 * takes YAML, which includes JSON; world_json_read takes documents in JSON alone, and needs no
 * libyaml. */
world_reader world_yaml_read, world_json_read;

#endif
