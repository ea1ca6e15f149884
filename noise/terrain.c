/* From parameters to a terrain, and the public functions that run a kernel on it. */
#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "basis.h"
#include "noise/kernel/kernel.h"
#include "permutation.h"
#include "terrain.h"

/* The permutation hash has no keys: multiples of this salt keep the warp's octaves apart. */
enum { WARP_SALT = 85 };

static void make_octaves(struct farlands_terrain *terrain, const struct farlands_params *params)
{
    double amplitude = 1;

    terrain->octaves = octave_count(params);
    for (int k = 0; k < terrain->octaves; k++, amplitude *= params->persistence) {
        struct octave *octave = &terrain->octave[k];
        *octave = octave_make(params, farlands_octave_wavelength(params, k));
        octave->amplitude = amplitude;
        terrain->amplitude += amplitude;
        terrain->broad += octave_is_broad(octave);
        if (params->hash == FARLANDS_MIX64) {
            const uint64_t number = 4 * (uint64_t)k;
            octave_randomize(octave, params->seed, OCTAVE_RANDOM_PLANE + number, AXIS_X);
            octave_randomize(octave, params->seed, OCTAVE_RANDOM_SPACE + number, AXIS_Z);
        } else {
            octave->salt = octave_salt(params, octave->wavelength);
        }
    }
}

static void make_warp(struct farlands_terrain *terrain, const struct farlands_params *params)
{
    terrain->warp = (double)params->warp.amplitude;
    for (int axis = 0; terrain->warp != 0 && axis < 2; axis++) {
        struct octave *octave = &terrain->warp_octave[axis];
        *octave = octave_make(params, params->warp.wavelength);
        if (params->hash == FARLANDS_MIX64)
            octave_randomize(octave, params->seed, OCTAVE_RANDOM_WARP + 4 * (uint64_t)axis, AXIS_X);
        else
            octave->salt = WARP_SALT * (uint32_t)(axis + 1);
    }
}

static struct moments make_moments(const struct farlands_params *params,
                                   const struct gradient_set *set)
{
    const struct basis basis = basis_of(params->basis);
    const struct basis_moments *of = &basis.moments;
    struct moments moments = {of->mean, of->absolute, of->square, of->slope, 0, 0};
    if (basis.corner == BASIS_GRADIENT) {
        double square = 0;
        for (int i = 0; i < 32; i++)
            square += ((double)set->x[i] * set->x[i] + (double)set->y[i] * set->y[i]) / 32;
        const double length = sqrt(square);
        moments.absolute *= length;
        moments.square *= square;
        moments.slope *= length;
    }
    const double offset = params->offset, absolute = moments.absolute;
    moments.ridge = offset * offset - 2 * offset * absolute + moments.square;
    /* A fifth more than the delta method gives, because the weights before it spread, too. */
    moments.ridge_spread =
        1.2 * 2 * fabs(offset - absolute) * sqrt(moments.square - absolute * absolute);
    return moments;
}

static void make_elevation(struct elevation *elevation, const struct farlands_params *params)
{
    const struct farlands_knot *knot = params->elevation;

    elevation->pieces = params->knots - 1;
    while (elevation->half * 2 < (uint32_t)elevation->pieces)
        elevation->half = elevation->half ? elevation->half * 2 : 1;
    for (int i = 0; i < FARLANDS_MAX_KNOTS; i++)
        elevation->from[i] = INFINITY;
    elevation->noise_min = knot[0].noise;
    elevation->noise_max = knot[params->knots - 1].noise;
    elevation->metres_min = elevation->metres_max = knot[0].metres;
    for (int i = 0; i < elevation->pieces; i++) {
        const double rise = (double)knot[i + 1].metres - knot[i].metres;
        /* A slope beyond FLT_MAX is as good as infinite: heights stop at the ends of the curve. */
        const double slope =
            fmax(-FLT_MAX, fmin(rise / ((double)knot[i + 1].noise - knot[i].noise), FLT_MAX));
        elevation->from[i] = knot[i].noise;
        elevation->base[i] = knot[i].metres;
        /* Volatile, because gcc 12 at -O3 mistakes (double)(float)slope for slope. */
        const volatile float rounded = (float)slope;
        elevation->slope[i] = rounded;
        elevation->slope_rest[i] = (float)(slope - (double)rounded);
        elevation->metres_min = fminf(elevation->metres_min, knot[i + 1].metres);
        elevation->metres_max = fmaxf(elevation->metres_max, knot[i + 1].metres);
    }
}

int farlands_terrain_new(struct farlands_terrain **out, const struct farlands_params *params)
{
    const struct kernel *kernel = kernel_choose();
    if (!kernel || farlands_params_fault(params, NULL))
        return -EINVAL;
    struct farlands_terrain *terrain = calloc(1, sizeof *terrain);
    if (!terrain)
        return -ENOMEM;
    terrain->kernel = kernel;
    terrain->basis = params->basis;
    terrain->fade = params->fade;
    terrain->hash = params->hash;
    terrain->fractal = params->fractal;
    terrain->offset = params->offset;
    terrain->gain = params->gain;
    gradients_make(&terrain->gradients, params->gradients);
    uint8_t table[256];
    permutation_make(table, params->seed);
    for (int i = 0; i < 256; i++)
        terrain->permutation[i] = table[i];
    make_octaves(terrain, params);
    make_warp(terrain, params);
    terrain->moments = make_moments(params, &terrain->gradients);
    make_elevation(&terrain->elevation, params);
    density_make(&terrain->density, params);
    *out = terrain;
    return 0;
}

void farlands_terrain_free(struct farlands_terrain *terrain)
{
    free(terrain);
}

void farlands_terrain_range(const struct farlands_terrain *terrain, float *min, float *max)
{
    *min = terrain->elevation.metres_min;
    *max = terrain->elevation.metres_max;
}

int64_t farlands_terrain_finest(const struct farlands_terrain *terrain)
{
    return terrain->octave[terrain->octaves - 1].wavelength;
}

/* Slope of one octave's contribution to the fractal: the derivative of its formula at the mean. */
static double fractal_slope(const struct farlands_terrain *terrain)
{
    const struct moments *m = &terrain->moments;
    switch (terrain->fractal) {
    case FARLANDS_BILLOW:
        return 2 * m->slope;
    case FARLANDS_RIDGED:
        return 2 * fabs(terrain->offset - m->absolute) * m->slope;
    default:
        return m->slope;
    }
}

float farlands_terrain_slope(const struct farlands_terrain *terrain, int64_t step)
{
    double square = 0;

    for (int k = 0; k < terrain->octaves; k++) {
        const struct octave *octave = &terrain->octave[k];
        double blocks = (double)octave->wavelength / FARLANDS_UNIT;
        double slope =
            octave_band_limit(octave, step) * octave->amplitude / terrain->amplitude / blocks;
        square += slope * slope;
    }
    const struct elevation *e = &terrain->elevation;
    double metres = (double)e->metres_max - e->metres_min;
    double noise = (double)e->noise_max - e->noise_min;
    return (float)(fractal_slope(terrain) * sqrt(square) * metres / noise);
}

/* True if COUNT coordinates from FIRST on, STEP apart, are within the bounds of a grid. */
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
        !axis_in_bounds(grid->y, grid->step, grid->height) || stride < (size_t)grid->width)
        return -EINVAL;
    terrain->kernel->heights(terrain, scratch, grid, out, stride);
    return 0;
}

float farlands_height(const struct farlands_terrain *terrain, int64_t x, int64_t y)
{
    if (!axis_in_bounds(x, 1, 1) || !axis_in_bounds(y, 1, 1))
        return NAN;
    return terrain->kernel->height(terrain, x, y);
}

static bool box_in_bounds(const struct farlands_box *box)
{
    return box->step >= 1 && box->step <= FARLANDS_MAX_STEP &&
           axis_in_bounds(box->x, box->step, box->width) &&
           axis_in_bounds(box->y, box->step, box->height) &&
           axis_in_bounds(box->z, box->step, box->depth);
}

int farlands_volume(const struct farlands_terrain *terrain, struct farlands_scratch *scratch,
                    const struct farlands_box *box, float *out)
{
    if (!box_in_bounds(box))
        return -EINVAL;
    terrain->kernel->volume(terrain, scratch, box, out);
    return 0;
}

int farlands_density(const struct farlands_terrain *terrain, struct farlands_scratch *scratch,
                     const struct farlands_box *box, float *out)
{
    if (!box_in_bounds(box))
        return -EINVAL;
    terrain->kernel->density(terrain, scratch, box, out);
    return 0;
}

const char *farlands_kernel(const struct farlands_terrain *terrain)
{
    return terrain->kernel->name;
}
