/* Density in space: from parameters to the kernels' numbers, and at one point, plainly. */
#include "volume.h"

#include "dimensions.h"
#include "lattice.h"

#define REAL float
#define FMA fmaf
#define ABS fabsf
#define NAME(x) point_##x
#include "noise/kernel/formulas_template.h"

/* What sets the noises apart under permutation, which draws nothing. */
enum { VOLUME_SALT = 51 };

static void make_noise(struct volume *volume, enum space which,
                       const struct farlands_params *params,
                       const struct farlands_space_noise *noise)
{
    struct space_noise *space = &volume->noise[which];
    double amplitude = 1, sum = 0;

    space->octaves = noise->octaves;
    for (int k = 0; k < noise->octaves; k++, amplitude *= noise->persistence) {
        struct space_octave *octave = &space->octave[k];
        const int64_t wavelength = octave_wavelength(noise->wavelength, noise->lacunarity, k);
        octave->plane = octave_make(params, wavelength);
        octave->plane.amplitude = amplitude;
        octave->height = octave_wavelength(wavelength, noise->squash, 1);
        octave->inverse_height = 1 / (double)octave->height;
        sum += amplitude;
        if (params->hash == FARLANDS_MIX64) {
            const int number = FARLANDS_MAX_VOLUME_OCTAVES * (int)which + k;
            const uint64_t first = DRAWS_OF_VOLUME + 8 * (uint64_t)number;
            octave_draw(&octave->plane, params->seed, first, AXIS_X);
            octave_draw(&octave->plane, params->seed, first + 4, AXIS_Z);
        } else {
            octave->plane.salt = VOLUME_SALT * ((uint32_t)which + 1);
            if (params->octave_salt)
                octave->plane.salt += (uint32_t)(wavelength >> FARLANDS_UNIT_BITS) & 255;
        }
    }
    for (int k = 0; k < noise->octaves; k++)
        space->octave[k].share = (float)(space->octave[k].plane.amplitude / sum);
}

static float blocks(int64_t units)
{
    return (float)units / (float)FARLANDS_UNIT;
}

static struct caves make_caves(int64_t wavelength, float reach, int64_t cover)
{
    struct caves caves = {.scale = blocks(wavelength), .reach = reach, .start = 1, .from = -reach};
    if (cover > 0) {
        caves.start = caves.from = 0;
        caves.rise = 1 / blocks(cover);
    }
    return caves;
}

void volume_make(struct volume *volume, const struct farlands_params *params)
{
    const struct farlands_volume_params *p = &params->volume;

    if (p->overhangs.amplitude > 0) {
        make_noise(volume, OVERHANGS, params, &p->overhangs.noise);
        volume->amplitude = blocks(p->overhangs.amplitude);
        volume->inverse = 1 / volume->amplitude;
        volume->threshold = (float)p->overhangs.threshold;
    }
    if (p->caverns.size > 0) {
        const int64_t wavelength = p->caverns.noise.wavelength;
        const float reach = blocks(wavelength) * (float)p->caverns.size;
        make_noise(volume, CAVERNS, params, &p->caverns.noise);
        volume->caverns = make_caves(wavelength, reach, p->caverns.cover);
    }
    if (p->tunnels.radius > 0) {
        make_noise(volume, TUNNELS, params, &p->tunnels.noise);
        make_noise(volume, TUNNELS_ACROSS, params, &p->tunnels.noise);
        volume->tunnels =
            make_caves(p->tunnels.noise.wavelength, blocks(p->tunnels.radius), p->tunnels.cover);
    }
}

/* --- One point ----------------------------------------------------------------------------- */

/* One axis: the cells on both sides of the place's cell, and what the corners there count for. */
struct side {
    int64_t cell[2];
    float p[2], q[2];
};

static struct side side_at(const struct farlands_terrain *terrain,
                           const struct space_octave *octave, int axis, int64_t at)
{
    const bool upright = axis == AXIS_Z;
    const int64_t wavelength = upright ? octave->height : octave->plane.wavelength;
    const double inverse = upright ? octave->inverse_height : octave->plane.inverse;
    const struct lattice_place place = lattice_place(at + octave->plane.shift[axis], wavelength);
    struct side side = {.cell = {place.cell, place.cell + 1}};
    point_weigh_point(terrain->fade, (double)place.rest * inverse,
                      axis == AXIS_Y ? octave->share : 1, side.p, side.q);
    for (int i = 0; i < 2 && octave->plane.cells && !upright; i++)
        side.cell[i] = lattice_place(side.cell[i], octave->plane.cells).rest;
    return side;
}

/* The lattice row CELL[AXIS_Y] of the slice CELL[AXIS_Z], interpolated along x: LINE is along, and
 * across in y and in z. */
static void line_at(const struct farlands_terrain *terrain, const struct octave *octave,
                    const struct side *x, int64_t row, int64_t slice, float line[3])
{
    float west[AXES], east[AXES];
    corner_gradient(terrain, octave, 3, (const int64_t[]){x->cell[0], row, slice}, west);
    corner_gradient(terrain, octave, 3, (const int64_t[]){x->cell[1], row, slice}, east);
    line[0] = fmaf(x->p[1], east[0], x->p[0] * west[0]);
    line[1] = fmaf(x->q[1], east[1], x->q[0] * west[1]);
    line[2] = fmaf(x->q[1], east[2], x->q[0] * west[2]);
}

/* Add one octave. The order of operations is that of density_template.h. */
static float add_octave(const struct farlands_terrain *terrain, const struct space_octave *octave,
                        const int64_t *at, float sum)
{
    struct side side[3];
    float along[2], across[2];
    for (int axis = 0; axis < 3; axis++)
        side[axis] = side_at(terrain, octave, axis, at[axis]);
    const struct side *x = &side[AXIS_X], *y = &side[AXIS_Y], *z = &side[AXIS_Z];
    for (int i = 0; i < 2; i++) {
        float low[3], high[3];
        line_at(terrain, &octave->plane, x, y->cell[i], z->cell[0], low);
        line_at(terrain, &octave->plane, x, y->cell[i], z->cell[1], high);
        along[i] = fmaf(z->q[1], high[0], z->q[0] * low[0]);
        along[i] = fmaf(z->p[1], high[2], fmaf(z->p[0], low[2], along[i]));
        across[i] = fmaf(z->q[1], high[1], z->q[0] * low[1]);
    }
    sum = fmaf(y->q[1], along[1], fmaf(y->q[0], along[0], sum));
    return fmaf(y->p[1], across[1], fmaf(y->p[0], across[0], sum));
}

static float noise_at(const struct farlands_terrain *terrain, enum space which, const int64_t *at)
{
    const struct space_noise *noise = &terrain->volume.noise[which];
    float sum = 0;
    for (int k = noise->octaves - 1; k >= 0; k--)
        sum = add_octave(terrain, &noise->octave[k], at, sum);
    return sum;
}

float farlands_density_at(const struct farlands_terrain *terrain, int64_t x, int64_t y, int64_t z)
{
    const struct volume *v = &terrain->volume;
    const int64_t limit = FARLANDS_LIMIT + FARLANDS_MAX_STEP, at[] = {x, y, z};
    const float height = farlands_height(terrain, x, y);

    if (isnan(height) || z < -limit || z > limit)
        return NAN;
    const float s = volume_below(height, (double)z / (double)FARLANDS_UNIT);
    const bool overhangs = v->noise[OVERHANGS].octaves > 0;
    const float ground = overhangs ? volume_ground(v, s, noise_at(terrain, OVERHANGS, at)) : s;
    float density = ground;
    if (v->noise[CAVERNS].octaves > 0) {
        const float distance = volume_cavern(&v->caverns, noise_at(terrain, CAVERNS, at));
        density = volume_carve(&v->caverns, ground, distance, density);
    }
    if (v->noise[TUNNELS].octaves > 0) {
        const float a = noise_at(terrain, TUNNELS, at), b = noise_at(terrain, TUNNELS_ACROSS, at);
        density = volume_carve(&v->tunnels, ground, volume_tunnel(&v->tunnels, a, b), density);
    }
    return density;
}
