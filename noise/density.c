/* From parameters to the numbers of the density formula. */
#include "density.h"

/* The permutation hash has no keys: multiples of this salt keep the noises apart. */
enum { DENSITY_SALT = 51 };

static void make_noise(struct density *density, enum density_noise which,
                       const struct farlands_params *params,
                       const struct farlands_space_noise *noise)
{
    struct space_noise *space = &density->noise[which];
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
            const uint64_t first = OCTAVE_RANDOM_DENSITY + 8 * (uint64_t)number;
            octave_randomize(&octave->plane, params->seed, first, AXIS_X);
            octave_randomize(&octave->plane, params->seed, first + 4, AXIS_Z);
        } else {
            octave->plane.salt =
                DENSITY_SALT * ((uint32_t)which + 1) + octave_salt(params, wavelength);
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

void density_make(struct density *density, const struct farlands_params *params)
{
    const struct farlands_volume_params *p = &params->volume;

    if (p->overhangs.amplitude > 0) {
        make_noise(density, DENSITY_OVERHANGS, params, &p->overhangs.noise);
        density->amplitude = blocks(p->overhangs.amplitude);
        density->inverse = 1 / density->amplitude;
        density->threshold = (float)p->overhangs.threshold;
    }
    if (p->caverns.size > 0) {
        const int64_t wavelength = p->caverns.noise.wavelength;
        const float reach = blocks(wavelength) * (float)p->caverns.size;
        make_noise(density, DENSITY_CAVERNS, params, &p->caverns.noise);
        density->caverns = make_caves(wavelength, reach, p->caverns.cover);
    }
    if (p->tunnels.radius > 0) {
        make_noise(density, DENSITY_TUNNELS_A, params, &p->tunnels.noise);
        make_noise(density, DENSITY_TUNNELS_B, params, &p->tunnels.noise);
        density->tunnels =
            make_caves(p->tunnels.noise.wavelength, blocks(p->tunnels.radius), p->tunnels.cover);
    }
}
