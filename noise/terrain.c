/* From parameters to a terrain, and the public functions that run a kernel on it. */
#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "noise/kernel/kernel.h"
#include "terrain.h"

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
    noise_make(&terrain->noise, params);
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
    return terrain->noise.octave[terrain->noise.octaves - 1].wavelength;
}

float farlands_terrain_slope(const struct farlands_terrain *terrain, int64_t step)
{
    const struct elevation *e = &terrain->elevation;
    const double metres = (double)e->metres_max - e->metres_min;
    const double noise = (double)e->noise_max - e->noise_min;
    return (float)(noise_slope(&terrain->noise, step) * metres / noise);
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
    terrain->kernel->volume(&terrain->noise, scratch, box, out);
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
