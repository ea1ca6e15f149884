/* A world's document, /{world}.json, from nodes. Needs no libyaml. Private to config/ and to the
 * viewer's module. */
#ifndef FARLANDS_CONFIG_WORLD_DOCUMENT_H
#define FARLANDS_CONFIG_WORLD_DOCUMENT_H

#include "config/text/node_reader.h"
#include "config/world/world_config.h"

#define WORLD_DOCUMENT "the complete document that the daemon serves at /{world}.json"

struct world_text {
    struct world_config world; /* with "name:seed" as its name, if the text has that */
    char fingerprint[17];      /* of regions, 16 hex digits; "" from YAML */
};

/*
 * Read the document ROOT of the world NAME (NULL: any name). ROOT's items may change places.
 * Returns 0, and the caller releases OUT->world.fields; or an error as farlands_world_new, with
 * ERROR set.
 */
int world_document_read(struct world_text *out, struct text_node *root, const char *name,
                        struct config_error *error);

/*
 * Read the document ROOT as READER's world INDEX, to be served: with its looks, and with the layers
 * that the document lists. The name loses the part from a colon on, because the world has that
 * seed. Returns 0, or a negative code with the error set; -ENOTSUP for an unknown generator.
 */
int world_document_serve(struct node_reader *reader, struct text_node *root, int index);

/* Set OUT to a copy of WORLD, with SEED, such as ":42", after the name. OUT takes a reference to
 * the fields. */
void world_text_set(struct world_text *out, const struct world_config *world, const char *seed);

/* Refuse the name NAME; NAMES says which are expected. Returns -ENOENT. */
int world_text_missing(struct node_reader *reader, const char *name, const char *names);

#endif
