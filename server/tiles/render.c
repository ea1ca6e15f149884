#include "render.h"

#include <errno.h>
#include <stdlib.h>

#include "server/core/clock.h"
#include "server/tiles/render_scratch.h"

/* A scratch around NOISE, which it frees. */
static int wrap(struct farlands_scratch *noise, struct render_scratch **out)
{
    struct render_scratch *scratch = calloc(1, sizeof *scratch);
    if (!scratch) {
        farlands_scratch_free(noise);
        return -ENOMEM;
    }
    scratch->scratch = noise;
    int err = image_writer_new(&scratch->writer);
    if (!err)
        err = webp_writer_new(&scratch->webp);
    if (err)
        render_scratch_free(scratch);
    else
        *out = scratch;
    return err;
}

int render_scratch_new(struct render_scratch **out)
{
    return render_scratches_new(out, 1);
}

int render_scratches_new(struct render_scratch **out, unsigned count)
{
    struct farlands_scratch **noise = calloc(count, sizeof(struct farlands_scratch *));
    unsigned made = 0;
    int err = noise ? farlands_scratches_new(noise, count) : -ENOMEM;
    const unsigned found = err ? 0 : count;
    for (; !err && made < count; made += !err)
        err = wrap(noise[made], &out[made]);
    for (unsigned k = made + 1; err && k < found; k++)
        farlands_scratch_free(noise[k]);
    for (; err && made > 0; made--)
        render_scratch_free(out[made - 1]);
    free(noise);
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
