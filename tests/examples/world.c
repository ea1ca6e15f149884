/*
 * Prints the heights of eight by eight blocks of a world, read from the daemon's document about it
 * or from a configuration; or another of its fields. After `make install`:
 *
 *     cc -o world world.c $(pkg-config --cflags --libs farlands)
 *     curl -O http://127.0.0.1:8080/default.json
 *     ./world default.json default X Y            starting at block (X, Y)
 *     ./world default.json default X Y FIELD
 */
#include <errno.h>
#include <farlands.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SIDE = 8 };

/* Read the world NAME from FILE. Returns NULL, with a message on stderr, if that fails. */
static struct farlands_world *read_world(const char *file, const char *name)
{
    struct farlands_world *world = NULL;
    char message[FARLANDS_MESSAGE];
    char *text = malloc(FARLANDS_WORLD_TEXT);
    FILE *stream = fopen(file, "rb");
    if (text && stream) {
        const size_t length = fread(text, 1, FARLANDS_WORLD_TEXT, stream);
        if (farlands_world_new(&world, text, length, name, message, sizeof message))
            fprintf(stderr, "%s: %s\n", file, message);
    } else {
        perror(file);
    }
    if (stream)
        fclose(stream);
    free(text);
    return world;
}

static int print_field(const struct farlands_world *world, const char *field, int64_t x, int64_t y)
{
    const struct farlands_grid grid = farlands_chunk(x, y, SIDE, SIDE);
    float values[SIDE * SIDE], *const out = values;
    int err = farlands_fields(world, NULL, &grid, &field, 1, &out, SIDE);
    for (int i = 0; i < SIDE * SIDE && !err; i++)
        printf("%.9g%c", (double)values[i], i % SIDE == SIDE - 1 ? '\n' : ' ');
    return err;
}

static void print_names(const struct farlands_world *world)
{
    const char *name;
    fprintf(stderr, "fields:");
    for (size_t i = 0; (name = farlands_field_name(world, i)); i++)
        fprintf(stderr, " %s", name);
    fprintf(stderr, "\n");
}

int main(int argc, char **argv)
{
    if (argc != 5 && argc != 6) {
        fprintf(stderr, "usage: %s FILE WORLD X Y [FIELD], in blocks\n", argv[0]);
        return 2;
    }
    struct farlands_world *world = read_world(argv[1], argv[2]);
    if (!world)
        return 1;
    int err = print_field(world, argc == 6 ? argv[5] : "height", strtoll(argv[3], NULL, 10),
                          strtoll(argv[4], NULL, 10));
    if (err)
        fprintf(stderr, "%s\n", strerror(-err));
    if (err == -ENOENT)
        print_names(world);
    farlands_world_free(world);
    return err ? 1 : 0;
}
