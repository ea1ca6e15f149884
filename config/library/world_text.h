/* A world from text: a document /{world}.json, or a configuration. Private to the project;
 * farlands.h has what others may use. */
#ifndef FARLANDS_CONFIG_WORLD_TEXT_H
#define FARLANDS_CONFIG_WORLD_TEXT_H

#include "config/reading/world_document.h"

/*
 * Read the world NAME from TEXT, as farlands_world_new does, with its errors and their messages in
 * ERROR. The caller releases OUT->world.fields.
 */
typedef int world_reader(struct world_text *out, const char *text, size_t length, const char *name,
                         struct config_error *error);

world_reader world_text_read;

/* The same for texts that are not too long, in the default floating-point mode: for YAML, or
 * without libyaml for documents in JSON alone. */
world_reader world_yaml_read, world_json_read;

#endif
