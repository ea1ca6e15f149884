/*
 * The largest region's cost for the kernel alone. As in the daemon, one thread computes bands of
 * rows, then copies the bytes, which is the least that sending takes. Prints medians over a few
 * repetitions, each at another place, in the thread's CPU time.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/core/clock.h"
#include "server/layers/layer.h"
#include "server/world/worlds.h"
#include "tests/bench/bench.h"
#include "tests/bench/bench_worlds.h"
#include "tests/worlds/fractal.h"

enum { SIDE = 4097, BAND = 64, TIMES = 5 };

static const size_t BYTES = sizeof(float) * SIDE * SIDE;

/* Compute the region whose corner is block (X, 0) into OUT. */
static int compute(const struct farlands_terrain *terrain, struct farlands_scratch *scratch,
                   int64_t x, float *out)
{
    int err = 0;
    for (int row = 0; row < SIDE && !err; row += BAND) {
        const struct farlands_grid grid = {.x = x * FARLANDS_UNIT,
                                           .y = row * FARLANDS_UNIT,
                                           .step = FARLANDS_UNIT,
                                           .width = SIDE,
                                           .height = SIDE - row < BAND ? SIDE - row : BAND};
        err = terrain_heights(terrain, scratch, &grid, out + (size_t)row * SIDE, SIDE);
    }
    return err;
}

static int bench(const struct farlands_terrain *terrain, struct farlands_scratch *scratch,
                 float *heights, float *copy)
{
    double kernel[TIMES], copying[TIMES];

    for (int i = 0; i < TIMES; i++) {
        const double start = clock_thread_ns() / 1e6;
        int err = compute(terrain, scratch, INT64_C(100000) * i, heights);
        if (err)
            return err;
        const double computed = clock_thread_ns() / 1e6;
        memcpy(copy, heights, BYTES);
        copying[i] = clock_thread_ns() / 1e6 - computed;
        kernel[i] = computed - start;
    }
    printf("region/%d  kernel %.1f ms  copy %.1f ms  %.1f MiB\n", SIDE,
           quantile(kernel, TIMES, 0.5), quantile(copying, TIMES, 0.5), (double)BYTES / 0x1p20);
    return 0;
}

int main(void)
{
    struct worlds *worlds = bench_worlds(FRACTAL_WORLD);
    struct farlands_scratch *scratch;
    float *heights = malloc(BYTES), *copy = malloc(BYTES);

    if (!heights || !copy || !worlds || farlands_scratch_new(&scratch)) {
        fprintf(stderr, "bench_region: set-up failed\n");
        return 1;
    }
    memset(heights, 0, BYTES); /* fault the pages in first: they are not the kernel's cost */
    memset(copy, 0, BYTES);
    printf("kernel %s\n", terrain_kernel(worlds->world[0].base_terrain));
    int err = bench(worlds->world[0].base_terrain, scratch, heights, copy);
    if (err)
        fprintf(stderr, "bench_region: %s\n", strerror(-err));
    farlands_scratch_free(scratch);
    worlds_release(worlds);
    free(copy);
    free(heights);
    return err ? 1 : 0;
}
