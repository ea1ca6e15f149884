/* The document of a world, /{world}.json, from its nodes. Needs no libyaml. Private to config/ and
 * to the viewer's module. */
#ifndef FARLANDS_CONFIG_WORLD_DOCUMENT_H
#define FARLANDS_CONFIG_WORLD_DOCUMENT_H

#include "config/text/node_reader.h"
#include "config/world/world_config.h"

#define WORLD_DOCUMENT "the complete document that the daemon serves at /{world}.json"

struct world_text {
    struct world_config world; /* with "name:seed" as its name, if the text has that */
    char fingerprint[17];      /* of regions, 16 hex digits; "" for YAML */
};

/*
 * Read the document ROOT, whose items may change places, as the world NAME; NULL: whatever its
 * name. Returns 0, and the caller releases OUT->world.fields; or an error as farlands_world_new,
 * with ERROR set.
 */
int world_document_read(struct world_text *out, struct text_node *root, const char *name,
                        struct config_error *error);

/*
 * Read the document ROOT as world INDEX of READER, to be served: also how it looks,
 * and which of READER's layers it has. The name loses its seed, which is the world's. Returns 0, or
 * a negative code with the error set; -ENOTSUP for one of another generator.
 */
int world_document_serve(struct node_reader *reader, struct text_node *root, int index);

/* Set OUT to a copy of WORLD, whose fields it holds, with SEED, such as ":42", after its name. */
void world_text_set(struct world_text *out, const struct world_config *world, const char *seed);

/* Refuse the name NAME; NAMES says which are expected. Returns -ENOENT. */
int world_text_missing(struct node_reader *reader, const char *name, const char *names);

#endif
