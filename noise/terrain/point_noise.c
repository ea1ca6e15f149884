/* Perlin noise in 1 to 4 dimensions, and density, at a single point: plainly, without a kernel. */
#include "noise/exact/lattice.h"
#include "noise/kernel/formulas.h"
#include "noise/terrain/terrain_parts.h"

/* The two cells along an axis whose corners surround a coordinate. */
struct cell_pair {
    int64_t cell[2];
    double f; /* fraction of the first cell */
};

/* Cells are WIDTH units wide, and INVERSE is 1 / WIDTH. */
static struct cell_pair cells_at(const struct octave *octave, enum axis axis, int64_t at,
                                 int64_t width, double inverse)
{
    const struct lattice_place place = lattice_place(at + octave->shift[axis], width);
    struct cell_pair pair = {{place.cell, place.cell + 1}, (double)place.rest * inverse};
    for (int i = 0; i < 2 && octave->cells && axis <= AXIS_Y; i++)
        pair.cell[i] = lattice_place(pair.cell[i], octave->cells).rest;
    return pair;
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

static uint32_t permuted_index(const struct noise *noise, const struct octave *octave,
                               int dimensions, const int64_t *cell)
{
    const uint32_t *p = noise->permutation;
    if (dimensions == 2) /* the only case that begins with y */
        return p[((uint32_t)cell[AXIS_X] + p[cell[AXIS_Y] & 255] + octave->salt) & 255];
    uint32_t index = 0;
    for (int axis = 0; axis < dimensions; axis++) {
        const uint32_t salt = axis == dimensions - 1 ? octave->salt : 0;
        index = p[(index + (uint32_t)cell[axis] + salt) & 255];
    }
    return index;
}

/* Corner CELL's gradient G, one component per dimension. */
static void corner_gradient(const struct noise *noise, const struct octave *octave, int dimensions,
                            const int64_t *cell, float g[AXES])
{
    const uint32_t h = noise->hash == FARLANDS_MIX64
                           ? mixed_index(octave, dimensions, cell)
                           : permuted_index(noise, octave, dimensions, cell);
    if (dimensions == 1)
        g[0] = h & 1 ? -1 : 1;
    else if (dimensions == 2)
        gradient_at(&noise->gradients, h, &g[0], &g[1]);
    else
        for (int axis = 0; axis < dimensions; axis++)
            g[axis] = dimensions == 3 ? gradients_3d[axis][h & 15] : gradients_4d[axis][h & 31];
}

static bool in_bounds(int64_t at)
{
    const int64_t limit = FARLANDS_LIMIT + FARLANDS_MAX_STEP;
    return at >= -limit && at <= limit;
}

/* --- Noise, in double --- */

/* Add one octave, in the same order of operations as volume_template.h. */
static double add_octave(const struct noise *noise, const struct octave *octave, double amplitude,
                         int dimensions, const int64_t *at, double sum)
{
    struct cell_pair side[AXES] = {{{0}, 0}};
    double p[AXES][2] = {{0}}, q[AXES][2] = {{0}};

    for (enum axis axis = 0; axis < (enum axis)dimensions; axis++) {
        side[axis] = cells_at(octave, axis, at[axis], octave->wavelength, octave->inverse);
        broad_corner_weights(noise->fade, side[axis].f, axis == AXIS_Y ? amplitude : 1, p[axis],
                             q[axis]);
    }
    for (int corner = 0; corner < (1 << dimensions) / 2; corner++) {
        int64_t cell[AXES];
        float g[2][AXES];
        for (int axis = 1; axis < dimensions; axis++)
            cell[axis] = side[axis].cell[corner >> (axis - 1) & 1];
        for (int x = 0; x < 2; x++) {
            cell[AXIS_X] = side[AXIS_X].cell[x];
            corner_gradient(noise, octave, dimensions, cell, g[x]);
        }
        for (int along = 0; along < dimensions; along++) {
            const double *w = along == AXIS_X ? p[AXIS_X] : q[AXIS_X];
            double weight = dimensions == 1 ? amplitude : 1;
            for (int axis = 1; axis < dimensions; axis++) {
                const int i = corner >> (axis - 1) & 1;
                weight *= axis == along ? p[axis][i] : q[axis][i];
            }
            sum = fma(weight, fma(w[1], g[1][along], w[0] * g[0][along]), sum);
        }
    }
    return sum;
}

ARITHMETIC static double noise_at(const struct noise *noise, int dimensions, const int64_t *at)
{
    double sum = 0, weight = 1;

    for (int axis = 0; axis < dimensions; axis++)
        if (!in_bounds(at[axis]))
            return NAN;
    if (fractal_is_sum(noise)) {
        for (int k = noise->octaves - 1; k >= 0; k--) {
            const struct octave *octave = &noise->octave[k];
            const double share = octave->amplitude / noise->amplitude;
            sum = add_octave(noise, octave, share, dimensions, at, sum);
        }
    } else {
        for (int k = 0; k < noise->octaves; k++) {
            const struct octave *octave = &noise->octave[k];
            const double value = add_octave(noise, octave, 1, dimensions, at, 0);
            broad_add_fractal(noise, octave, 1, 1, &value, &sum, &weight);
        }
    }
    return fma(fractal_scale(noise), sum, fractal_shift(noise));
}

double terrain_noise1(const struct farlands_terrain *terrain, int64_t x)
{
    WITH_PLAIN_ARITHMETIC;
    return noise_at(terrain->noise, 1, &x);
}

double terrain_noise2(const struct farlands_terrain *terrain, int64_t x, int64_t y)
{
    WITH_PLAIN_ARITHMETIC;
    return noise_at(terrain->noise, 2, (const int64_t[]){x, y});
}

double terrain_noise3(const struct farlands_terrain *terrain, int64_t x, int64_t y, int64_t z)
{
    WITH_PLAIN_ARITHMETIC;
    return noise_at(terrain->noise, 3, (const int64_t[]){x, y, z});
}

double terrain_noise4(const struct farlands_terrain *terrain, int64_t x, int64_t y, int64_t z,
                      int64_t w)
{
    WITH_PLAIN_ARITHMETIC;
    return noise_at(terrain->noise, 4, (const int64_t[]){x, y, z, w});
}

/* --- Density, in float --- */

/* Add one octave, in the same order of operations as density_template.h. */
static float add_space_octave(const struct noise *noise, const struct space_octave *octave,
                              const int64_t *at, float sum)
{
    const struct octave *plane = &octave->plane;
    struct cell_pair side[3];
    float p[3][2], q[3][2];

    for (enum axis axis = AXIS_X; axis <= AXIS_Z; axis++) {
        const bool up = axis == AXIS_Z;
        side[axis] = cells_at(plane, axis, at[axis], up ? octave->height : plane->wavelength,
                              up ? octave->inverse_height : plane->inverse);
        narrow_corner_weights(noise->fade, side[axis].f, axis == AXIS_Y ? octave->share : 1,
                              p[axis], q[axis]);
    }
    float along[2], across[2];
    for (int i = 0; i < 2; i++) {
        float line[2][3]; /* interpolated along x, in both slices: along; across in y and z */
        for (int k = 0; k < 2; k++) {
            int64_t cell[] = {side[AXIS_X].cell[0], side[AXIS_Y].cell[i], side[AXIS_Z].cell[k]};
            float west[AXES], east[AXES];
            corner_gradient(noise, plane, 3, cell, west);
            cell[AXIS_X] = side[AXIS_X].cell[1];
            corner_gradient(noise, plane, 3, cell, east);
            line[k][0] = fmaf(p[AXIS_X][1], east[0], p[AXIS_X][0] * west[0]);
            line[k][1] = fmaf(q[AXIS_X][1], east[1], q[AXIS_X][0] * west[1]);
            line[k][2] = fmaf(q[AXIS_X][1], east[2], q[AXIS_X][0] * west[2]);
        }
        along[i] = fmaf(q[AXIS_Z][1], line[1][0], q[AXIS_Z][0] * line[0][0]);
        along[i] = fmaf(p[AXIS_Z][1], line[1][2], fmaf(p[AXIS_Z][0], line[0][2], along[i]));
        across[i] = fmaf(q[AXIS_Z][1], line[1][1], q[AXIS_Z][0] * line[0][1]);
    }
    sum = fmaf(q[AXIS_Y][1], along[1], fmaf(q[AXIS_Y][0], along[0], sum));
    return fmaf(p[AXIS_Y][1], across[1], fmaf(p[AXIS_Y][0], across[0], sum));
}

static float space_noise_at(const struct farlands_terrain *terrain, enum density_noise which,
                            const int64_t *at)
{
    const struct space_noise *space = &terrain->density.noise[which];
    float sum = 0;
    for (int k = space->octaves - 1; k >= 0; k--)
        sum = add_space_octave(terrain->noise, &space->octave[k], at, sum);
    return sum;
}

/* A ledge needs memory for its search. */
static float density_of_box(const struct farlands_terrain *terrain, const int64_t at[3])
{
    const struct farlands_box box = {at[0], at[1], at[2], 1, 1, 1, 1};
    struct farlands_scratch *scratch = NULL;
    float density = NAN;

    if (!farlands_scratch_new(&scratch))
        (void)terrain_density(terrain, scratch, &box, &density);
    farlands_scratch_free(scratch);
    return density;
}

ARITHMETIC static float density_at(const struct farlands_terrain *terrain, int64_t x, int64_t y,
                                   int64_t z)
{
    const struct density *d = &terrain->density;
    const int64_t at[] = {x, y, z};
    if (d->cell)
        return density_of_box(terrain, at);
    const float height = terrain_height(terrain, x, y);

    if (isnan(height) || !in_bounds(z))
        return NAN;
    float ground = density_below(height, (double)z / (double)FARLANDS_UNIT);
    if (d->noise[DENSITY_OVERHANGS].octaves > 0)
        ground = density_ground(d, ground, space_noise_at(terrain, DENSITY_OVERHANGS, at));
    float cave = INFINITY;
    if (d->noise[DENSITY_CAVERNS].octaves > 0) {
        const float n = space_noise_at(terrain, DENSITY_CAVERNS, at);
        cave = density_open(&d->caverns, ground, density_cavern(&d->caverns, n));
    }
    if (d->noise[DENSITY_TUNNELS_A].octaves > 0) {
        const float a = space_noise_at(terrain, DENSITY_TUNNELS_A, at);
        const float b = space_noise_at(terrain, DENSITY_TUNNELS_B, at);
        const float tunnel = density_open(&d->tunnels, ground, density_tunnel(&d->tunnels, a, b));
        cave = density_join(d, cave, tunnel);
    }
    return cave < ground ? cave : ground;
}

float terrain_density_at(const struct farlands_terrain *terrain, int64_t x, int64_t y, int64_t z)
{
    WITH_PLAIN_ARITHMETIC;
    return density_at(terrain, x, y, z);
}
