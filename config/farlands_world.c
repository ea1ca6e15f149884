#include "farlands_world.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "world_text.h"

static int fill(struct farlands_world *out, const struct world_text *text,
                struct config_error *error)
{
    const struct world_config *world = &text->world;
    if (world->fields) {
        snprintf(error->text, sizeof error->text,
                 "text:1: fields: world \"%s\" is a graph of fields, which is no noise with "
                 "parameters; expected a world with `noise`",
                 world->name);
        return -ENOTSUP;
    }
    *out = (struct farlands_world){.params = world->terrain, .native_zoom = world->native_zoom};
    snprintf(out->name, sizeof out->name, "%s", world->name);
    memcpy(out->origin, world->origin, sizeof out->origin);
    memcpy(out->fingerprint, text->fingerprint, sizeof out->fingerprint);
    return 0;
}

int farlands_world_read(struct farlands_world *out, const char *text, size_t length,
                        const char *name, char *why, size_t why_size)
{
    struct config_error error = {{0}};
    struct world_text world;
    int err = world_text_read(&world, text, length, name, &error);
    if (!err) {
        err = fill(out, &world, &error);
        world_fields_release(world.world.fields);
    }
    if (err && why_size > 0)
        snprintf(why, why_size, "%s", error.text);
    return err;
}
