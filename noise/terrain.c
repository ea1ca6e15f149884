/* From parameters to a terrain, and the public functions that run a kernel on it. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "evaluate.h"
#include "terrain.h"

int farlands_terrain_new(struct farlands_terrain **out, const struct farlands_params *params)
{
    const struct kernel *kernel = kernel_choose();
    if (!kernel || farlands_params_fault(params, NULL))
        return -EINVAL;
    struct farlands_terrain *terrain = calloc(1, sizeof *terrain);
    if (!terrain)
        return -ENOMEM;
    terrain->kernel = kernel;
    const struct graph_node node = {GRAPH_NOISE, {-1, -1, -1}, {0}, params, NULL};
    struct graph_fault fault;
    const int err = program_new(&terrain->program, &node, 1, &fault);
    if (err) {
        free(terrain);
        return err;
    }
    terrain->noise = terrain->program->operation[terrain->height].noise;
    terrain->elevation = terrain->program->operation[terrain->height].curve;
    density_make(&terrain->density, params);
    *out = terrain;
    return 0;
}

void farlands_terrain_free(struct farlands_terrain *terrain)
{
    if (terrain)
        program_free(terrain->program);
    free(terrain);
}

void farlands_terrain_range(const struct farlands_terrain *terrain, float *min, float *max)
{
    *min = terrain->elevation->lowest;
    *max = terrain->elevation->highest;
}

int64_t farlands_terrain_finest(const struct farlands_terrain *terrain)
{
    return terrain->noise->octave[terrain->noise->octaves - 1].wavelength;
}

float farlands_terrain_slope(const struct farlands_terrain *terrain, int64_t step)
{
    const struct curve *e = terrain->elevation;
    const double metres = (double)e->highest - e->lowest;
    const double noise = (double)e->last - e->first;
    return (float)(noise_slope(terrain->noise, step) * metres / noise);
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
    return terrain_heights(terrain, scratch, grid, out, stride);
}

int terrain_heights(const struct farlands_terrain *terrain, struct farlands_scratch *scratch,
                    const struct farlands_grid *grid, float *out, size_t stride)
{
    const struct output height = {terrain->height, out};
    return evaluate(terrain->program, terrain->kernel, scratch, grid, &height, 1, stride);
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
    terrain->kernel->volume(terrain->noise, scratch, box, out);
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
