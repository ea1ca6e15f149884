/* From parameters to a noise. */
#include "noise.h"

#include <math.h>
#include <stdlib.h>

#include "noise/exact/permutation.h"
#include "noise/fractal/basis.h"

/* The permutation hash has no keys, so multiples of this salt keep the warp's octaves apart. */
enum { WARP_SALT = 85 };

static void make_octaves(struct noise *noise, const struct farlands_params *params)
{
    double amplitude = 1;

    for (int k = 0; k < noise->octaves; k++, amplitude *= params->persistence) {
        struct octave *octave = &noise->octave[k];
        *octave = octave_make(params, params_wavelength(params, k));
        octave->amplitude = amplitude;
        noise->amplitude += amplitude;
        noise->broad += octave_is_broad(octave);
        if (params->hash == FARLANDS_MIX64) {
            const uint64_t number = 4 * (uint64_t)k;
            octave_randomize(octave, params->seed, OCTAVE_RANDOM_PLANE + number, AXIS_X);
            octave_randomize(octave, params->seed, OCTAVE_RANDOM_SPACE + number, AXIS_Z);
        } else {
            octave->salt = octave_salt(params, octave->wavelength);
        }
        for (int axis = 0; axis < 2; axis++)
            noise->key[axis][k] = octave->key[axis];
    }
    for (int k = 0; k < noise->octaves; k++)
        noise->share[k] = noise->octave[k].amplitude / noise->amplitude;
}

static void make_warp(struct noise *noise, const struct farlands_params *params)
{
    noise->warp = (double)params->warp.amplitude;
    for (int axis = 0; noise->warp != 0 && axis < 2; axis++) {
        struct octave *octave = &noise->warp_octave[axis];
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
    struct moments moments = {of->mean, of->absolute, of->square, 0, 0};
    if (basis.corner == BASIS_GRADIENT) {
        double square = 0;
        for (int i = 0; i < 32; i++)
            square += ((double)set->x[i] * set->x[i] + (double)set->y[i] * set->y[i]) / 32;
        moments.absolute *= sqrt(square);
        moments.square *= square;
    }
    const double offset = params->offset, absolute = moments.absolute;
    moments.ridge = offset * offset - 2 * offset * absolute + moments.square;
    /* A fifth more than the delta method gives, because the weights before it spread, too. */
    moments.ridge_spread =
        1.2 * 2 * fabs(offset - absolute) * sqrt(moments.square - absolute * absolute);
    return moments;
}

enum { PERMUTATION = 256 };

static void make_permutation(uint32_t *permutation, uint64_t seed)
{
    uint8_t table[PERMUTATION];

    permutation_make(table, seed);
    for (int i = 0; i < PERMUTATION; i++)
        permutation[i] = table[i];
}

/* All memory for a noise with PARAMS, zeroed: octaves, their numbers, the permutation. */
static struct noise *allocate(const struct farlands_params *params)
{
    const size_t octaves = (size_t)octave_count(params);
    const size_t lanes = (octaves + NOISE_LANES - 1) / NOISE_LANES * NOISE_LANES;
    const size_t size = sizeof(struct noise) + octaves * sizeof(struct octave);
    const bool is_permuted = params->hash != FARLANDS_MIX64;
    struct noise *noise =
        calloc(1, size + 3 * lanes * sizeof(double) + is_permuted * PERMUTATION * sizeof(uint32_t));
    if (!noise)
        return NULL;
    noise->octaves = (int)octaves;
    noise->share = (void *)((char *)noise + size);
    noise->key[AXIS_X] = (void *)(noise->share + lanes);
    noise->key[AXIS_Y] = noise->key[AXIS_X] + lanes;
    if (is_permuted) {
        uint32_t *permutation = (void *)(noise->key[AXIS_Y] + lanes);
        make_permutation(permutation, params->seed);
        noise->permutation = permutation;
    }
    return noise;
}

struct noise *noise_new(const struct farlands_params *params)
{
    struct noise *noise = allocate(params);
    if (!noise)
        return NULL;
    noise->basis = params->basis;
    noise->fade = params->fade;
    noise->hash = params->hash;
    noise->fractal = params->fractal;
    noise->offset = params->offset;
    noise->gain = params->gain;
    gradients_make(&noise->gradients, params->gradients);
    make_octaves(noise, params);
    make_warp(noise, params);
    noise->moments = make_moments(params, &noise->gradients);
    return noise;
}
