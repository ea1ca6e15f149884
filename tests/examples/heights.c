/*
 * Prints the heights of eight by eight blocks of a terrain, and of one place
 * between blocks. After `make install`:
 *
 *     cc -o heights heights.c $(pkg-config --cflags --libs farlands)
 *     ./heights            starting at block (0, 0)
 *     ./heights X Y        starting at block (X, Y), up to 2^52 blocks out
 */
#include <errno.h>
#include <farlands.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SIDE = 8 };

/* As in a configuration of the server: config/README.md has all keys. Lengths are in blocks. */
static const char world_text[] =
    "worlds:\n"
    "  - name: example\n"
    "    seed: 2026\n"
    "    noise:\n"
    "      { basis: perlin, gradients: unit256, fade: quintic, hash: mix64, fractal: fbm,\n"
    "        wavelength: 4096, octaves: 12, persistence: 0.5, lacunarity: 2 }\n"
    "    elevation: [[-0.5, -300], [0, 0], [0.5, 900]]  # noise to metres\n";

/* Parse a whole number of blocks within the terrain's limits; false if TEXT is none. */
static bool parse_blocks(const char *text, int64_t *blocks)
{
    char *end;
    errno = 0;
    *blocks = strtoll(text, &end, 10);
    return end != text && *end == '\0' && errno == 0 && *blocks >= -FARLANDS_LIMIT_BLOCKS &&
           *blocks <= FARLANDS_LIMIT_BLOCKS - SIDE;
}

static int print_heights(const struct farlands_world *world, int64_t x, int64_t y)
{
    const struct farlands_grid grid = farlands_chunk(x, y, SIDE, SIDE);
    float heights[SIDE * SIDE];
    struct farlands_scratch *scratch; /* one per thread, for any number of grids */
    int err = farlands_scratch_new(&scratch);
    if (err)
        return err;
    err = farlands_heights(world, scratch, &grid, heights, SIDE);
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

    struct farlands_world *world;
    char message[FARLANDS_MESSAGE];
    if (farlands_world_new(&world, world_text, strlen(world_text), NULL, message, sizeof message)) {
        fprintf(stderr, "%s\n", message);
        return 1;
    }
    int err = print_heights(world, x, y);
    if (err)
        fprintf(stderr, "farlands_heights: %s\n", strerror(-err));
    else /* half a block further in both directions */
        printf("between blocks: %.9g\n",
               (double)farlands_height(world, NULL, farlands_units(x) + FARLANDS_UNIT / 2,
                                       farlands_units(y) + FARLANDS_UNIT / 2));
    farlands_world_free(world);
    return err ? 1 : 0;
}
