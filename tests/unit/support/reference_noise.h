/*
 * The noise, written from the published formulas as plainly as possible, in double: the
 * reference for all heights. Uses neither the kernels nor the gradient tables of the library.
 *
 * Ken Perlin, "An Image Synthesizer", SIGGRAPH 1985 (the noise, cubic fade); "Improving Noise",
 * SIGGRAPH 2002 (quintic fade, the values of the permutation); "Noise Hardware", 2001, and
 * Stefan Gustavson, "Simplex noise demystified", 2005 (simplex); Steven Worley, "A Cellular
 * Texture Basis Function", SIGGRAPH 1996; F. Kenton Musgrave in "Texturing and Modeling",
 * chapter 16 (ridged, hybrid).
 */
#ifndef FARLANDS_REFERENCE_NOISE_H
#define FARLANDS_REFERENCE_NOISE_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "noise/exact/lattice.h"
#include "noise/exact/permutation.h"
#include "noise/fractal/params.h"

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

enum { REFERENCE_AXES = 4 };

/*
 * A number, and how far a careful computation of it in float or double may be from it: a running
 * error analysis, step by step with the formula.
 */
struct reference_value {
    double n, error;
};

struct reference_octave {
    int64_t wavelength; /* units */
    double amplitude;   /* relative to the first octave */
    int64_t shift[REFERENCE_AXES];
    uint64_t key[REFERENCE_AXES];
    int64_t salt;
    int64_t cells;  /* in one period of x and y; 0: no period */
    int64_t height; /* units, of a cell in three dimensions; 0: the wavelength */
};

struct reference_noise {
    struct farlands_params params;
    uint8_t permutation[256];
    int octaves;
    struct reference_octave octave[FARLANDS_MAX_OCTAVES];
    struct reference_octave warp[2]; /* of the displacements along x and y */
};

/* Keys of x and y, then shifts, from the seed's random number FIRST on; those of z and w from
 * FURTHER on. */
static inline void reference_octave_draw(struct reference_octave *o, uint64_t seed, uint64_t first,
                                         uint64_t further)
{
    const uint64_t key[REFERENCE_AXES] = {first, first + 1, further, further + 1};
    for (int axis = 0; axis < REFERENCE_AXES; axis++) {
        o->key[axis] = lattice_random(seed, key[axis]);
        o->shift[axis] = (int64_t)(lattice_random(seed, key[axis] + 2) % (uint64_t)o->wavelength);
    }
}

static inline void reference_noise_make(struct reference_noise *r, const struct farlands_params *p)
{
    *r = (struct reference_noise){.params = *p};
    r->octaves = p->fractal == FARLANDS_NONE ? 1 : p->octaves;
    if (p->seed == 0)
        memcpy(r->permutation, reference_permutation, sizeof r->permutation);
    else
        permutation_make(r->permutation, p->seed);
    for (int k = 0; k < r->octaves; k++) {
        struct reference_octave *o = &r->octave[k];
        o->wavelength = llround((double)p->wavelength / pow(p->lacunarity, k));
        o->amplitude = pow(p->persistence, k);
        o->cells = p->period / o->wavelength;
        if (p->hash == FARLANDS_MIX64)
            reference_octave_draw(o, p->seed, 4 * (uint64_t)k, 256 + 4 * (uint64_t)k);
        else if (p->octave_salt)
            o->salt = o->wavelength / FARLANDS_UNIT;
    }
    for (int axis = 0; p->warp.amplitude && axis < 2; axis++) {
        struct reference_octave *o = &r->warp[axis];
        o->wavelength = p->warp.wavelength;
        o->cells = p->period / o->wavelength;
        if (p->hash == FARLANDS_MIX64)
            reference_octave_draw(o, p->seed, 512 + 4 * (uint64_t)axis, 0);
        else
            o->salt = axis == 0 ? 85 : 170;
    }
}

/* The index, 0 .. 255, of the lattice corner CELL. */
static inline int reference_index(const struct reference_noise *r, const struct reference_octave *o,
                                  int dimensions, const int64_t cell[])
{
    const uint8_t *P = r->permutation;
    int64_t c[REFERENCE_AXES] = {0};
    for (int axis = 0; axis < dimensions; axis++) {
        c[axis] = cell[axis];
        if (o->cells > 0 && axis < 2)
            c[axis] = (c[axis] % o->cells + o->cells) % o->cells;
    }
    if (r->params.hash == FARLANDS_MIX64) {
        uint64_t mixed[REFERENCE_AXES];
        for (int axis = 0; axis < REFERENCE_AXES; axis++)
            mixed[axis] = lattice_axis(c[axis], o->key[axis]);
        uint64_t others = dimensions == 4   ? lattice_join(mixed[2], mixed[3])
                          : dimensions == 3 ? mixed[2]
                                            : 0;
        return (int)lattice_corner(mixed[0],
                                   dimensions > 2 ? lattice_join(mixed[1], others) : mixed[1]);
    }
    switch (dimensions) {
    case 1:
        return P[(c[0] + o->salt) & 255];
    case 2:
        return P[(c[0] + P[c[1] & 255] + o->salt) & 255];
    case 3:
        return P[(P[(P[c[0] & 255] + c[1]) & 255] + c[2] + o->salt) & 255];
    default:
        return P[(P[(P[(P[c[0] & 255] + c[1]) & 255] + c[2]) & 255] + c[3] + o->salt) & 255];
    }
}

static inline int reference_corner(const struct reference_noise *r,
                                   const struct reference_octave *o, int64_t x, int64_t y)
{
    return reference_index(r, o, 2, (int64_t[]){x, y});
}

/* The scalar product of gradient INDEX and (FX, FY). */
static inline double reference_dot(enum farlands_gradients set, int index, double fx, double fy)
{
    static const double axis4[4][2] = {{1, 0}, {-1, 0}, {0, 1}, {0, -1}};
    static const double corners_and_sides[8][2] = {{1, 1}, {-1, 1}, {1, -1}, {-1, -1},
                                                   {1, 0}, {-1, 0}, {0, 1},  {0, -1}};
    const double turn = 6.283185307179586;
    double gx = 0, gy = 0;
    switch (set) {
    case FARLANDS_AXIS4:
        gx = axis4[index % 4][0];
        gy = axis4[index % 4][1];
        break;
    case FARLANDS_DIAGONAL4:
        gx = index & 2 ? -1 : 1;
        gy = index & 1 ? -1 : 1;
        break;
    case FARLANDS_UNIT8:
    case FARLANDS_INTEGER8:
        gx = corners_and_sides[index % 8][0];
        gy = corners_and_sides[index % 8][1];
        if (set == FARLANDS_UNIT8 && index % 8 < 4) {
            gx *= sqrt(0.5);
            gy *= sqrt(0.5);
        }
        break;
    case FARLANDS_UNIT256:
        gx = cos(turn * (index % 32 + 0.5) / 256);
        gy = sin(turn * (index % 32 + 0.5) / 256);
        if (index & 32) {
            double kept = gx;
            gx = gy;
            gy = kept;
        }
        if (index & 64)
            gx = -gx;
        if (index & 128)
            gy = -gy;
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

/* A coordinate in units: a whole number, and the displacement by the warp. */
struct reference_place {
    int64_t units;
    double moved;
};

/* Cell and fraction of the cell. */
struct reference_split {
    int64_t cell;
    double f;
};

static inline struct reference_split reference_split(struct reference_place place, int64_t shift,
                                                     int64_t wavelength)
{
    int64_t units = place.units + shift;
    int64_t cell = reference_floor(units, wavelength);
    double f = ((double)(units - cell * wavelength) + place.moved) / (double)wavelength;
    return (struct reference_split){cell + (int64_t)floor(f), f - floor(f)};
}

static inline double reference_perlin(const struct reference_noise *r,
                                      const struct reference_octave *o, struct reference_place x,
                                      struct reference_place y)
{
    enum farlands_gradients set = r->params.gradients;
    struct reference_split sx = reference_split(x, o->shift[0], o->wavelength);
    struct reference_split sy = reference_split(y, o->shift[1], o->wavelength);
    int64_t X = sx.cell, Y = sy.cell;
    double fx = sx.f, fy = sy.f;
    double d00 = reference_dot(set, reference_corner(r, o, X, Y), fx, fy);
    double d10 = reference_dot(set, reference_corner(r, o, X + 1, Y), fx - 1, fy);
    double d01 = reference_dot(set, reference_corner(r, o, X, Y + 1), fx, fy - 1);
    double d11 = reference_dot(set, reference_corner(r, o, X + 1, Y + 1), fx - 1, fy - 1);
    double u = reference_fade(r->params.fade, fx);
    double v = reference_fade(r->params.fade, fy);
    return reference_lerp(v, reference_lerp(u, d00, d10), reference_lerp(u, d01, d11));
}

static inline double reference_value_noise(const struct reference_noise *r,
                                           const struct reference_octave *o,
                                           struct reference_place x, struct reference_place y)
{
    struct reference_split sx = reference_split(x, o->shift[0], o->wavelength);
    struct reference_split sy = reference_split(y, o->shift[1], o->wavelength);
    double value[2][2];
    for (int j = 0; j < 2; j++)
        for (int i = 0; i < 2; i++)
            value[j][i] = 2 * reference_corner(r, o, sx.cell + i, sy.cell + j) / 255.0 - 1;
    double u = reference_fade(r->params.fade, sx.f);
    double v = reference_fade(r->params.fade, sy.f);
    return reference_lerp(v, reference_lerp(u, value[0][0], value[0][1]),
                          reference_lerp(u, value[1][0], value[1][1]));
}

/* The points of other cells than these nine are at least one cell away. */
static inline double reference_cellular(const struct reference_noise *r,
                                        const struct reference_octave *o, struct reference_place x,
                                        struct reference_place y)
{
    struct reference_split sx = reference_split(x, o->shift[0], o->wavelength);
    struct reference_split sy = reference_split(y, o->shift[1], o->wavelength);
    double nearest = 1;
    for (int j = -1; j <= 1; j++) {
        for (int i = -1; i <= 1; i++) {
            int index = reference_corner(r, o, sx.cell + i, sy.cell + j);
            double px = i + (index + 0.5) / 256;
            double py = j + (159 * index % 256 + 0.5) / 256;
            nearest = fmin(nearest, hypot(px - sx.f, py - sy.f));
        }
    }
    return 2 * nearest - 1;
}

/*
 * The skewed coordinate of (x, y), in cells. Computed in integers of 2^-64 units, because far
 * out a double does not hold the fraction of a cell. Coordinates are below 2^62 + 2^53 units and
 * F is below 0.37, so the sum stays below 2^127.
 */
static inline struct reference_split reference_skew(struct reference_place x,
                                                    struct reference_place y, int axis,
                                                    const struct reference_octave *o)
{
    const double F = (sqrt(3) - 1) / 2;
    const uint64_t f64 = UINT64_C(0x5db3d742c265539e); /* F * 2^64, rounded */
    __int128 px = (__int128)x.units + o->shift[0], py = (__int128)y.units + o->shift[1];
    __int128 skewed = (axis == 0 ? px : py) * ((__int128)1 << 64) + (px + py) * (__int128)f64;
    __int128 width = (__int128)o->wavelength << 64;
    __int128 cell = skewed / width, rest = skewed % width;
    if (rest < 0) {
        rest += width;
        cell--;
    }
    double moved = (axis == 0 ? x.moved : y.moved) + (x.moved + y.moved) * F;
    double f = (double)rest / (double)width + moved / (double)o->wavelength;
    return (struct reference_split){(int64_t)cell + (int64_t)floor(f), f - floor(f)};
}

static inline double reference_simplex(const struct reference_noise *r,
                                       const struct reference_octave *o, struct reference_place x,
                                       struct reference_place y)
{
    const double G = (3 - sqrt(3)) / 6;
    struct reference_split si = reference_skew(x, y, 0, o), sj = reference_skew(x, y, 1, o);
    double unskew = (si.f + sj.f) * G;
    double x0 = si.f - unskew, y0 = sj.f - unskew;
    int64_t corner[3][2] = {{0, 0}, {x0 > y0, x0 <= y0}, {1, 1}};
    double sum = 0;
    for (int c = 0; c < 3; c++) {
        int64_t i = corner[c][0], j = corner[c][1];
        double dx = x0 - (double)i + (double)(i + j) * G;
        double dy = y0 - (double)j + (double)(i + j) * G;
        double t = 0.5 - dx * dx - dy * dy;
        int index = reference_corner(r, o, si.cell + i, sj.cell + j);
        if (t > 0)
            sum += t * t * t * t * reference_dot(r->params.gradients, index, dx, dy);
    }
    return 70 * sum;
}

/* Octaves with cells up to this many units wide may be computed in float. */
static const int64_t reference_narrow = 1 << 24;

static inline bool reference_in_float(const struct reference_octave *o)
{
    return o->wavelength <= reference_narrow;
}

/*
 * Rounding error of one octave.
 *
 * In double only the gradients are rounded, to float: by 2^-25 per axis, times the fraction of
 * the cell, weighted by the fade: 2^-25 in all.
 *
 * In float: the quintic's bracket is up to 10 and loses three half ulps of 8, 12 * 2^-24, times
 * differences of values up to 2, on two axes: 48 * 2^-24. All else (scalar products, cubic,
 * interpolations) rounds about ten times values up to 2 and fits in the rest of 2^-18; such
 * extremes do not coincide. Simplex: a vector from a corner has an error of 1.5 * 2^-24, so t
 * has 4.25 * 2^-24; 70 * 4 t^3 r sums to at most 10 over the corners, and gradients are up to
 * sqrt 2 long: 59 * 2^-24, plus 13 * 2^-24 from the vectors themselves: 2^-17. Cellular: the
 * vector to an exact point has an error of 2^-24 per axis, root and doubling as much again: 7 *
 * 2^-24.
 */
static inline double reference_rounding(enum farlands_basis basis, const struct reference_octave *o)
{
    if (!reference_in_float(o))
        return 0x1p-25;
    switch (basis) {
    case FARLANDS_PERLIN:
    case FARLANDS_VALUE:
        return 0x1p-18;
    case FARLANDS_SIMPLEX:
        return 0x1p-17;
    case FARLANDS_CELLULAR:
        return 0x1p-21;
    }
    return 0;
}

/*
 * Steepest change of the noise per cell along an axis. Perlin: the gradient, 1, plus the slope
 * of the fade, 15/8, times the difference of two products, up to 2. Value: 15/8 times 2.
 * Simplex: 70 |g| (t^4 + 8 t^3 r^2) has its maximum, 5.5 |g|, at t = 3/7; 10 with the other
 * corners. Cellular: 2, by the triangle inequality.
 */
static inline double reference_steepness(enum farlands_basis basis)
{
    switch (basis) {
    case FARLANDS_PERLIN:
        return 5;
    case FARLANDS_SIMPLEX:
        return 10;
    case FARLANDS_CELLULAR:
        return 2;
    case FARLANDS_VALUE:
        return 4;
    }
    return NAN;
}

/*
 * The octave at a place whose displacement is known to MOVED_ERROR units per axis. Adding the
 * displacement to the fraction rounds once more.
 */
static inline struct reference_value
reference_octave_at(const struct reference_noise *r, const struct reference_octave *o,
                    struct reference_place x, struct reference_place y, double moved_error)
{
    struct reference_value value = {0, reference_rounding(r->params.basis, o)};
    switch (r->params.basis) {
    case FARLANDS_PERLIN:
        value.n = reference_perlin(r, o, x, y);
        break;
    case FARLANDS_SIMPLEX:
        value.n = reference_simplex(r, o, x, y);
        break;
    case FARLANDS_CELLULAR:
        value.n = reference_cellular(r, o, x, y);
        break;
    case FARLANDS_VALUE:
        value.n = reference_value_noise(r, o, x, y);
        break;
    }
    if (moved_error > 0) {
        double cells = (fabs(x.moved) + fabs(y.moved)) / (double)o->wavelength;
        double place_error = 2 * moved_error / (double)o->wavelength +
                             cells * (reference_in_float(o) ? 0x1p-23 : 0x1p-51);
        value.error += reference_steepness(r->params.basis) * place_error;
    }
    return value;
}

/*
 * From octaves N, each with its amplitude, to one noise. EPSILON is the relative error of one
 * rounding.
 */
static inline struct reference_value
reference_fractal(const struct reference_noise *r, const struct reference_value n[], double epsilon)
{
    const struct farlands_params *p = &r->params;
    double total = 0, sum = 0, error = 0, weight = 1, weight_error = 0;
    for (int k = 0; k < r->octaves; k++) {
        double a = r->octave[k].amplitude, term = 0, term_error = 0;
        switch (p->fractal) {
        case FARLANDS_NONE:
        case FARLANDS_FBM:
            term = a * n[k].n;
            term_error = a * n[k].error;
            break;
        case FARLANDS_BILLOW:
            term = a * (2 * fabs(n[k].n) - 1);
            term_error = a * 2 * n[k].error;
            break;
        case FARLANDS_RIDGED: {
            double way = p->offset - fabs(n[k].n), ridge = way * way;
            double ridge_error =
                2 * fabs(way) * (n[k].error + epsilon * fabs(way)) + n[k].error * n[k].error;
            double s = weight * ridge;
            double s_error =
                weight * ridge_error + ridge * weight_error + ridge_error * weight_error;
            term = a * s;
            term_error = a * s_error;
            weight = fmin(p->gain * s, 1);
            /* If the weight is certainly 1, it is exact. */
            bool full = p->gain * (s - s_error) * (1 - 4 * epsilon) >= 1;
            weight_error = full ? 0 : p->gain * s_error + 3 * epsilon * weight;
            break;
        }
        case FARLANDS_HYBRID: {
            double s = a * (n[k].n + p->offset);
            double s_error = a * (n[k].error + 2 * epsilon * fabs(n[k].n + p->offset));
            term = weight * s;
            term_error = fabs(weight) * s_error + fabs(s) * weight_error + s_error * weight_error;
            weight = fmin(term, 1);
            bool full = (term - term_error) * (1 - 4 * epsilon) >= 1;
            weight_error = full ? 0 : term_error + epsilon * fabs(weight);
            break;
        }
        }
        total += a;
        sum += term;
        error += term_error + epsilon * (2 * fabs(term) + fabs(sum));
    }
    return (struct reference_value){sum / total, error / total + 2 * epsilon * fabs(sum / total)};
}

static inline bool reference_any_float(const struct reference_noise *r)
{
    return reference_in_float(&r->octave[r->octaves - 1]);
}

/* The noise, before the elevation curve, at a place in units. */
static inline struct reference_value reference_noise_at(const struct reference_noise *r, int64_t x,
                                                        int64_t y)
{
    struct reference_place px = {x, 0}, py = {y, 0};
    double moved_error = 0;
    if (r->params.warp.amplitude > 0) {
        double amplitude = (double)r->params.warp.amplitude;
        struct reference_place still_x = px, still_y = py;
        px.moved = amplitude * reference_perlin(r, &r->warp[0], still_x, still_y);
        py.moved = amplitude * reference_perlin(r, &r->warp[1], still_x, still_y);
        moved_error = amplitude * reference_rounding(FARLANDS_PERLIN, &r->warp[0]);
    }
    struct reference_value n[FARLANDS_MAX_OCTAVES];
    for (int k = 0; k < r->octaves; k++)
        n[k] = reference_octave_at(r, &r->octave[k], px, py, moved_error);
    return reference_fractal(r, n, reference_any_float(r) ? 0x1p-24 : 0x1p-52);
}

/* The gradients of Improving Noise: + or - an axis, the edges of a cube and of a hypercube. */
static inline double reference_dot_1d(int index, const double f[])
{
    return index & 1 ? -f[0] : f[0];
}

static inline double reference_dot_3d(int index, const double f[])
{
    int h = index & 15;
    double u = h < 8 ? f[0] : f[1];
    double v = h < 4 ? f[1] : h == 12 || h == 14 ? f[0] : f[2];
    return (h & 1 ? -u : u) + (h & 2 ? -v : v);
}

/* Each group of eight leaves out one axis, from the last to the first; three signs. */
static inline double reference_dot_4d(int index, const double f[])
{
    int out = 3 - (index >> 3 & 3), bit = 1;
    double sum = 0;
    for (int axis = 0; axis < 4; axis++) {
        if (axis == out)
            continue;
        sum += index & bit ? -f[axis] : f[axis];
        bit *= 2;
    }
    return sum;
}

/* One octave of Perlin noise in 1 to 4 dimensions: 2, 4, 8 or 16 corners, interpolated axis by
 * axis. */
static inline double reference_perlin_in(const struct reference_noise *r,
                                         const struct reference_octave *o, int dimensions,
                                         const int64_t place[])
{
    struct reference_split split[REFERENCE_AXES] = {{0, 0}};
    for (int axis = 0; axis < dimensions; axis++)
        split[axis] = reference_split((struct reference_place){place[axis], 0}, o->shift[axis],
                                      axis == 2 && o->height ? o->height : o->wavelength);
    double value[1 << REFERENCE_AXES];
    int corners = 1 << dimensions;
    for (int corner = 0; corner < corners; corner++) {
        int64_t cell[REFERENCE_AXES];
        double f[REFERENCE_AXES];
        for (int axis = 0; axis < dimensions; axis++) {
            int far = corner >> axis & 1;
            cell[axis] = split[axis].cell + far;
            f[axis] = split[axis].f - far;
        }
        int index = reference_index(r, o, dimensions, cell);
        value[corner] = dimensions == 1   ? reference_dot_1d(index, f)
                        : dimensions == 2 ? reference_dot(r->params.gradients, index, f[0], f[1])
                        : dimensions == 3 ? reference_dot_3d(index, f)
                                          : reference_dot_4d(index, f);
    }
    for (int axis = 0; axis < dimensions; axis++) {
        double t = reference_fade(r->params.fade, split[axis].f);
        corners /= 2;
        for (int c = 0; c < corners; c++)
            value[c] = reference_lerp(t, value[2 * c], value[2 * c + 1]);
    }
    return value[0];
}

/* The terrain's Perlin noise in 1 to 4 dimensions; ROUNDING is the error of each octave. */
static inline struct reference_value reference_noise_in(const struct reference_noise *r,
                                                        int dimensions, const int64_t place[],
                                                        double rounding)
{
    struct reference_value n[FARLANDS_MAX_OCTAVES];
    for (int k = 0; k < r->octaves; k++)
        n[k] = (struct reference_value){reference_perlin_in(r, &r->octave[k], dimensions, place),
                                        rounding};
    return reference_fractal(r, n, 0x1p-52);
}

/* The elevation curve: linear between knots, constant beyond both ends. */
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

#endif
