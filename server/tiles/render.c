#include "render.h"

#include <errno.h>
#include <stdlib.h>

#include "server/core/clock.h"
#include "server/tiles/render_scratch.h"

int render_scratch_new(struct render_scratch **out)
{
    struct render_scratch *scratch = malloc(sizeof *scratch);
    if (!scratch)
        return -ENOMEM;
    int err = farlands_scratch_new(&scratch->scratch);
    if (err)
        goto fail_scratch;
    err = image_writer_new(&scratch->writer);
    if (err)
        goto fail_writer;
    err = webp_writer_new(&scratch->webp);
    if (err)
        goto fail_webp;
    *out = scratch;
    return 0;

fail_webp:
    image_writer_free(scratch->writer);
fail_writer:
    farlands_scratch_free(scratch->scratch);
fail_scratch:
    free(scratch);
    return err;
}

void render_scratch_free(struct render_scratch *scratch)
{
    if (!scratch)
        return;
    webp_writer_free(scratch->webp);
    image_writer_free(scratch->writer);
    farlands_scratch_free(scratch->scratch);
    free(scratch);
}

struct farlands_scratch *render_scratch_noise(struct render_scratch *scratch)
{
    return scratch->scratch;
}

int render_tile(struct blob **out, struct render_scratch *scratch, const struct tile *tile,
                struct render_progress *progress, struct render_times *times)
{
    struct render_times unused;
    if (!times)
        times = &unused;
    *times = (struct render_times){.noise = 0};
    if (format_is_picture(tile->address.format))
        return render_picture(out, scratch, tile, progress, times);
    const uint64_t start = clock_ns(NULL);
    const int err =
        render_values(out, scratch, &tile->content, tile->address.format, &tile->grid, progress);
    times->noise = clock_ns(NULL) - start;
    return err;
}

const void *render_scratch_pixels(const struct render_scratch *scratch)
{
    return scratch->pixels;
}
