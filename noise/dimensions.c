/* Perlin noise at a point, in 1 to 4 dimensions, plainly and in double. */
#include "dimensions.h"

#include <math.h>

#include "lattice.h"
#include "noise/kernel/fractal.h"
#include "terrain.h"

#define REAL double
#define FMA fma
#define ABS fabs
#define NAME(x) point_##x
#include "noise/kernel/formulas_template.h"

/* One axis: the cells on both sides of the place's cell, and what the corners there count for:
 * q for the gradients' other components, p for the one along this axis. */
struct side {
    int64_t cell[2];
    double p[2], q[2];
};

static struct side side_at(const struct farlands_terrain *terrain, const struct octave *octave,
                           int axis, int64_t at, double amplitude)
{
    const struct lattice_place place = lattice_place(at + octave->shift[axis], octave->wavelength);
    struct side side = {.cell = {place.cell, place.cell + 1}};
    point_weigh_point(terrain->fade, (double)place.rest * octave->inverse, amplitude, side.p,
                      side.q);
    for (int i = 0; i < 2 && octave->cells && axis <= AXIS_Y; i++)
        side.cell[i] = lattice_place(side.cell[i], octave->cells).rest;
    return side;
}

static uint32_t mixed_index(const struct octave *octave, int dimensions, const int64_t *cell)
{
    uint64_t hash[AXES] = {0};
    for (int axis = 0; axis < dimensions || axis < 2; axis++)
        hash[axis] = lattice_axis(axis < dimensions ? cell[axis] : 0, octave->key[axis]);
    for (int axis = dimensions - 1; axis > AXIS_Y; axis--)
        hash[axis - 1] = lattice_join(hash[axis - 1], hash[axis]);
    return lattice_corner(hash[AXIS_X], hash[AXIS_Y]);
}

static uint32_t permuted_index(const struct farlands_terrain *terrain, const struct octave *octave,
                               int dimensions, const int64_t *cell)
{
    const uint32_t *p = terrain->permutation;
    if (dimensions == 2) /* the plane's order is the other one */
        return p[((uint32_t)cell[AXIS_X] + p[cell[AXIS_Y] & 255] + octave->salt) & 255];
    uint32_t index = 0;
    for (int axis = 0; axis < dimensions; axis++) {
        const uint32_t salt = axis == dimensions - 1 ? octave->salt : 0;
        index = p[(index + (uint32_t)cell[axis] + salt) & 255];
    }
    return index;
}

void corner_gradient(const struct farlands_terrain *terrain, const struct octave *octave,
                     int dimensions, const int64_t *cell, float g[AXES])
{
    const uint32_t h = terrain->hash == FARLANDS_MIX64
                           ? mixed_index(octave, dimensions, cell)
                           : permuted_index(terrain, octave, dimensions, cell);
    if (dimensions == 1)
        g[0] = h & 1 ? -1 : 1;
    else if (dimensions == 2)
        gradient_at(&terrain->gradients, h, &g[0], &g[1]);
    else
        for (int axis = 0; axis < dimensions; axis++)
            g[axis] = dimensions == 3 ? gradients_3d[axis][h & 15] : gradients_4d[axis][h & 31];
}

/* Add one octave. The order of operations is that of volume_template.h. */
static double add_octave(const struct farlands_terrain *terrain, const struct octave *octave,
                         double amplitude, int dimensions, const int64_t *at, double sum)
{
    struct side side[AXES] = {{{0}, {0}, {0}}};
    for (int axis = 0; axis < dimensions; axis++)
        side[axis] = side_at(terrain, octave, axis, at[axis], axis == AXIS_Y ? amplitude : 1);
    for (int corner = 0; corner < 1 << (dimensions - 1); corner++) {
        int64_t cell[AXES];
        float g[2][AXES];
        for (int axis = 1; axis < dimensions; axis++)
            cell[axis] = side[axis].cell[corner >> (axis - 1) & 1];
        for (int x = 0; x < 2; x++) {
            cell[AXIS_X] = side[AXIS_X].cell[x];
            corner_gradient(terrain, octave, dimensions, cell, g[x]);
        }
        for (int along = 0; along < dimensions; along++) {
            const double *w = along == AXIS_X ? side[AXIS_X].p : side[AXIS_X].q;
            double weight = dimensions == 1 ? amplitude : 1;
            for (int axis = 1; axis < dimensions; axis++) {
                const int i = corner >> (axis - 1) & 1;
                weight *= axis == along ? side[axis].p[i] : side[axis].q[i];
            }
            sum = fma(weight, fma(w[1], g[1][along], w[0] * g[0][along]), sum);
        }
    }
    return sum;
}

static double noise_at(const struct farlands_terrain *terrain, int dimensions, const int64_t *at)
{
    const int64_t limit = FARLANDS_LIMIT + FARLANDS_MAX_STEP;
    double sum = 0, weight = 1;

    for (int axis = 0; axis < dimensions; axis++)
        if (at[axis] < -limit || at[axis] > limit)
            return NAN;
    if (is_sum(terrain->fractal)) {
        for (int k = terrain->octaves - 1; k >= 0; k--) {
            const struct octave *octave = &terrain->octave[k];
            const double share = octave->amplitude / terrain->amplitude;
            sum = add_octave(terrain, octave, share, dimensions, at, sum);
        }
    } else {
        for (int k = 0; k < terrain->octaves; k++) {
            const struct octave *octave = &terrain->octave[k];
            const double noise = add_octave(terrain, octave, 1, dimensions, at, 0);
            point_join(terrain, octave, 1, 1, &noise, &sum, &weight);
        }
    }
    return fma(fractal_scale(terrain), sum, fractal_shift(terrain));
}

double farlands_noise1(const struct farlands_terrain *terrain, int64_t x)
{
    return noise_at(terrain, 1, &x);
}

double farlands_noise2(const struct farlands_terrain *terrain, int64_t x, int64_t y)
{
    return noise_at(terrain, 2, (const int64_t[]){x, y});
}

double farlands_noise3(const struct farlands_terrain *terrain, int64_t x, int64_t y, int64_t z)
{
    return noise_at(terrain, 3, (const int64_t[]){x, y, z});
}

double farlands_noise4(const struct farlands_terrain *terrain, int64_t x, int64_t y, int64_t z,
                       int64_t w)
{
    return noise_at(terrain, 4, (const int64_t[]){x, y, z, w});
}
