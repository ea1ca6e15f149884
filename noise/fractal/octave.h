/* One octave: a lattice, and where the seed puts it. Private to noise/. */
#ifndef FARLANDS_OCTAVE_H
#define FARLANDS_OCTAVE_H

#include "noise/exact/arithmetic.h"
#include "noise/exact/lattice.h"
#include "noise/fractal/params.h"

enum axis { AXIS_X, AXIS_Y, AXIS_Z, AXIS_W, AXES };

struct octave {
    int64_t wavelength;  /* width of a cell in units */
    double inverse;      /* 1 / wavelength */
    int64_t reciprocal;  /* (2^64 - 1) / wavelength */
    double amplitude;    /* persistence^k */
    int64_t cells;       /* in one of the terrain's periods; 0: the lattice does not repeat */
    int64_t shift[AXES]; /* units, added to each coordinate (mix64) */
    uint64_t key[AXES];  /* for lattice_axis (mix64) */
    uint32_t salt;       /* added to the index (permutation) */
};

/* The place at coordinate AT along AXIS: lattice_place without a division. AT is within a grid's
 * bounds. The reciprocal is up to 1 / 2^64 too small, so the quotient may be one too small, though
 * rarely close to the origin. */
static inline struct lattice_place octave_place(const struct octave *octave, enum axis axis,
                                                int64_t at)
{
#ifdef __wasm__ /* no 128-bit product */
    return lattice_place(at + octave->shift[axis], octave->wavelength);
#else
    const int64_t wavelength = octave->wavelength, units = at + octave->shift[axis];
    struct lattice_place place;
    place.cell = (int64_t)((__int128)units * octave->reciprocal >> 64);
    place.rest = units - place.cell * wavelength;
    if (place.rest < 0) {
        place.cell--;
        place.rest += wavelength;
    } else if (place.rest >= wavelength) {
        place.cell++;
        place.rest -= wavelength;
    }
    return place;
#endif
}

/*
 * An octave is narrow, and computed in float, if its cells are at most this wide, in units.
 * Otherwise it is broad, and computed in double, because a float's 24 bits cannot tell the units in
 * a wider cell apart.
 */
#define OCTAVE_NARROW_MAX (INT64_C(1) << 24)

static inline bool octave_is_broad(const struct octave *octave)
{
    return octave->wavelength > OCTAVE_NARROW_MAX;
}

/* In pictures with samples STEP units apart, the octaves of moved noises, and of all noises in a
 * world with a drainage, are also computed in float if a cell is less than 2^14 samples wide: a
 * float then tells a thousandth of a sample apart. */
static inline bool octave_is_narrow_in_pictures(const struct octave *octave, int64_t step)
{
    return octave->wavelength >> 14 < step;
}

/* A weight that falls from 1 to 0 as STEP grows from FROM to TO wavelengths. */
static inline double octave_faded(const struct octave *octave, int64_t step, double from, double to)
{
    double t = ((double)step * octave->inverse - from) / (to - from);
    t = t < 0 ? 0 : t > 1 ? 1 : t;
    return 1 - t * t * (3 - 2 * t);
}

/*
 * The octave's weight in a picture with samples STEP units apart. It falls from 1 to 0 as STEP
 * grows from a quarter to half a wavelength, where the octave would begin to alias.
 */
static inline double octave_band_limit(const struct octave *octave, int64_t step)
{
    return octave_faded(octave, step, 0.25, 0.5);
}

/* The same for gullies. They fade at three eighths of a wavelength, because a stripe is one cell
 * wide, and other features are wider. */
static inline double octave_gully_limit(const struct octave *octave, int64_t step)
{
    return octave_faded(octave, step, 0.25, 0.375);
}

/*
 * Where each part of a terrain begins among the seed's random numbers (lattice_random): four
 * numbers for each octave's plane, four for the other two axes, then those for the warp and the
 * density.
 */
enum {
    OCTAVE_RANDOM_PLANE = 0,
    OCTAVE_RANDOM_SPACE = 4 * FARLANDS_MAX_OCTAVES,
    OCTAVE_RANDOM_WARP = 2 * OCTAVE_RANDOM_SPACE,
    OCTAVE_RANDOM_DENSITY = OCTAVE_RANDOM_WARP + 2 * 4,
};

/* How many octaves the terrain's noise has: one if the fractal is "none". */
int octave_count(const struct farlands_params *params);

/* WAVELENGTH / LACUNARITY^K, rounded to the nearest unit; 0 if that does not fit 62 bits. */
int64_t octave_wavelength(int64_t wavelength, double lacunarity, int k);

/* An octave with amplitude 1 in a terrain with PARAMS, still without keys and shifts. */
struct octave octave_make(const struct farlands_params *params, int64_t wavelength);

/* Set keys and shifts for AXIS and the next axis from the seed's random numbers FIRST to FIRST + 3:
 * two keys, then two shifts. */
void octave_randomize(struct octave *octave, uint64_t seed, uint64_t first, enum axis axis);

/* The salt for an octave with WAVELENGTH under the permutation hash: see octave_salt in params.h.
 */
uint32_t octave_salt(const struct farlands_params *params, int64_t wavelength);

#endif
