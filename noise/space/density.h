/*
 * Density: the formula for terrain_density in farlands.h, as kernels and single points compute it,
 * in float and in blocks. Private to noise/.
 */
#ifndef FARLANDS_DENSITY_H
#define FARLANDS_DENSITY_H

#include <math.h>
#include <stdbool.h>

#include "noise/fractal/octave.h"

/* One octave of Perlin noise in space. Cells are as wide as in a plane, and have a separate height
 * along z. */
struct space_octave {
    struct octave plane;
    int64_t height; /* a cell's height, in units */
    double inverse_height;
    float share; /* amplitude, divided by the sum over all octaves */
};

struct space_noise {
    int octaves; /* 0: off */
    struct space_octave octave[FARLANDS_MAX_VOLUME_OCTAVES];
};

/* The noises in the formula. Tunnels take two, a and b. */
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
    float from;        /* no effect unless ground is above this */
};

struct density {
    struct space_noise noise[DENSITY_NOISES];
    float amplitude, inverse, threshold; /* overhangs: blocks, 1 / amplitude, noise */
    struct caves caverns, tunnels;
    /* Ledges (ledge.h): the width of a square in units, or 0 for no ledges; how far a ledge reaches
     * from its middle, at most, in blocks; height relative to width. */
    int64_t cell, cells; /* cells: in one of the terrain's periods; 0: no period */
    uint64_t key;
    float most, inverse_squash;
    float blend, bend; /* for density_join: blocks, 1 / (4 blend) */
};

/* With LEDGES for generator 3, without for generator 2. */
void density_make(struct density *density, const struct farlands_params *params, bool ledges);

/* s: the depth of Z, in blocks, below a surface at HEIGHT metres. */
static inline float density_below(float height, double z)
{
    return (float)((double)height - z);
}

/* ground, from s and the overhang noise N. */
static inline float density_ground(const struct density *d, float s, float n)
{
    const float q = d->threshold, t = s * d->inverse, w = fmaf(-t, t, 1);
    const float low = n > -q ? n : -q, bulge = n - (low < q ? low : q);
    const float ground = fmaf(d->amplitude * (w * w), bulge, s);
    return fabsf(s) < d->amplitude ? ground : s;
}

/* The distance from the nearest cavern, from the cavern noise N. */
static inline float density_cavern(const struct caves *caves, float n)
{
    return fmaf(-caves->scale, n, caves->scale);
}

/* The distance from the nearest tunnel, from the tunnel noises A and B. */
static inline float density_tunnel(const struct caves *caves, float a, float b)
{
    return caves->scale * sqrtf(fmaf(b, b, a * a));
}

/* The distance from CAVES, or INFINITY above them: DISTANCE, less REACH as far as they are open. */
static inline float density_open(const struct caves *caves, float ground, float distance)
{
    float open = fmaf(caves->rise, ground, caves->start);
    open = open > 0 ? open : 0;
    open = open < 1 ? open : 1;
    return ground > caves->from ? fmaf(-caves->reach, open, distance) : INFINITY;
}

/* The distance from two caves together. A thin wall between them disappears. */
static inline float density_join(const struct density *d, float a, float b)
{
    float near = d->blend - fabsf(a - b);
    near = near > 0 ? near : 0;
    return (a < b ? a : b) - d->bend * (near * near);
}

#endif
