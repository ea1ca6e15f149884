/* From parameters to a terrain, and the public functions that run a kernel on it. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "kernel.h"
#include "lattice.h"
#include "permutation.h"
#include "terrain.h"

/* Wavelength of octave K: a whole number of units, rounded to the nearest. */
static int64_t octave_wavelength(const struct farlands_params *params, int k)
{
    double divisor = 1;
    for (int i = 0; i < k; i++)
        divisor *= params->lacunarity;
    return (int64_t)((double)params->wavelength / divisor + 0.5);
}

static int octaves(const struct farlands_params *params)
{
    return params->fractal == FARLANDS_NONE ? 1 : params->octaves;
}

static const char *knots_fault(const struct farlands_params *params)
{
    if (params->knots < 2 || params->knots > FARLANDS_MAX_KNOTS)
        return "accepted are 2 to 32 pairs [noise, metres]";
    for (int i = 0; i < params->knots; i++) {
        const struct farlands_knot *knot = &params->elevation[i];
        if (!(fabsf(knot->noise) <= 1000 && fabsf(knot->metres) <= 1e6f))
            return "accepted are noise from -1000 to 1000 and metres from -1000000 to 1000000";
        if (i > 0 && !(knot[-1].noise < knot->noise))
            return "the first numbers of the pairs must ascend";
    }
    return NULL;
}

struct fault {
    const char *key;
    const char *text;
};

static struct fault params_fault(const struct farlands_params *params)
{
    if ((unsigned)params->gradients > FARLANDS_UNIT256)
        return (struct fault){"gradients", "unknown gradient set"};
    if ((unsigned)params->fade > FARLANDS_QUINTIC)
        return (struct fault){"fade", "unknown fade"};
    if ((unsigned)params->hash > FARLANDS_PERMUTATION)
        return (struct fault){"hash", "unknown hash"};
    if ((unsigned)params->fractal > FARLANDS_FBM)
        return (struct fault){"fractal", "unknown fractal"};
    if (params->octave_salt && params->hash != FARLANDS_PERMUTATION)
        return (struct fault){"octave_salt", "accepted only with hash: permutation"};
    if (params->wavelength < FARLANDS_MIN_WAVELENGTH ||
        params->wavelength > FARLANDS_MAX_WAVELENGTH)
        return (struct fault){"wavelength", "accepted are 0.001953125 (2/1024) to 1099511627776 "
                                            "(2^40) blocks"};
    if (params->octaves < 1 || params->octaves > FARLANDS_MAX_OCTAVES)
        return (struct fault){"octaves", "accepted is a whole number from 1 to 64"};
    if (!(params->persistence > 0 && params->persistence <= 1))
        return (struct fault){"persistence", "accepted is a number above 0 and up to 1"};
    if (!(params->lacunarity >= 1 && params->lacunarity <= FARLANDS_MAX_LACUNARITY))
        return (struct fault){"lacunarity", "accepted is a number from 1 to 1024"};
    for (int k = 1; k < octaves(params); k++) {
        int64_t wavelength = octave_wavelength(params, k);
        if (wavelength < FARLANDS_MIN_WAVELENGTH || wavelength == octave_wavelength(params, k - 1))
            return (struct fault){"octaves",
                                  "more than the lattice can tell apart: accepted are as many as "
                                  "leave each octave a wavelength of its own, of 2/1024 blocks or "
                                  "more"};
    }
    return (struct fault){"elevation", knots_fault(params)};
}

const char *farlands_params_fault(const struct farlands_params *params, const char **key)
{
    struct fault fault = params_fault(params);
    if (fault.text && key)
        *key = fault.key;
    return fault.text;
}

static void make_octaves(struct farlands_terrain *terrain, const struct farlands_params *params)
{
    double amplitude[FARLANDS_MAX_OCTAVES], sum = 0;

    terrain->octaves = octaves(params);
    for (int k = 0; k < terrain->octaves; k++) {
        amplitude[k] = k == 0 ? 1 : amplitude[k - 1] * params->persistence;
        sum += amplitude[k];
    }
    for (int k = 0; k < terrain->octaves; k++) {
        struct octave *octave = &terrain->octave[k];
        uint64_t first = 4 * (uint64_t)k;
        octave->wavelength = octave_wavelength(params, k);
        terrain->broad += octave->wavelength > NARROW_MAX;
        octave->inverse = 1 / (double)octave->wavelength;
        octave->amplitude = amplitude[k] / sum;
        if (params->hash == FARLANDS_PERMUTATION) {
            if (params->octave_salt)
                octave->salt = (uint32_t)(octave->wavelength >> FARLANDS_UNIT_BITS) & 255;
            continue;
        }
        uint64_t wavelength = (uint64_t)octave->wavelength;
        octave->key_x = lattice_draw(params->seed, first);
        octave->key_y = lattice_draw(params->seed, first + 1);
        octave->shift_x = (int64_t)(lattice_draw(params->seed, first + 2) % wavelength);
        octave->shift_y = (int64_t)(lattice_draw(params->seed, first + 3) % wavelength);
    }
}

static void make_elevation(struct farlands_terrain *terrain, const struct farlands_params *params)
{
    const struct farlands_knot *knot = params->elevation;

    terrain->pieces = params->knots - 1;
    terrain->noise_min = knot[0].noise;
    terrain->noise_max = knot[params->knots - 1].noise;
    terrain->metres_min = terrain->metres_max = knot[0].metres;
    for (int i = 0; i < terrain->pieces; i++) {
        double rise = (double)knot[i + 1].metres - knot[i].metres;
        double run = (double)knot[i + 1].noise - knot[i].noise;
        terrain->piece[i] = (struct piece){knot[i].noise, rise / run, knot[i].metres};
        terrain->metres_min = fminf(terrain->metres_min, knot[i + 1].metres);
        terrain->metres_max = fmaxf(terrain->metres_max, knot[i + 1].metres);
    }
}

int farlands_terrain_new(struct farlands_terrain **out, const struct farlands_params *params)
{
    if (farlands_params_fault(params, NULL))
        return -EINVAL;
    struct farlands_terrain *terrain = calloc(1, sizeof *terrain);
    if (!terrain)
        return -ENOMEM;
    terrain->kernel = kernel_choose();
    terrain->fade = params->fade;
    terrain->hash = params->hash;
    gradients_make(&terrain->gradients, params->gradients);
    permutation_make(terrain->permutation, params->seed);
    make_octaves(terrain, params);
    make_elevation(terrain, params);
    *out = terrain;
    return 0;
}

void farlands_terrain_free(struct farlands_terrain *terrain)
{
    free(terrain);
}

void farlands_terrain_range(const struct farlands_terrain *terrain, float *min, float *max)
{
    *min = terrain->metres_min;
    *max = terrain->metres_max;
}

int64_t farlands_terrain_finest(const struct farlands_terrain *terrain)
{
    return terrain->octave[terrain->octaves - 1].wavelength;
}

float farlands_terrain_slope(const struct farlands_terrain *terrain, int64_t step)
{
    /* Root mean square of the derivative of Perlin noise with unit gradients
     * along one axis, per cell; measured, good to a few per cent. */
    const double perlin_slope = 0.75;
    double square = 0;

    for (int k = 0; k < terrain->octaves; k++) {
        const struct octave *octave = &terrain->octave[k];
        double blocks = (double)octave->wavelength / FARLANDS_UNIT;
        double slope = octave_band_limit(octave, step) * octave->amplitude / blocks;
        square += slope * slope;
    }
    double metres = terrain->metres_max - (double)terrain->metres_min;
    double noise = terrain->noise_max - terrain->noise_min;
    return (float)(perlin_slope * sqrt(square) * metres / noise);
}

/* Whether places FIRST, FIRST + STEP, ... (COUNT of them) lie where heights are defined. */
static bool axis_in_bounds(int64_t first, int64_t step, int count)
{
    const int64_t limit = FARLANDS_LIMIT + FARLANDS_MAX_STEP;
    int64_t span, last;
    return count >= 1 && !__builtin_mul_overflow(step, (int64_t)count - 1, &span) &&
           !__builtin_add_overflow(first, span, &last) && first >= -limit && last <= limit;
}

int farlands_heights(const struct farlands_terrain *terrain, struct farlands_scratch *scratch,
                     const struct farlands_grid *grid, float *out, size_t stride)
{
    if (grid->step < 1 || grid->step > FARLANDS_MAX_STEP ||
        !axis_in_bounds(grid->x, grid->step, grid->width) ||
        !axis_in_bounds(grid->y, grid->step, grid->height))
        return -EINVAL;
    terrain->kernel->grid(terrain, scratch, grid, out, stride);
    return 0;
}

float farlands_height(const struct farlands_terrain *terrain, int64_t x, int64_t y)
{
    if (!axis_in_bounds(x, 1, 1) || !axis_in_bounds(y, 1, 1))
        return NAN;
    return terrain->kernel->point(terrain, x, y);
}

const char *farlands_kernel(const struct farlands_terrain *terrain)
{
    return terrain->kernel->name;
}
