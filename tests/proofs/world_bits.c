/*
 * Prints hashes of farlands.h's results for the world in FILE, for windows.sh and library.sh to
 * compare: each field with its derivatives, and densities. If FILE makes no world, prints why and
 * returns 1. With LOCALE, one with decimal commas, does all of this in that locale.
 */
#include <farlands.h>
#include <inttypes.h>
#include <locale.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SIDE = 48, COUNT = SIDE * SIDE };

/* FNV-1a, 64 bits, of bytes in memory: all our machines are little-endian. */
static uint64_t hash_more(uint64_t hash, const void *memory, size_t length)
{
    const unsigned char *byte = memory;
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ byte[i]) * UINT64_C(0x100000001b3);
    return hash;
}

/* From a unit to 2^30 of them apart, and from near the origin to far out. Exact samples more than
 * 64 blocks apart have nodes of rivers of their own, which takes milliseconds each: only a few. */
static struct farlands_grid grid_of(int number)
{
    const int64_t step = INT64_C(1) << 2 * number;
    const bool band_limit = number % 2 == 1;
    const int side = !band_limit && step > 64 * FARLANDS_UNIT ? 2 : SIDE;
    return (struct farlands_grid){
        .x = INT64_C(-7654321) * step,
        .y = INT64_C(1234567) * step,
        .step = step,
        .width = side,
        .height = side,
        .band_limit = band_limit,
    };
}

enum { GRIDS = 16 };

static int print_field(const struct farlands_world *world, struct farlands_scratch *scratch,
                       const char *field)
{
    float out[3][COUNT], *const values = out[0];
    uint64_t hash = 0, slopes = 0;
    for (int i = 0; i < GRIDS; i++) {
        const struct farlands_grid grid = grid_of(i);
        const float value = farlands_value(world, scratch, field, grid.x, grid.y);
        const size_t stride = (size_t)grid.width, size = stride * stride * sizeof *values;
        int err = farlands_fields(world, scratch, &grid, &field, 1, &values, stride);
        if (err)
            return err;
        hash = hash_more(hash, values, size);
        hash = hash_more(hash, &value, sizeof value);
        if (farlands_gradients(world, scratch, &grid, field, out[0], out[1], out[2], stride) == 0)
            for (int k = 0; k < 3; k++)
                slopes = hash_more(slopes, out[k], size);
    }
    printf("%s %s %016" PRIx64 " %016" PRIx64 "\n", field, farlands_field_unit(world, field), hash,
           slopes);
    return 0;
}

static int print_densities(const struct farlands_world *world, struct farlands_scratch *scratch)
{
    static float out[COUNT * 4];
    const struct farlands_box box = {INT64_C(1) << 40, -1000, -40960, 4096, SIDE, SIDE, 4};
    int err = farlands_density(world, scratch, &box, out);
    if (!err)
        printf("density %016" PRIx64 "\n", hash_more(0, out, sizeof out));
    return err;
}

static int print_world(const struct farlands_world *world)
{
    struct farlands_scratch *scratch;
    const char *field;
    int err = farlands_scratch_new(&scratch);
    if (err)
        return err;
    printf("%s %s\n", farlands_world_name(world), farlands_world_fingerprint(world));
    for (size_t i = 0; !err && (field = farlands_field_name(world, i)); i++)
        err = print_field(world, scratch, field);
    if (!err)
        err = print_densities(world, scratch);
    farlands_scratch_free(scratch);
    return err;
}

static int read_and_print(const char *text, size_t length)
{
    char message[FARLANDS_MESSAGE];
    struct farlands_world *world;
    if (farlands_world_new(&world, text, length, NULL, message, sizeof message)) {
        printf("%s\n", message);
        return 1;
    }
    const int err = print_world(world);
    farlands_world_free(world);
    return err ? 2 : 0;
}

int main(int argc, char **argv)
{
    static char text[FARLANDS_WORLD_TEXT];
    FILE *file = argc == 2 || argc == 3 ? fopen(argv[1], "rb") : NULL;
    if (!file) {
        fprintf(stderr, "usage: %s FILE [LOCALE]\n", argv[0]);
        return 2;
    }
    if (argc == 3 && (!setlocale(LC_ALL, argv[2]) || *localeconv()->decimal_point != ',')) {
        fprintf(stderr, "%s has no decimal commas\n", argv[2]);
        return 2;
    }
    const size_t length = fread(text, 1, sizeof text, file);
    fclose(file);
    return read_and_print(text, length);
}
