/* From parameters to one octave. */
#include "octave.h"

#include <assert.h>

int octave_count(const struct farlands_params *params)
{
    return params->fractal == FARLANDS_NONE ? 1 : params->octaves;
}

int64_t octave_wavelength(int64_t wavelength, double lacunarity, int k)
{
    double divisor = 1;
    for (int i = 0; i < k; i++)
        divisor *= lacunarity;
    const double units = (double)wavelength / divisor + 0.5;
    return units >= 0 && units < 0x1p62 ? (int64_t)units : 0;
}

int64_t params_wavelength(const struct farlands_params *params, int k)
{
    return octave_wavelength(params->wavelength, params->lacunarity, k);
}

struct octave octave_make(const struct farlands_params *params, int64_t wavelength)
{
    assert(wavelength >= FARLANDS_MIN_WAVELENGTH); /* checked by params_fault */
    return (struct octave){
        .wavelength = wavelength,
        .inverse = 1 / (double)wavelength,
        .reciprocal = (int64_t)(UINT64_MAX / (uint64_t)wavelength),
        .amplitude = 1,
        .cells = params->period / wavelength,
    };
}

void octave_randomize(struct octave *octave, uint64_t seed, uint64_t first, enum axis axis)
{
    const uint64_t wavelength = (uint64_t)octave->wavelength;
    for (unsigned i = 0; i < 2; i++) {
        octave->key[axis + i] = lattice_random(seed, first + i);
        octave->shift[axis + i] = (int64_t)(lattice_random(seed, first + i + 2) % wavelength);
    }
}

uint32_t octave_salt(const struct farlands_params *params, int64_t wavelength)
{
    return params->octave_salt ? (uint32_t)(wavelength >> FARLANDS_UNIT_BITS) & 255 : 0;
}
