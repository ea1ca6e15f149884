/*
 * World documents of random bytes, with any name. An error is one printable line and leaves the
 * result unchanged; a valid document becomes a world with a finite height.
 */
#include <errno.h>
#include <math.h>

#include "noise/farlands.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct input input = {bytes, size};
    struct farlands_world *world = NULL;
    char why[FARLANDS_MESSAGE] = "";

    /* The first line is the name; an empty line means NULL. */
    char *name = input_line(&input);
    char *text = input_copy(input.at, input.left);
    const int err =
        farlands_world_new(&world, text, input.left, *name ? name : NULL, why, sizeof why);
    free(text);
    if (err) {
        must(err == -EINVAL || err == -ENOENT || err == -ENOTSUP || err == -EFBIG, "%d", err);
        must(strncmp(why, "text:", 5) == 0, "%s", why);
        for (const char *c = why; *c; c++) /* names may be in any script */
            must((unsigned char)*c >= 32 && *c != 127, "%s", why);
        must(world == NULL, "written to");
    } else {
        must(!*name || strcmp(farlands_world_name(world), name) == 0, "%s for %s",
             farlands_world_name(world), name);
        must(isfinite(farlands_height(world, NULL, 0, 0)), "no height");
        farlands_world_free(world);
    }
    free(name);
    return 0;
}
