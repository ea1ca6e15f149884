/*
 * World documents of random bytes, with any name. An error is one printable line and leaves the
 * result unchanged; the terrain of a valid document can be created.
 */
#include "config/farlands_world.h"

#include <errno.h>

#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct input input = {bytes, size};
    struct farlands_world world, before;
    struct farlands_terrain *terrain;
    char why[FARLANDS_WORLD_WHY] = "";

    memset(&world, '!', sizeof world);
    before = world;
    /* The first line is the name; an empty line means NULL. */
    char *name = input_line(&input);
    char *text = input_copy(input.at, input.left);
    const int err =
        farlands_world_read(&world, text, input.left, *name ? name : NULL, why, sizeof why);
    free(text);
    if (err) {
        must(err == -EINVAL || err == -ENOENT || err == -ENOTSUP || err == -EFBIG, "%d", err);
        must(strncmp(why, "text:", 5) == 0, "%s", why);
        for (const char *c = why; *c; c++) /* names may be in any script */
            must((unsigned char)*c >= 32 && *c != 127, "%s", why);
        must(memcmp(&world, &before, sizeof world) == 0, "written to");
    } else {
        must(!*name || strcmp(world.name, name) == 0, "%s for %s", world.name, name);
        must(terrain_new_noise(&terrain, &world.params) == 0, "accepted, but cannot be created");
        terrain_free(terrain);
    }
    free(name);
    return 0;
}
