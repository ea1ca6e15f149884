/*
 * Prints hashes of random terrains for same-bits.sh and aarch64.sh to compare. Without an argument:
 * the kernels that this machine supports, fastest first. With a kernel's name: one line for each of
 * many grids, with random values of all options, and a hash of all that this kernel computes there;
 * then one line for each of many random graphs of fields.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "noise/terrain/terrain.h"
#include "tests/proofs/graph_bits.h"

enum {
    BASES = FARLANDS_BASES,
    FRACTALS = FARLANDS_FRACTALS,
    GRADIENTS = FARLANDS_GRADIENT_SETS,
    FADES = FARLANDS_FADES,
    HASHES = FARLANDS_HASHES + 1, /* permutation with and without octave_salt */
    COMBINATIONS = BASES * FRACTALS * GRADIENTS * FADES * HASHES,
    GRIDS = 4 * COMBINATIONS
};
enum { WIDTH = 300, HEIGHT = 40 }; /* at most; 300: more than one chunk of columns */

#ifdef _WIN32
#define setenv(name, value, overwrite) _putenv_s(name, value)
#endif

static uint64_t random_state;

/* A random number, LOW .. HIGH inclusive, by SplitMix64: the same in every run. */
static int64_t random_between(int64_t low, int64_t high)
{
    uint64_t z = random_state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    z ^= z >> 31;
    return low + (int64_t)(z % ((uint64_t)high - (uint64_t)low + 1));
}

/* FNV-1a, 64 bits, of bytes in memory: all our machines are little-endian. */
static uint64_t hash_more(uint64_t hash, const void *memory, size_t length)
{
    const unsigned char *byte = memory;
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ byte[i]) * UINT64_C(0x100000001b3);
    return hash;
}

/* Row NUMBER: each combination of the five choices comes four times, the rest is random. */
static struct farlands_params random_params(int number)
{
    const int hash = number / (BASES * FRACTALS * GRADIENTS * FADES) % HASHES;
    struct farlands_params params = {
        .seed = number % 7 == 0 ? 0 : (uint64_t)random_between(1, INT64_MAX),
        .basis = (enum farlands_basis)(number % BASES),
        .fractal = (enum farlands_fractal)(number / BASES % FRACTALS),
        .gradients = (enum farlands_gradients)(number / (BASES * FRACTALS) % GRADIENTS),
        .fade = (enum farlands_fade)(number / (BASES * FRACTALS * GRADIENTS) % FADES),
        .hash = hash == 0 ? FARLANDS_MIX64 : FARLANDS_PERMUTATION,
        .octave_salt = hash == 2,
        .octaves = (int)random_between(1, 8),
        .persistence = (double)random_between(1, 1024) / 1024,
        .lacunarity = 2,
        .offset = (double)random_between(0, 2048) / 1024,
        .gain = (double)random_between(0, 4096) / 1024,
        .elevation =
            {{-1.5f, -1500.25f}, {-0.3f, -700}, {0, 0}, {0.1f, 33.5f}, {0.6f, 800}, {3, 1e4f}},
        .knots = 6,
    };
    /* From cells of a few units to cells computed in double, not only powers of two. */
    const int coarse = (int)random_between(params.octaves + 1, 46);
    params.wavelength = (2 * random_between(0, 3) + 1) << coarse;
    if (random_between(0, 2) == 0) {
        params.warp.wavelength = params.wavelength;
        params.warp.amplitude = random_between(1, INT64_C(1) << random_between(0, coarse));
    }
    if (params.basis != FARLANDS_SIMPLEX && random_between(0, 2) == 0)
        params.period = params.wavelength * random_between(1, 1000);
    else if (random_between(0, 1) == 0)
        params.lacunarity = 1 + (double)random_between(512, 2048) / 1024;
    /* Octaves must differ in wavelength. */
    while (params.octaves > 1 && params_fault(&params, NULL))
        params.octaves--;
    return params;
}

/* Up to 2^BITS units, often 0. */
static int64_t random_length(int bits)
{
    const int shift = (int)random_between(0, bits);
    return random_between(0, 1) << shift;
}

static struct farlands_space_noise random_space_noise(const struct farlands_params *params)
{
    struct farlands_space_noise noise = {.octaves = 1, .persistence = 1, .lacunarity = 1};
    const int coarse = (int)random_between(6, 21);
    noise.wavelength = (2 * random_between(0, 3) + 1) << coarse;
    noise.squash = (double)random_between(256, 4096) / 1024;
    if (params->period > 0) { /* halved until it fits */
        noise.wavelength = params->period;
        while (noise.wavelength > FARLANDS_MAX_VOLUME_WAVELENGTH && noise.wavelength % 2 == 0)
            noise.wavelength /= 2;
        return noise;
    }
    noise.octaves = (int)random_between(1, 4);
    noise.persistence = (double)random_between(1, 1024) / 1024;
    noise.lacunarity = 1 + (double)random_between(512, 2048) / 1024;
    return noise;
}

/* Each part is on or off; all are off if the period is too long and odd for their wavelengths. */
static struct farlands_volume_params random_volume(struct farlands_params params)
{
    struct farlands_volume_params *v = &params.volume;
    v->overhangs.amplitude = random_length(24);
    v->overhangs.threshold = (double)random_between(0, 300) / 1024;
    v->overhangs.noise = random_space_noise(&params);
    v->caverns.size = (double)random_between(0, 1024) / 1024;
    v->caverns.cover = random_length(16);
    v->caverns.noise = random_space_noise(&params);
    v->tunnels.radius = random_length(20);
    v->tunnels.cover = random_length(16);
    v->tunnels.noise = random_space_noise(&params);
    if (params_fault(&params, NULL))
        *v = (struct farlands_volume_params){0};
    return *v;
}

/* Coordinate of a first sample, SPAN units before the last: near 0, anywhere, or at either limit.
 */
static int64_t random_coordinate(int64_t span)
{
    const int64_t reach = FARLANDS_LIMIT - span;
    const int64_t near = INT64_C(1) << random_between(4, 61);
    switch (random_between(0, 9)) {
    case 0:
        return -FARLANDS_LIMIT;
    case 1:
        return reach;
    default:
        return random_between(-near, near < reach ? near : reach);
    }
}

static struct farlands_grid random_grid(const struct farlands_params *params)
{
    const int width = (int)random_between(0, 9) == 0 ? WIDTH : (int)random_between(1, 60);
    /* Samples from much closer than the first octave's cells to further apart. */
    int64_t step = random_between(1, INT64_C(1) << random_between(0, 20));
    if (random_between(0, 2) == 0)
        step = params->wavelength / random_between(1, 40) + random_between(1, 3);
    if (step > FARLANDS_MAX_STEP)
        step = FARLANDS_MAX_STEP;
    struct farlands_grid grid = {
        .step = step,
        .width = width,
        .height = (int)random_between(1, width == WIDTH ? 3 : HEIGHT),
        .band_limit = random_between(0, 3) == 0,
    };
    grid.x = random_coordinate(grid.step * grid.width);
    grid.y = random_coordinate(grid.step * grid.height);
    return grid;
}

/* Hash the density around the surface at GRID's corner, as a box and at points. 0 on error. */
static uint64_t hash_density(const struct farlands_terrain *terrain,
                             const struct farlands_grid *grid, struct farlands_scratch *scratch,
                             uint64_t hash)
{
    enum { ACROSS = 20, ALONG = 5, DEEP = 8 };
    static float out[ACROSS * ALONG * DEEP];
    const int64_t step = grid->step > 100000 ? 100000 : grid->step;
    const int64_t surface = (int64_t)(terrain_height(terrain, grid->x, grid->y) * 1024);
    const struct farlands_box box = {grid->x, grid->y, surface - 6 * step, step, ACROSS,
                                     ALONG,   DEEP};

    if (terrain_density(terrain, scratch, &box, out) != 0)
        return 0;
    hash = hash_more(hash, out, sizeof out);
    for (int i = 0; i < 3; i++) {
        const float density = terrain_density_at(terrain, box.x, box.y, box.z + i * step);
        hash = hash_more(hash, &density, sizeof density);
    }
    return hash;
}

/* Hash all that the terrain computes from GRID's corner on. 0 on error. */
static uint64_t hash_terrain(const struct farlands_params *params, const struct farlands_grid *grid,
                             struct farlands_scratch *scratch, const char *kernel)
{
    static float out[WIDTH * HEIGHT];
    struct farlands_terrain *terrain;
    uint64_t hash = UINT64_C(0xcbf29ce484222325);

    if (terrain_new_noise(&terrain, params) != 0)
        return 0;
    bool good = strcmp(terrain_kernel(terrain), kernel) == 0 &&
                terrain_heights(terrain, scratch, grid, out, (size_t)grid->width) == 0;
    hash = hash_more(hash, out, sizeof *out * (size_t)(grid->width * grid->height));
    for (int i = 0; i < 3; i++) {
        const float height = terrain_height(terrain, grid->x + i * grid->step, grid->y);
        hash = hash_more(hash, &height, sizeof height);
    }
    const double noise[] = {
        terrain_noise1(terrain, grid->x),
        terrain_noise2(terrain, grid->x, grid->y),
        terrain_noise3(terrain, grid->x, grid->y, grid->step),
        terrain_noise4(terrain, grid->x, grid->y, -grid->step, 7),
    };
    hash = hash_more(hash, noise, sizeof noise);
    const struct farlands_box box = {grid->x, grid->y, -999, grid->step, 5, 3, 2};
    good = good && terrain_volume(terrain, scratch, &box, out) == 0;
    hash = hash_more(hash, out, sizeof *out * 5 * 3 * 2);
    hash = hash_density(terrain, grid, scratch, hash);
    terrain_free(terrain);
    return good ? hash : 0;
}

static void print_row(const struct farlands_params *p, const struct farlands_grid *grid,
                      uint64_t hash)
{
    printf("%016" PRIx64 " basis %d, fractal %d, gradients %d, fade %d, hash %d%s, seed %" PRIu64
           ", %d octaves from %" PRId64 " by %g, %g, offset %g, gain %g, warp %" PRId64
           " of %" PRId64 ", period %" PRId64 "; volume %" PRId64 ", %g, %" PRId64
           "; %d x %d at (%" PRId64 ", %" PRId64 ") by %" PRId64 "%s\n",
           hash, (int)p->basis, (int)p->fractal, (int)p->gradients, (int)p->fade, (int)p->hash,
           p->octave_salt ? " salted" : "", p->seed, p->octaves, p->wavelength, p->lacunarity,
           p->persistence, p->offset, p->gain, p->warp.amplitude, p->warp.wavelength, p->period,
           p->volume.overhangs.amplitude, p->volume.caverns.size, p->volume.tunnels.radius,
           grid->width, grid->height, grid->x, grid->y, grid->step,
           grid->band_limit ? ", band-limited" : "");
}

/* Returns how many failed. */
static int print_grids(const char *kernel)
{
    struct farlands_scratch *scratch;
    int failed = 0;

    setenv("FARLANDS_KERNEL", kernel, 1);
    if (farlands_scratch_new(&scratch) != 0)
        return 1;
    for (int number = 0; number < GRIDS; number++) {
        random_state = (uint64_t)number << 32; /* a row does not depend on the rows before it */
        struct farlands_params params = random_params(number);
        const struct farlands_grid grid = random_grid(&params);
        params.volume = random_volume(params);
        const uint64_t hash = hash_terrain(&params, &grid, scratch, kernel);
        print_row(&params, &grid, hash);
        if (hash)
            continue;
        const char *fault = params_fault(&params, NULL);
        fprintf(stderr, "bits: row %d: %s\n", number, fault ? fault : "failed");
        failed++;
    }
    farlands_scratch_free(scratch);
    return failed;
}

static int print_graphs(void)
{
    int failed = 0;

    for (int number = 0; number < GRAPH_BITS; number++) {
        const uint64_t hash = graph_bits(number);
        printf("%016" PRIx64 " graph %d: %s\n", hash, number, graph_bits_text(number));
        failed += hash == 0;
    }
    return failed;
}

static int print_all(const char *kernel)
{
    const int failed = print_grids(kernel) + print_graphs();
    return failed || fflush(stdout) != 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}

static int print_kernels(void)
{
    static const char *const kernels[] = {"avx512", "avx2", "neon", "scalar"};

    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
        setenv("FARLANDS_KERNEL", kernels[i], 1);
        if (!terrain_kernel_fault())
            puts(kernels[i]);
    }
    return EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
    return argc > 1 ? print_all(argv[1]) : print_kernels();
}
