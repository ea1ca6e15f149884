/*
 * What same-bits.sh and aarch64.sh compare. Without an argument: the kernels
 * that this machine runs, best first. With a kernel's name: a line for each of
 * many grids, drawn from all options together, and the hash of what that kernel
 * computes there. Knows the public header alone.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "noise/farlands.h"

enum { BASES = 4, FRACTALS = 5, GRADIENTS = 5, FADES = 3, HASHES = 3 };
enum { COMBINATIONS = BASES * FRACTALS * GRADIENTS * FADES * HASHES, GRIDS = 4 * COMBINATIONS };
enum { WIDTH = 300, HEIGHT = 40 }; /* at most; 300: more than one chunk of columns */

static uint64_t draw_state;

/* splitmix64: the same numbers in every run. LOW .. HIGH, both included. */
static int64_t draw(int64_t low, int64_t high)
{
    uint64_t z = draw_state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    z ^= z >> 31;
    return low + (int64_t)(z % ((uint64_t)high - (uint64_t)low + 1));
}

/* FNV-1a, 64 bits. Of bytes in memory: all machines here are little-endian. */
static uint64_t hash_more(uint64_t hash, const void *memory, size_t length)
{
    const unsigned char *byte = memory;
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ byte[i]) * UINT64_C(0x100000001b3);
    return hash;
}

/* Row NUMBER: each combination of the five choices four times, all else by chance. */
static struct farlands_params draw_params(int number)
{
    const int hash = number / (BASES * FRACTALS * GRADIENTS * FADES) % HASHES;
    struct farlands_params params = {
        .seed = number % 7 == 0 ? 0 : (uint64_t)draw(1, INT64_MAX),
        .basis = (enum farlands_basis)(number % BASES),
        .fractal = (enum farlands_fractal)(number / BASES % FRACTALS),
        .gradients = (enum farlands_gradients)(number / (BASES * FRACTALS) % GRADIENTS),
        .fade = (enum farlands_fade)(number / (BASES * FRACTALS * GRADIENTS) % FADES),
        .hash = hash == 0 ? FARLANDS_MIX64 : FARLANDS_PERMUTATION,
        .octave_salt = hash == 2,
        .octaves = (int)draw(1, 8),
        .persistence = (double)draw(1, 1024) / 1024,
        .lacunarity = 2,
        .offset = (double)draw(0, 2048) / 1024,
        .gain = (double)draw(0, 4096) / 1024,
        .elevation =
            {{-1.5f, -1500.25f}, {-0.3f, -700}, {0, 0}, {0.1f, 33.5f}, {0.6f, 800}, {3, 1e4f}},
        .knots = 6,
    };
    /* From cells of a few units to cells that take doubles, odd ones among them. */
    const int coarse = (int)draw(params.octaves + 1, 46);
    params.wavelength = (2 * draw(0, 3) + 1) << coarse;
    if (draw(0, 2) == 0) {
        params.warp.wavelength = params.wavelength;
        params.warp.amplitude = draw(1, INT64_C(1) << draw(0, coarse));
    }
    if (params.basis != FARLANDS_SIMPLEX && draw(0, 2) == 0)
        params.period = params.wavelength * draw(1, 1000);
    else if (draw(0, 1) == 0)
        params.lacunarity = 1 + (double)draw(512, 2048) / 1024;
    /* Only as many octaves as the lattice can tell apart. */
    while (params.octaves > 1 && farlands_params_fault(&params, NULL))
        params.octaves--;
    return params;
}

/* Up to 2^BITS units, often 0. */
static int64_t draw_length(int bits)
{
    const int shift = (int)draw(0, bits);
    return draw(0, 1) << shift;
}

static struct farlands_space_noise draw_space_noise(const struct farlands_params *params)
{
    struct farlands_space_noise noise = {.octaves = 1, .persistence = 1, .lacunarity = 1};
    const int coarse = (int)draw(6, 21);
    noise.wavelength = (2 * draw(0, 3) + 1) << coarse;
    noise.squash = (double)draw(256, 4096) / 1024;
    if (params->period > 0) { /* a part of it, by halves */
        noise.wavelength = params->period;
        while (noise.wavelength > FARLANDS_MAX_VOLUME_WAVELENGTH && noise.wavelength % 2 == 0)
            noise.wavelength /= 2;
        return noise;
    }
    noise.octaves = (int)draw(1, 4);
    noise.persistence = (double)draw(1, 1024) / 1024;
    noise.lacunarity = 1 + (double)draw(512, 2048) / 1024;
    return noise;
}

/* Each part is there, or not; none where a period is too long and odd for them. */
static struct farlands_volume_params draw_volume(struct farlands_params params)
{
    struct farlands_volume_params *v = &params.volume;
    v->overhangs.amplitude = draw_length(24);
    v->overhangs.threshold = (double)draw(0, 300) / 1024;
    v->overhangs.noise = draw_space_noise(&params);
    v->caverns.size = (double)draw(0, 1024) / 1024;
    v->caverns.cover = draw_length(16);
    v->caverns.noise = draw_space_noise(&params);
    v->tunnels.radius = draw_length(20);
    v->tunnels.cover = draw_length(16);
    v->tunnels.noise = draw_space_noise(&params);
    if (farlands_params_fault(&params, NULL))
        *v = (struct farlands_volume_params){0};
    return *v;
}

/* The place of a first sample, SPAN units before the last: near 0, or anywhere, or at an end. */
static int64_t draw_place(int64_t span)
{
    const int64_t reach = FARLANDS_LIMIT - span;
    const int64_t near = INT64_C(1) << draw(4, 61);
    switch (draw(0, 9)) {
    case 0:
        return -FARLANDS_LIMIT;
    case 1:
        return reach;
    default:
        return draw(-near, near < reach ? near : reach);
    }
}

static struct farlands_grid draw_grid(const struct farlands_params *params)
{
    const int width = (int)draw(0, 9) == 0 ? WIDTH : (int)draw(1, 60);
    /* From far denser than the first octave's cells to sparser. */
    int64_t step = draw(1, INT64_C(1) << draw(0, 20));
    if (draw(0, 2) == 0)
        step = params->wavelength / draw(1, 40) + draw(1, 3);
    if (step > FARLANDS_MAX_STEP)
        step = FARLANDS_MAX_STEP;
    struct farlands_grid grid = {
        .step = step,
        .width = width,
        .height = (int)draw(1, width == WIDTH ? 3 : HEIGHT),
        .band_limit = draw(0, 3) == 0,
    };
    grid.x = draw_place(grid.step * grid.width);
    grid.y = draw_place(grid.step * grid.height);
    return grid;
}

/* Density around the surface at GRID's place, as a box and at points; 0: refused. */
static uint64_t hash_density(const struct farlands_terrain *terrain,
                             const struct farlands_grid *grid, struct farlands_scratch *scratch,
                             uint64_t hash)
{
    enum { ACROSS = 20, ALONG = 5, DEEP = 8 };
    static float out[ACROSS * ALONG * DEEP];
    const int64_t step = grid->step > 100000 ? 100000 : grid->step;
    const int64_t surface = (int64_t)(farlands_height(terrain, grid->x, grid->y) * 1024);
    const struct farlands_box box = {grid->x, grid->y, surface - 6 * step, step, ACROSS,
                                     ALONG,   DEEP};

    if (farlands_density(terrain, scratch, &box, out) != 0)
        return 0;
    hash = hash_more(hash, out, sizeof out);
    for (int i = 0; i < 3; i++) {
        const float density = farlands_density_at(terrain, box.x, box.y, box.z + i * step);
        hash = hash_more(hash, &density, sizeof density);
    }
    return hash;
}

/* Everything that the terrain gives from GRID's place on; 0: out of memory, or refused. */
static uint64_t hash_terrain(const struct farlands_params *params, const struct farlands_grid *grid,
                             struct farlands_scratch *scratch, const char *kernel)
{
    static float out[WIDTH * HEIGHT];
    struct farlands_terrain *terrain;
    uint64_t hash = UINT64_C(0xcbf29ce484222325);

    if (farlands_terrain_new(&terrain, params) != 0)
        return 0;
    bool good = strcmp(farlands_kernel(terrain), kernel) == 0 &&
                farlands_heights(terrain, scratch, grid, out, (size_t)grid->width) == 0;
    hash = hash_more(hash, out, sizeof *out * (size_t)(grid->width * grid->height));
    for (int i = 0; i < 3; i++) {
        const float height = farlands_height(terrain, grid->x + i * grid->step, grid->y);
        hash = hash_more(hash, &height, sizeof height);
    }
    const double noise[] = {
        farlands_noise1(terrain, grid->x),
        farlands_noise2(terrain, grid->x, grid->y),
        farlands_noise3(terrain, grid->x, grid->y, grid->step),
        farlands_noise4(terrain, grid->x, grid->y, -grid->step, 7),
    };
    hash = hash_more(hash, noise, sizeof noise);
    const struct farlands_box box = {grid->x, grid->y, -999, grid->step, 5, 3, 2};
    good = good && farlands_volume(terrain, scratch, &box, out) == 0;
    hash = hash_more(hash, out, sizeof *out * 5 * 3 * 2);
    hash = hash_density(terrain, grid, scratch, hash);
    farlands_terrain_free(terrain);
    return good ? hash : 0;
}

static void print_row(const struct farlands_params *p, const struct farlands_grid *grid,
                      uint64_t hash)
{
    static const char *const bases[] = {"perlin", "simplex", "cellular", "value"};
    static const char *const fractals[] = {"none", "fbm", "billow", "ridged", "hybrid"};
    static const char *const gradients[] = {"axis4", "diagonal4", "unit8", "integer8", "unit256"};
    static const char *const fades[] = {"linear", "cubic", "quintic"};

    printf("%016" PRIx64 " %s %s %s %s %s%s, seed %" PRIu64 ", %d octaves from %" PRId64
           " by %g, %g, offset %g, gain %g, warp %" PRId64 " of %" PRId64 ", period %" PRId64
           "; volume %" PRId64 ", %g, %" PRId64 "; %d x %d at (%" PRId64 ", %" PRId64
           ") by %" PRId64 "%s\n",
           hash, bases[p->basis], fractals[p->fractal], gradients[p->gradients], fades[p->fade],
           p->hash == FARLANDS_MIX64 ? "mix64" : "permutation", p->octave_salt ? " salted" : "",
           p->seed, p->octaves, p->wavelength, p->lacunarity, p->persistence, p->offset, p->gain,
           p->warp.amplitude, p->warp.wavelength, p->period, p->volume.overhangs.amplitude,
           p->volume.caverns.size, p->volume.tunnels.radius, grid->width, grid->height, grid->x,
           grid->y, grid->step, grid->band_limit ? ", band-limited" : "");
}

static int print_grids(const char *kernel)
{
    struct farlands_scratch *scratch;
    int refused = 0;

    setenv("FARLANDS_KERNEL", kernel, 1);
    if (farlands_scratch_new(&scratch) != 0)
        return EXIT_FAILURE;
    for (int number = 0; number < GRIDS; number++) {
        draw_state = (uint64_t)number << 32; /* a row does not depend on those before */
        struct farlands_params params = draw_params(number);
        const struct farlands_grid grid = draw_grid(&params);
        params.volume = draw_volume(params);
        const uint64_t hash = hash_terrain(&params, &grid, scratch, kernel);
        print_row(&params, &grid, hash);
        if (hash)
            continue;
        const char *fault = farlands_params_fault(&params, NULL);
        fprintf(stderr, "bits: row %d: %s\n", number, fault ? fault : "refused");
        refused++;
    }
    farlands_scratch_free(scratch);
    return refused || fflush(stdout) != 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}

/* A kernel is there if a terrain that is asked to run on it does. */
static int print_kernels(void)
{
    static const char *const kernels[] = {"avx512", "avx2", "neon", "scalar"};
    const struct farlands_params params = draw_params(0);

    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
        struct farlands_terrain *terrain;
        setenv("FARLANDS_KERNEL", kernels[i], 1);
        if (farlands_terrain_new(&terrain, &params) != 0)
            return EXIT_FAILURE;
        if (strcmp(farlands_kernel(terrain), kernels[i]) == 0)
            puts(kernels[i]);
        farlands_terrain_free(terrain);
    }
    return EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
    return argc > 1 ? print_grids(argv[1]) : print_kernels();
}
