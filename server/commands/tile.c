#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "server/commands/commands.h"
#include "server/routing/resolve.h"
#include "server/tiles/render.h"
#include "server/world/worlds.h"

/* Parse PATH and hold its world. Returns 0, or a negative code with a message in WHY. */
static int find_tile(const struct worlds *worlds, const char *path, struct tile *tile,
                     char why[ROUTE_WHY])
{
    struct route route;

    if (resolve_path(path, &route, why))
        return -EINVAL;
    const struct world *world = resolve_hold(worlds, &route, why);
    if (!world)
        return -ENOENT;
    int err = resolve_tile(world, &route, tile, why);
    if (err)
        world_release(world);
    return err;
}

static int write_blob(const struct blob *blob, const char *file)
{
    FILE *out = file ? fopen(file, "wb") : stdout;
    if (!out || fwrite(blob->bytes, 1, blob->length, out) != blob->length || fflush(out) ||
        (file && fclose(out)))
        return failed("%s: %s", file ? file : "stdout", strerror(errno));
    return EXIT_DONE;
}

static int render_to(const struct tile *tile, const char *file)
{
    struct render_scratch *scratch;
    struct blob *blob;
    int err = render_scratch_new(&scratch);
    if (!err) {
        err = render_tile(&blob, scratch, tile, NULL, NULL);
        render_scratch_free(scratch);
    }
    if (err)
        return failed("cannot render the tile: %s", strerror(-err));
    int code = write_blob(blob, file);
    blob_release(blob);
    return code;
}

int command_tile(const struct command_line *line)
{
    struct worlds *worlds;
    struct tile tile;
    char why[ROUTE_WHY];
    int code = load_worlds_of_file(&worlds, line->option[ARG_CONFIG]);
    if (code)
        return code;
    if (find_tile(worlds, line->argument, &tile, why)) {
        fprintf(stderr, "farlands: %s: %s\n", line->argument, why);
        code = EXIT_WRONG_USAGE;
    } else {
        code = render_to(&tile, line->option[ARG_OUTPUT]);
        world_release(tile.address.world);
    }
    worlds_release(worlds);
    return code;
}
