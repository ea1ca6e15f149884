/* A world from its document, without libyaml. */
#include <stdio.h>
#include <string.h>

#include "config/library/world_text.h"
#include "config/reading/world_document.h"
#include "config/text/json_file.h"

/* The text may be YAML, which a library with libyaml reads. */
static void say_expected(struct config_error *error)
{
    const size_t used = strlen(error->text);
    snprintf(error->text + used, sizeof error->text - used,
             "; expected JSON, " WORLD_DOCUMENT ": this build has no libyaml, so it reads no YAML");
}

int world_json_read(struct world_text *out, const char *text, size_t length, const char *name,
                    struct config_error *error)
{
    struct text_node *root;
    int err = json_file_parse(&root, "text", (const unsigned char *)text, length, error);
    if (err) {
        say_expected(error);
        return err;
    }
    err = world_document_read(out, root, name, error);
    text_nodes_free(root, 1);
    return err;
}
