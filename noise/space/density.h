/*
 * Density: farlands.h's formula for terrain_density as kernels and single points compute it, in
 * float and in blocks. Private to noise/.
 */
#ifndef FARLANDS_DENSITY_H
#define FARLANDS_DENSITY_H

#include <math.h>
#include <stdbool.h>

#include "noise/fractal/octave.h"

/* An octave of Perlin noise in space. Along x and y it is like any other; along z its cells have a
 * height of their own. */
struct space_octave {
    struct octave plane;
    int64_t height; /* of a cell, units */
    double inverse_height;
    float share; /* of the amplitudes of all octaves */
};

struct space_noise {
    int octaves; /* 0: off */
    struct space_octave octave[FARLANDS_MAX_VOLUME_OCTAVES];
};

/* The noises in the formula; tunnels take two, a and b. */
enum density_noise {
    DENSITY_OVERHANGS,
    DENSITY_CAVERNS,
    DENSITY_TUNNELS_A,
    DENSITY_TUNNELS_B,
    DENSITY_NOISES
};

/* Caverns or tunnels. */
struct caves {
    float scale;       /* the wavelength */
    float reach;       /* subtracted from the distance if fully open */
    float start, rise; /* open = start + rise * ground, clamped to 0 .. 1 */
    float from;        /* they count only if ground is above this */
};

struct density {
    struct space_noise noise[DENSITY_NOISES];
    float amplitude, inverse, threshold; /* of overhangs: blocks, 1 / amplitude, noise */
    struct caves caverns, tunnels;
    /* Of ledges, see ledge.h: the width of a square in units, 0 if there are none; the most that a
     * ledge reaches from its middle, blocks; its height relative to its width. */
    int64_t cell, cells; /* cells: in one period of the terrain; 0: it does not repeat */
    uint64_t key;
    float most, inverse_squash;
    float blend, bend; /* of density_join: blocks, 1 / (4 blend) */
};

/* With LEDGES as in generator 3, or else as in generator 2. */
void density_make(struct density *density, const struct farlands_params *params, bool ledges);

/* s: how far Z, in blocks, lies below the surface at HEIGHT metres. */
static inline float density_below(float height, double z)
{
    return (float)((double)height - z);
}

/* ground, from s and the noise N of overhangs. */
static inline float density_ground(const struct density *d, float s, float n)
{
    const float q = d->threshold, t = s * d->inverse, w = fmaf(-t, t, 1);
    const float low = n > -q ? n : -q, bulge = n - (low < q ? low : q);
    const float ground = fmaf(d->amplitude * (w * w), bulge, s);
    return fabsf(s) < d->amplitude ? ground : s;
}

/* Distance from the nearest cavern, from its noise N. */
static inline float density_cavern(const struct caves *caves, float n)
{
    return fmaf(-caves->scale, n, caves->scale);
}

/* Distance from the nearest tunnel, from its noises A and B. */
static inline float density_tunnel(const struct caves *caves, float a, float b)
{
    return caves->scale * sqrtf(fmaf(b, b, a * a));
}

/* Distance from CAVES as far as they open, from that if they were not to. */
static inline float density_open(const struct caves *caves, float ground, float distance)
{
    float open = fmaf(caves->rise, ground, caves->start);
    open = open > 0 ? open : 0;
    open = open < 1 ? open : 1;
    return ground > caves->from ? fmaf(-caves->reach, open, distance) : INFINITY;
}

/* The distance from two caves: nothing is left between them if it is thin. */
static inline float density_join(const struct density *d, float a, float b)
{
    float near = d->blend - fabsf(a - b);
    near = near > 0 ? near : 0;
    return (a < b ? a : b) - d->bend * (near * near);
}

#endif
