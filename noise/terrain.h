/* A terrain as the kernels see it: everything worked out from the parameters. Private to noise/. */
#ifndef FARLANDS_TERRAIN_H
#define FARLANDS_TERRAIN_H

#include "farlands.h"
#include "gradients.h"

struct octave {
    int64_t wavelength;       /* units */
    double inverse;           /* 1 / wavelength */
    double amplitude;         /* share of the sum; the amplitudes of all octaves sum to 1 */
    int64_t shift_x, shift_y; /* units: where this octave's lattice begins (mix64) */
    uint64_t key_x, key_y;    /* of lattice_axis (mix64) */
    uint32_t salt;            /* permutation: added to the index */
};

/* An octave's weight in a picture with samples STEP units apart: it fades from 1
 * to 0 between a quarter and half of a wavelength, where it would begin to alias. */
static inline double octave_band_limit(const struct octave *octave, int64_t step)
{
    double t = ((double)step * octave->inverse - 0.25) * 4;
    t = t < 0 ? 0 : t > 1 ? 1 : t;
    return 1 - t * t * (3 - 2 * t);
}

/* One straight piece of the elevation curve: metres = base + slope * (noise - from). */
struct piece {
    double from, slope, base;
};

/* Cells up to this wide, in units, are computed in float, broader ones in double. */
#define NARROW_MAX (INT64_C(1) << 24)

struct farlands_terrain {
    const struct kernel *kernel;
    enum farlands_fade fade;
    enum farlands_hash hash;
    struct gradient_set gradients;
    uint8_t permutation[256];
    int broad; /* the first octaves, with cells beyond NARROW_MAX */
    int octaves;
    struct octave octave[FARLANDS_MAX_OCTAVES];
    int pieces;
    struct piece piece[FARLANDS_MAX_KNOTS];
    double noise_min, noise_max; /* ends of the elevation curve */
    float metres_min, metres_max;
};

#endif
