/*
 * Prints the heights of eight by eight blocks of a world, read from the daemon's document about it
 * or from a configuration. After `make install`:
 *
 *     cc -o world world.c $(pkg-config --cflags --libs farlands)
 *     curl -O http://127.0.0.1:8080/default.json
 *     ./world default.json default X Y        starting at block (X, Y)
 */
#include <errno.h>
#include <farlands_terrain.h>
#include <farlands_world.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SIDE = 8 };

/* Read the world NAME from FILE. Returns false, with a message on stderr, if that fails. */
static bool read_world(struct farlands_world *world, const char *file, const char *name)
{
    char why[FARLANDS_WORLD_WHY] = "";
    char *text = malloc(FARLANDS_WORLD_TEXT);
    FILE *stream = fopen(file, "rb");
    int err = 0;
    if (text && stream) {
        const size_t length = fread(text, 1, FARLANDS_WORLD_TEXT, stream);
        err = farlands_world_read(world, text, length, name, why, sizeof why);
        if (err)
            fprintf(stderr, "%s: %s\n", file, why[0] ? why : strerror(-err));
    } else {
        perror(file);
        err = -EIO;
    }
    if (stream)
        fclose(stream);
    free(text);
    return err == 0;
}

static int print_heights(const struct farlands_terrain *terrain, int64_t x, int64_t y)
{
    const struct farlands_grid grid = {
        .x = x, .y = y, .step = FARLANDS_UNIT, .width = SIDE, .height = SIDE};
    float heights[SIDE * SIDE];
    struct farlands_scratch *scratch;
    int err = farlands_scratch_new(&scratch);
    if (err)
        return err;
    err = terrain_heights(terrain, scratch, &grid, heights, SIDE);
    farlands_scratch_free(scratch);
    for (int i = 0; i < SIDE * SIDE && !err; i++)
        printf("%.9g%c", (double)heights[i], i % SIDE == SIDE - 1 ? '\n' : ' ');
    return err;
}

int main(int argc, char **argv)
{
    struct farlands_world world;
    struct farlands_terrain *terrain;
    if (argc != 5) {
        fprintf(stderr, "usage: %s FILE WORLD X Y, in blocks\n", argv[0]);
        return 2;
    }
    if (!read_world(&world, argv[1], argv[2]))
        return 1;
    int err = terrain_new_noise(&terrain, &world.params);
    if (!err) {
        err = print_heights(terrain, strtoll(argv[3], NULL, 10) * FARLANDS_UNIT,
                            strtoll(argv[4], NULL, 10) * FARLANDS_UNIT);
        terrain_free(terrain);
    }
    if (err)
        fprintf(stderr, "%s\n", strerror(-err));
    return err ? 1 : 0;
}
