/*
 * Perlin noise and its fractal sum, written from the published formulas as
 * plainly as they can be, in double precision: what the heights are held
 * against. Knows nothing of the library's kernels and gradient tables.
 *
 * Ken Perlin, "An Image Synthesizer", SIGGRAPH 1985 (the noise, cubic fade);
 * "Improving Noise", SIGGRAPH 2002 (quintic fade, the permutation's values).
 */
#ifndef FARLANDS_REFERENCE_NOISE_H
#define FARLANDS_REFERENCE_NOISE_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "noise/farlands.h"
#include "noise/lattice.h"
#include "noise/permutation.h"

/* As published in 2002. */
static const uint8_t reference_permutation[256] = {
    151, 160, 137, 91,  90,  15,  131, 13,  201, 95,  96,  53,  194, 233, 7,   225, 140, 36,  103,
    30,  69,  142, 8,   99,  37,  240, 21,  10,  23,  190, 6,   148, 247, 120, 234, 75,  0,   26,
    197, 62,  94,  252, 219, 203, 117, 35,  11,  32,  57,  177, 33,  88,  237, 149, 56,  87,  174,
    20,  125, 136, 171, 168, 68,  175, 74,  165, 71,  134, 139, 48,  27,  166, 77,  146, 158, 231,
    83,  111, 229, 122, 60,  211, 133, 230, 220, 105, 92,  41,  55,  46,  245, 40,  244, 102, 143,
    54,  65,  25,  63,  161, 1,   216, 80,  73,  209, 76,  132, 187, 208, 89,  18,  169, 200, 196,
    135, 130, 116, 188, 159, 86,  164, 100, 109, 198, 173, 186, 3,   64,  52,  217, 226, 250, 124,
    123, 5,   202, 38,  147, 118, 126, 255, 82,  85,  212, 207, 206, 59,  227, 47,  16,  58,  17,
    182, 189, 28,  42,  223, 183, 170, 213, 119, 248, 152, 2,   44,  154, 163, 70,  221, 153, 101,
    155, 167, 43,  172, 9,   129, 22,  39,  253, 19,  98,  108, 110, 79,  113, 224, 232, 178, 185,
    112, 104, 218, 246, 97,  228, 251, 34,  242, 193, 238, 210, 144, 12,  191, 179, 162, 241, 81,
    51,  145, 235, 249, 14,  239, 107, 49,  192, 214, 31,  181, 199, 106, 157, 184, 84,  204, 176,
    115, 121, 50,  45,  127, 4,   150, 254, 138, 236, 205, 93,  222, 114, 67,  29,  24,  72,  243,
    141, 128, 195, 78,  66,  215, 61,  156, 180,
};

struct reference_octave {
    int64_t wavelength; /* units */
    double amplitude;   /* of a sum of 1 */
    int64_t shift_x, shift_y;
    uint64_t key_x, key_y;
    int64_t salt;
};

struct reference_noise {
    struct farlands_params params;
    uint8_t permutation[256];
    int octaves;
    struct reference_octave octave[FARLANDS_MAX_OCTAVES];
};

static inline void reference_noise_make(struct reference_noise *r, const struct farlands_params *p)
{
    r->params = *p;
    r->octaves = p->fractal == FARLANDS_NONE ? 1 : p->octaves;
    if (p->seed == 0)
        memcpy(r->permutation, reference_permutation, sizeof r->permutation);
    else
        permutation_make(r->permutation, p->seed);
    double sum = 0;
    for (int k = 0; k < r->octaves; k++)
        sum += pow(p->persistence, k);
    for (int k = 0; k < r->octaves; k++) {
        struct reference_octave *o = &r->octave[k];
        uint64_t draw = 4 * (uint64_t)k;
        *o = (struct reference_octave){0};
        o->wavelength = llround((double)p->wavelength / pow(p->lacunarity, k));
        o->amplitude = pow(p->persistence, k) / sum;
        if (p->hash == FARLANDS_MIX64) {
            o->key_x = lattice_draw(p->seed, draw);
            o->key_y = lattice_draw(p->seed, draw + 1);
            o->shift_x = (int64_t)(lattice_draw(p->seed, draw + 2) % (uint64_t)o->wavelength);
            o->shift_y = (int64_t)(lattice_draw(p->seed, draw + 3) % (uint64_t)o->wavelength);
        } else if (p->octave_salt) {
            o->salt = o->wavelength / FARLANDS_UNIT;
        }
    }
}

/* The 8 bits of hash at corner (X, Y). */
static inline int reference_hash(const struct reference_noise *r, const struct reference_octave *o,
                                 int64_t cell_x, int64_t cell_y)
{
    if (r->params.hash == FARLANDS_MIX64)
        return (int)lattice_corner(lattice_axis(cell_x, o->key_x), lattice_axis(cell_y, o->key_y));
    return r->permutation[(cell_x + r->permutation[cell_y & 255] + o->salt) & 255];
}

/* The product of the gradient that HASH chooses with (FX, FY). */
static inline double reference_dot(enum farlands_gradients set, int hash, double fx, double fy)
{
    static const double axis4[4][2] = {{1, 0}, {-1, 0}, {0, 1}, {0, -1}};
    static const double corners_and_sides[8][2] = {{1, 1}, {-1, 1}, {1, -1}, {-1, -1},
                                                   {1, 0}, {-1, 0}, {0, 1},  {0, -1}};
    const double turn = 6.283185307179586;
    double gx = 0, gy = 0;
    switch (set) {
    case FARLANDS_AXIS4:
        gx = axis4[hash % 4][0];
        gy = axis4[hash % 4][1];
        break;
    case FARLANDS_DIAGONAL4:
        gx = hash & 2 ? -1 : 1;
        gy = hash & 1 ? -1 : 1;
        break;
    case FARLANDS_UNIT8:
    case FARLANDS_INTEGER8:
        gx = corners_and_sides[hash % 8][0];
        gy = corners_and_sides[hash % 8][1];
        if (set == FARLANDS_UNIT8 && hash % 8 < 4) {
            gx *= sqrt(0.5);
            gy *= sqrt(0.5);
        }
        break;
    case FARLANDS_UNIT256:
        gx = cos(turn * hash / 256);
        gy = sin(turn * hash / 256);
        break;
    }
    return gx * fx + gy * fy;
}

static inline double reference_fade(enum farlands_fade fade, double t)
{
    switch (fade) {
    case FARLANDS_LINEAR:
        return t;
    case FARLANDS_CUBIC:
        return 3 * t * t - 2 * t * t * t;
    case FARLANDS_QUINTIC:
        return t * t * t * (t * (t * 6 - 15) + 10);
    }
    return NAN;
}

static inline double reference_lerp(double t, double a, double b)
{
    return a + t * (b - a);
}

static inline int64_t reference_floor(int64_t units, int64_t wavelength)
{
    return units >= 0 ? units / wavelength : -1 - (-1 - units) / wavelength;
}

static inline double reference_octave_at(const struct reference_noise *r,
                                         const struct reference_octave *o, int64_t x, int64_t y)
{
    enum farlands_gradients set = r->params.gradients;
    x += o->shift_x;
    y += o->shift_y;
    int64_t cell_x = reference_floor(x, o->wavelength);
    int64_t cell_y = reference_floor(y, o->wavelength);
    double fx = (double)(x - cell_x * o->wavelength) / (double)o->wavelength;
    double fy = (double)(y - cell_y * o->wavelength) / (double)o->wavelength;
    double d00 = reference_dot(set, reference_hash(r, o, cell_x, cell_y), fx, fy);
    double d10 = reference_dot(set, reference_hash(r, o, cell_x + 1, cell_y), fx - 1, fy);
    double d01 = reference_dot(set, reference_hash(r, o, cell_x, cell_y + 1), fx, fy - 1);
    double d11 = reference_dot(set, reference_hash(r, o, cell_x + 1, cell_y + 1), fx - 1, fy - 1);
    double u = reference_fade(r->params.fade, fx);
    double v = reference_fade(r->params.fade, fy);
    return reference_lerp(v, reference_lerp(u, d00, d10), reference_lerp(u, d01, d11));
}

/* The noise, before the elevation curve, at a place in units. */
static inline double reference_noise_at(const struct reference_noise *r, int64_t x, int64_t y)
{
    double sum = 0;
    for (int k = 0; k < r->octaves; k++)
        sum += r->octave[k].amplitude * reference_octave_at(r, &r->octave[k], x, y);
    return sum;
}

/* The elevation curve: straight between knots, constant beyond both ends. */
static inline double reference_elevation(const struct farlands_params *params, double noise)
{
    const struct farlands_knot *knot = params->elevation;
    int last = params->knots - 1;
    if (noise <= (double)knot[0].noise)
        return knot[0].metres;
    if (noise >= (double)knot[last].noise)
        return knot[last].metres;
    int i = 0;
    while (noise > (double)knot[i + 1].noise)
        i++;
    double t = (noise - knot[i].noise) / ((double)knot[i + 1].noise - knot[i].noise);
    return knot[i].metres + t * ((double)knot[i + 1].metres - knot[i].metres);
}

/* The height at a place in units. */
static inline double reference_height_at(const struct reference_noise *r, int64_t x, int64_t y)
{
    return reference_elevation(&r->params, reference_noise_at(r, x, y));
}

#endif
