/*
 * Whole connections, to a daemon whose responses are computed: heights, regions, volumes, tiles,
 * spawns and courses of the small worlds of tests/fuzz/worlds.yaml. See tests/fuzz/connection.h.
 * Renders and searches fail once an input has taken its share of work, so that each input is quick.
 */
#include <errno.h>
#include <stdatomic.h>

#include "server/world/spawn_search.h"
#include "tests/fuzz/connection.h"

enum {
    INPUT_MAX = 1 << 12,
    PATIENCE_MS = 8000,
    WORK_MAX = 3 << 17,        /* of an input, in samples: the largest tile is 2^18 */
    NEAR = 64 * FARLANDS_UNIT, /* samples farther apart share less */
    FAR_SAMPLE = 64,
    SEARCH_SAMPLES = 1 << 14, /* the work of these, in samples */
};

static atomic_long work; /* that is left; on the render thread */

/* Take SAMPLES off the work that is left. False if there is not enough. */
static bool spend(int64_t samples, int64_t step)
{
    const long cost = (long)(step > NEAR ? samples * FAR_SAMPLE : samples);
    return atomic_fetch_sub_explicit(&work, cost, memory_order_relaxed) >= cost;
}

/* --- The linker puts these before those of the daemon: see tests/Makefile.inc --- */

int __real_render_tile(struct blob **out, struct render_scratch *scratch, const struct tile *tile,
                       struct render_progress *progress, struct render_times *times);
int __wrap_render_tile(struct blob **out, struct render_scratch *scratch, const struct tile *tile,
                       struct render_progress *progress, struct render_times *times);
int __wrap_render_tile(struct blob **out, struct render_scratch *scratch, const struct tile *tile,
                       struct render_progress *progress, struct render_times *times)
{
    if (!spend((int64_t)tile->grid.width * tile->grid.height, tile->grid.step))
        return -EIO;
    return __real_render_tile(out, scratch, tile, progress, times);
}

int __real_render_values(struct blob **out, struct render_scratch *scratch,
                         const struct content *content, enum format format,
                         const struct farlands_grid *grid, struct render_progress *progress);
int __wrap_render_values(struct blob **out, struct render_scratch *scratch,
                         const struct content *content, enum format format,
                         const struct farlands_grid *grid, struct render_progress *progress);
int __wrap_render_values(struct blob **out, struct render_scratch *scratch,
                         const struct content *content, enum format format,
                         const struct farlands_grid *grid, struct render_progress *progress)
{
    if (!spend((int64_t)grid->width * grid->height, grid->step))
        return -EIO;
    return __real_render_values(out, scratch, content, format, grid, progress);
}

int __real_render_band(struct blob **out, struct adler *sum, struct render_scratch *scratch,
                       const struct content *content, const struct farlands_grid *grid, int height,
                       struct render_progress *progress);
int __wrap_render_band(struct blob **out, struct adler *sum, struct render_scratch *scratch,
                       const struct content *content, const struct farlands_grid *grid, int height,
                       struct render_progress *progress);
int __wrap_render_band(struct blob **out, struct adler *sum, struct render_scratch *scratch,
                       const struct content *content, const struct farlands_grid *grid, int height,
                       struct render_progress *progress)
{
    if (!spend((int64_t)grid->width * grid->height, grid->step))
        return -EIO;
    return __real_render_band(out, sum, scratch, content, grid, height, progress);
}

int __real_render_density(struct blob **out, struct render_scratch *scratch,
                          const struct world *world, const struct farlands_box *box,
                          struct render_progress *progress);
int __wrap_render_density(struct blob **out, struct render_scratch *scratch,
                          const struct world *world, const struct farlands_box *box,
                          struct render_progress *progress);
int __wrap_render_density(struct blob **out, struct render_scratch *scratch,
                          const struct world *world, const struct farlands_box *box,
                          struct render_progress *progress)
{
    if (!spend((int64_t)box->width * box->height * box->depth, box->step))
        return -EIO;
    return __real_render_density(out, scratch, world, box, progress);
}

enum spawn_state __real_spawn_search_run(struct spawn_search *search,
                                         struct farlands_scratch *scratch, int64_t samples);
enum spawn_state __wrap_spawn_search_run(struct spawn_search *search,
                                         struct farlands_scratch *scratch, int64_t samples);
enum spawn_state __wrap_spawn_search_run(struct spawn_search *search,
                                         struct farlands_scratch *scratch, int64_t samples)
{
    return spend(SEARCH_SAMPLES, 0) ? __real_spawn_search_run(search, scratch, samples)
                                    : SPAWN_FAILED;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static struct daemon *server;
    if (size > INPUT_MAX)
        return 0;
    if (!server)
        server = daemon_new("tests/fuzz/worlds.yaml");
    atomic_store(&work, WORK_MAX);
    connection_run(server, bytes, size, PATIENCE_MS);
    return 0;
}
