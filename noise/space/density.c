/* From parameters to the numbers in the density formula. */
#include "density.h"

#include "noise/exact/lattice.h"

/* The permutation hash has no keys, so multiples of this salt keep the noises apart. */
enum { DENSITY_SALT = 51 };

/* Generator 3: the least cover over caves, in units, and the reach of density_join, in blocks. */
enum { COVER = 16 * FARLANDS_UNIT, BLEND = 16 };

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

static struct caves make_caves(int64_t wavelength, float reach, int64_t cover, bool ledges)
{
    if (ledges && cover < COVER)
        cover = COVER;
    struct caves caves = {.scale = blocks(wavelength), .reach = reach, .start = 1, .from = -reach};
    if (cover > 0) {
        caves.start = caves.from = 0;
        caves.rise = 1 / blocks(cover);
    }
    return caves;
}

static void make_ledges(struct density *density, const struct farlands_params *params)
{
    const struct farlands_space_noise *noise = &params->volume.overhangs.noise;
    /* Half a wavelength, because features of noise are that far apart; a whole one if it is odd,
     * because the cell must divide the period. */
    density->cell = noise->wavelength % 2 ? noise->wavelength : noise->wavelength / 2;
    /* A ledge must end within its square. The skew makes it up to 1 / sqrt(1 - 0.75 / 2) longer. */
    const float half = 0.39f * blocks(density->cell), most = density->amplitude / 2;
    density->cells = params->period / density->cell;
    density->key = lattice_random(params->seed, OCTAVE_RANDOM_DENSITY);
    density->most = most < half ? most : half;
    density->inverse_squash = 1 / (float)noise->squash;
}

void density_make(struct density *density, const struct farlands_params *params, bool ledges)
{
    const struct farlands_volume_params *p = &params->volume;

    if (ledges) {
        density->blend = BLEND;
        density->bend = 0.25f / (float)BLEND;
    }
    if (p->overhangs.amplitude > 0) {
        density->amplitude = blocks(p->overhangs.amplitude);
        density->inverse = 1 / density->amplitude;
        density->threshold = (float)p->overhangs.threshold;
        if (ledges)
            make_ledges(density, params);
        else
            make_noise(density, DENSITY_OVERHANGS, params, &p->overhangs.noise);
    }
    if (p->caverns.size > 0) {
        const int64_t wavelength = p->caverns.noise.wavelength;
        const float reach = blocks(wavelength) * (float)p->caverns.size;
        make_noise(density, DENSITY_CAVERNS, params, &p->caverns.noise);
        density->caverns = make_caves(wavelength, reach, p->caverns.cover, ledges);
    }
    if (p->tunnels.radius > 0) {
        make_noise(density, DENSITY_TUNNELS_A, params, &p->tunnels.noise);
        make_noise(density, DENSITY_TUNNELS_B, params, &p->tunnels.noise);
        density->tunnels = make_caves(p->tunnels.noise.wavelength, blocks(p->tunnels.radius),
                                      p->tunnels.cover, ledges);
    }
}
