/*
 * Whole connections, to a daemon whose renders and spawn searches are fakes, immediate or on the
 * render thread: tests/fuzz/connection.h.
 */
#include <errno.h>
#include <stdlib.h>

#include "server/png/deflate/adler.h"
#include "server/world/spawn_search.h"
#include "tests/fuzz/connection.h"

enum {
    INPUT_MAX = 1 << 14, /* a request has at least 16 bytes: GET / HTTP/1.0 and its end */
    PATIENCE_MS = 8000,
    FIRST_PNG = 3000, /* bytes of the PNG at x 0; 7 more for each x */
};

/* --- Fake renders -------------------------------------------------------------- */

struct render_scratch {
    char unused;
};

int render_scratches_new(struct render_scratch **out, unsigned count)
{
    for (unsigned k = 0; k < count; k++)
        if (!(out[k] = calloc(1, sizeof *out[k])))
            return -ENOMEM;
    return 0;
}

int render_scratch_new(struct render_scratch **out)
{
    return render_scratches_new(out, 1);
}

void render_scratch_free(struct render_scratch *scratch)
{
    free(scratch);
}

const void *render_scratch_pixels(const struct render_scratch *scratch)
{
    return scratch;
}

/* Some fail. Raw tiles have the right length, because it is sent before they are rendered. */
int render_tile(struct blob **out, struct render_scratch *scratch, const struct tile *tile,
                struct render_progress *progress, struct render_times *times)
{
    (void)scratch, (void)progress, (void)times;
    const struct tile_address *address = &tile->address;
    const size_t samples = (size_t)tile->grid.width * (size_t)tile->grid.height;
    const size_t length = address->format == FORMAT_PNG
                              ? FIRST_PNG + 7 * (size_t)(address->x & 1023)
                              : samples * format_sample_bytes(address->format);
    if ((address->x & 7) == 5)
        return -EIO;
    *out = blob_new(length);
    if (!*out)
        return -ENOMEM;
    memset((*out)->bytes, '.', length);
    return 0;
}

/* Create samples of WIDTH bytes. Some pieces fail, also after others that succeeded. */
static int fake_piece(struct blob **out, const struct farlands_box *box, size_t width)
{
    const size_t count =
        (size_t)box->width * (size_t)box->height * (size_t)(box->depth ? box->depth : 1);
    must(count <= RENDER_PIECE_MAX, "%zu samples at once", count);
    must(box->y <= FARLANDS_LIMIT && box->z <= FARLANDS_LIMIT, "beyond the limit");
    if (((box->y + box->z) / box->step & 1023) == 77)
        return -EIO;
    *out = blob_new(count * width);
    if (!*out)
        return -ENOMEM;
    memset((*out)->bytes, '.', (*out)->length);
    return 0;
}

static struct farlands_box flat(const struct farlands_grid *grid)
{
    return (struct farlands_box){.x = grid->x,
                                 .y = grid->y,
                                 .step = grid->step,
                                 .width = grid->width,
                                 .height = grid->height};
}

int render_values(struct blob **out, struct render_scratch *scratch, const struct content *content,
                  enum format format, const struct farlands_grid *grid,
                  struct render_progress *progress)
{
    const struct farlands_box box = flat(grid);
    (void)scratch, (void)content, (void)progress;
    return fake_piece(out, &box, format_sample_bytes(format));
}

int render_band(struct blob **out, struct adler *sum, struct render_scratch *scratch,
                const struct content *content, const struct farlands_grid *grid, int height,
                struct render_progress *progress)
{
    const struct farlands_box box = flat(grid);
    (void)scratch, (void)content, (void)height, (void)progress;
    *sum = adler_of((const uint8_t *)"", 0);
    return fake_piece(out, &box, 1);
}

int render_density(struct blob **out, struct render_scratch *scratch, const struct world *world,
                   const struct farlands_box *box, struct render_progress *progress)
{
    (void)scratch, (void)world, (void)progress;
    return fake_piece(out, box, 4);
}

/* --- Fake searches -------------------------------------------------------------- */

struct spawn_search {
    int left; /* calls of spawn_search_run() */
    struct spawn_place place;
};

struct farlands_scratch *render_scratch_noise(struct render_scratch *scratch)
{
    static struct farlands_scratch *only;
    (void)scratch;
    if (!only && farlands_scratch_new(&only))
        abort();
    return only;
}

int spawn_search_new(struct spawn_search **out, const struct farlands_terrain *terrain,
                     const struct spawn_fields *fields, const struct spawn_query *query)
{
    (void)terrain, (void)fields;
    struct spawn_search *search = calloc(1, sizeof *search);
    if (!search)
        return -ENOMEM;
    search->left = (int)(query->x & 31);
    search->place.x = query->x;
    search->place.y = query->y;
    *out = search;
    return 0;
}

void spawn_search_free(struct spawn_search *search)
{
    free(search);
}

void spawn_search_use(struct spawn_search *search, const struct farlands_terrain *terrain)
{
    (void)search, (void)terrain;
}

enum spawn_state spawn_search_run(struct spawn_search *search, struct farlands_scratch *scratch,
                                  int64_t samples)
{
    (void)scratch, (void)samples;
    if (search->left-- > 0)
        return SPAWN_NOT_YET;
    return search->place.y & 1 ? SPAWN_NONE : SPAWN_FOUND;
}

const struct spawn_place *spawn_search_places(const struct spawn_search *search, int *count)
{
    *count = 1;
    return &search->place;
}

int spawn_search_radius(const struct spawn_search *search)
{
    (void)search;
    return SPAWN_FAR;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static struct daemon *server;
    if (size > INPUT_MAX)
        return 0;
    if (!server)
        server = daemon_new(FRACTAL_WORLD);
    connection_run(server, bytes, size, PATIENCE_MS);
    return 0;
}
