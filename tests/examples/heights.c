/*
 * Prints the heights of eight by eight blocks of a terrain, and of one place
 * between blocks. After `make install`:
 *
 *     cc -o heights heights.c $(pkg-config --cflags --libs farlands)
 *     ./heights            starting at block (0, 0)
 *     ./heights X Y        starting at block (X, Y), up to 2^52 blocks out
 */
#include <errno.h>
#include <farlands_terrain.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SIDE = 8 };

static const struct farlands_params params = {
    .seed = 2026,
    .basis = FARLANDS_PERLIN,
    .gradients = FARLANDS_UNIT256,
    .fade = FARLANDS_QUINTIC,
    .hash = FARLANDS_MIX64,
    .fractal = FARLANDS_FBM,
    .wavelength = 4096 * FARLANDS_UNIT, /* all lengths in units, 1/1024 block */
    .octaves = 12,
    .persistence = 0.5,
    .lacunarity = 2,
    .elevation = {{-0.5f, -300}, {0, 0}, {0.5f, 900}}, /* noise to metres */
    .knots = 3,
};

/* Parse a whole number of blocks within the terrain's limits; false if TEXT is none. */
static bool parse_blocks(const char *text, int64_t *blocks)
{
    char *end;
    errno = 0;
    *blocks = strtoll(text, &end, 10);
    return end != text && *end == '\0' && errno == 0 && *blocks >= -FARLANDS_LIMIT_BLOCKS &&
           *blocks <= FARLANDS_LIMIT_BLOCKS - SIDE;
}

static int print_heights(const struct farlands_terrain *terrain, int64_t x, int64_t y)
{
    const struct farlands_grid grid = {
        .x = x, .y = y, .step = FARLANDS_UNIT, .width = SIDE, .height = SIDE};
    float heights[SIDE * SIDE];
    struct farlands_scratch *scratch; /* one per thread, for any number of grids */
    int err = farlands_scratch_new(&scratch);
    if (err)
        return err;
    err = terrain_heights(terrain, scratch, &grid, heights, SIDE);
    farlands_scratch_free(scratch);
    if (err)
        return err;
    for (int i = 0; i < SIDE * SIDE; i++) /* nine digits distinguish all floats */
        printf("%.9g%c", (double)heights[i], i % SIDE == SIDE - 1 ? '\n' : ' ');
    return 0;
}

int main(int argc, char **argv)
{
    int64_t x = 0, y = 0;
    if (argc != 1 && !(argc == 3 && parse_blocks(argv[1], &x) && parse_blocks(argv[2], &y))) {
        fprintf(stderr, "usage: %s [X Y], in blocks\n", argv[0]);
        return 2;
    }
    x *= FARLANDS_UNIT;
    y *= FARLANDS_UNIT;

    const char *key;
    const char *fault = params_fault(&params, &key);
    if (fault) {
        fprintf(stderr, "%s: %s\n", key, fault);
        return 1;
    }
    struct farlands_terrain *terrain;
    int err = terrain_new_noise(&terrain, &params);
    if (err) {
        fprintf(stderr, "terrain_new_noise: %s\n", strerror(-err));
        return 1;
    }
    err = print_heights(terrain, x, y);
    if (err)
        fprintf(stderr, "terrain_heights: %s\n", strerror(-err));
    else /* half a block further in both directions */
        printf("between blocks: %.9g\n",
               (double)terrain_height(terrain, x + FARLANDS_UNIT / 2, y + FARLANDS_UNIT / 2));
    terrain_free(terrain);
    return err ? 1 : 0;
}
