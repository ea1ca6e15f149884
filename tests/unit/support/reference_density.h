/*
 * Density, written from the formula in farlands.h as plainly as possible, in double: the
 * reference for terrain_density. The height is the library's own, which other tests check.
 */
#ifndef FARLANDS_REFERENCE_DENSITY_H
#define FARLANDS_REFERENCE_DENSITY_H

#include "tests/unit/support/reference_noise.h"

/* Density noise NUMBER (0 overhangs, 1 caverns, 2 and 3 tunnels) of R at PLACE. */
static inline double reference_space_noise(const struct reference_noise *r,
                                           const struct farlands_space_noise *noise, int number,
                                           const int64_t place[])
{
    const struct farlands_params *p = &r->params;
    double sum = 0, amplitudes = 0;
    for (int k = 0; k < noise->octaves; k++) {
        struct reference_octave o = {
            .wavelength = llround((double)noise->wavelength / pow(noise->lacunarity, k)),
            .amplitude = pow(noise->persistence, k),
        };
        const uint64_t first = 520 + 8 * (uint64_t)(16 * number + k);
        o.height = llround((double)o.wavelength / noise->squash);
        o.cells = p->period / o.wavelength;
        if (p->hash == FARLANDS_MIX64)
            reference_octave_draw(&o, p->seed, first, first + 4);
        else
            o.salt = 51 * (number + 1) + (p->octave_salt ? o.wavelength / FARLANDS_UNIT : 0);
        sum += o.amplitude * reference_perlin_in(r, &o, 3, place);
        amplitudes += o.amplitude;
    }
    return sum / amplitudes;
}

static inline double reference_within(double x, double low, double high)
{
    return fmin(fmax(x, low), high);
}

/* "open" in the formula, from a GROUND known to its error. */
static inline struct reference_value reference_open(struct reference_value ground, int64_t cover)
{
    const double blocks = (double)cover / FARLANDS_UNIT;
    if (cover == 0)
        return (struct reference_value){1, 0};
    return (struct reference_value){reference_within(ground.n / blocks, 0, 1),
                                    fmin(1, ground.error / blocks + 0x1p-22)};
}

/* The lesser of DENSITY and of caves at DISTANCE, which open by REACH. */
static inline struct reference_value reference_carve(struct reference_value ground,
                                                     struct reference_value distance, double reach,
                                                     int64_t cover, struct reference_value density)
{
    const struct reference_value open = reference_open(ground, cover);
    const double cave = distance.n - reach * open.n;
    const double error = distance.error + reach * open.error + (distance.n + reach) * 0x1p-22;
    if (ground.n <= (cover > 0 ? 0 : -reach))
        return density;
    return (struct reference_value){fmin(cave, density.n), fmax(error, density.error)};
}

static inline struct reference_value reference_density(const struct reference_noise *r,
                                                       float height, const int64_t place[])
{
    const struct farlands_volume_params *v = &r->params.volume;
    /* Of noise in float, as in reference_rounding, but with one more axis. */
    const double rounding = 0x1p-17;
    const double s = (double)((long double)height - (long double)place[2] / FARLANDS_UNIT);
    struct reference_value ground = {s, fabs(s) * 0x1p-22};
    const double amplitude = (double)v->overhangs.amplitude / FARLANDS_UNIT;
    if (fabs(s) < amplitude) {
        const double t = s / amplitude, q = v->overhangs.threshold;
        const double n = reference_space_noise(r, &v->overhangs.noise, 0, place);
        ground.n += amplitude * pow(1 - t * t, 2) * (n - reference_within(n, -q, q));
        ground.error += amplitude * rounding;
    }
    struct reference_value density = ground;
    if (v->caverns.size > 0) {
        const double scale = (double)v->caverns.noise.wavelength / FARLANDS_UNIT;
        const double n = reference_space_noise(r, &v->caverns.noise, 1, place);
        const struct reference_value distance = {scale * (1 - n), scale * rounding};
        density =
            reference_carve(ground, distance, scale * v->caverns.size, v->caverns.cover, density);
    }
    if (v->tunnels.radius > 0) {
        const double scale = (double)v->tunnels.noise.wavelength / FARLANDS_UNIT;
        const double a = reference_space_noise(r, &v->tunnels.noise, 2, place);
        const double b = reference_space_noise(r, &v->tunnels.noise, 3, place);
        const struct reference_value distance = {scale * hypot(a, b), 2 * scale * rounding};
        density = reference_carve(ground, distance, (double)v->tunnels.radius / FARLANDS_UNIT,
                                  v->tunnels.cover, density);
    }
    return density;
}

/* --- Generator 3 --- */

static inline double reference_share(const struct farlands_params *p, int64_t cells, int64_t column,
                                     int64_t row)
{
    const uint64_t key = lattice_random(p->seed, 520);
    if (cells > 0) {
        column = (column % cells + cells) % cells;
        row = (row % cells + cells) % cells;
    }
    return (double)((lattice_random(lattice_random(key, (uint64_t)column), (uint64_t)row) >> 40) +
                    1) *
           0x1p-24;
}

/* The ledge's density at PLACE, or -INFINITY. Heights are those of TERRAIN. */
static inline struct reference_value reference_ledge(const struct farlands_params *p,
                                                     const struct farlands_terrain *terrain,
                                                     const int64_t place[])
{
    const struct farlands_space_noise *noise = &p->volume.overhangs.noise;
    const int64_t square = noise->wavelength % 2 ? noise->wavelength : noise->wavelength / 2;
    const int64_t column = (int64_t)floorl((long double)place[0] / (long double)square);
    const int64_t row = (int64_t)floorl((long double)place[1] / (long double)square);
    const int64_t cells = p->period / square;
    const double share = reference_share(p, cells, column, row);
    if (p->volume.overhangs.amplitude == 0 || share < (float)p->volume.overhangs.threshold)
        return (struct reference_value){-INFINITY, 0};
    const int64_t x = column * square + square / 2, y = row * square + square / 2;
    const double dx = (double)(place[0] - x) / FARLANDS_UNIT;
    const double dy = (double)(place[1] - y) / FARLANDS_UNIT;
    const double reach = share *
                         fmin((double)p->volume.overhangs.amplitude / 2, 0.39 * (double)square) /
                         FARLANDS_UNIT;
    const double below = reach / noise->squash;
    const double skew = 1.5 * reference_share(p, cells, row, column) - 0.75;
    const double middle = (double)terrain_height(terrain, x, y) - below / 3 - 1;
    double up = (middle - (double)place[2] / FARLANDS_UNIT) / below;
    up *= up < 0 ? 3 : 1;
    const double out = (dx * dx + dy * dy + skew * dx * dy) / (reach * reach);
    const double far = 1 + (dx * dx + dy * dy) * 2 / (reach * reach) + up * up;
    /* middle is rounded to a float, and so is its distance. */
    const double moved = (fabs(middle) + 1) * 0x1p-22 / below;
    return (struct reference_value){below / 2 * (1 - out - up * up),
                                    below / 2 *
                                        (far * 0x1p-18 + 6 * moved * fabs(up) + 9 * moved * moved)};
}

static inline struct reference_value reference_ledge_density(const struct reference_noise *r,
                                                             const struct farlands_terrain *terrain,
                                                             float height, const int64_t place[])
{
    const struct farlands_volume_params *v = &r->params.volume;
    const double s = (double)((long double)height - (long double)place[2] / FARLANDS_UNIT);
    const struct reference_value ground = {s, fabs(s) * 0x1p-22};
    struct reference_value cave = {INFINITY, 0};
    if (v->caverns.size > 0) {
        const double scale = (double)v->caverns.noise.wavelength / FARLANDS_UNIT;
        const double n = reference_space_noise(r, &v->caverns.noise, 1, place);
        const int64_t cover =
            v->caverns.cover > 16 * FARLANDS_UNIT ? v->caverns.cover : 16 * FARLANDS_UNIT;
        cave = reference_carve(ground, (struct reference_value){scale * (1 - n), scale * 0x1p-17},
                               scale * v->caverns.size, cover, cave);
    }
    if (v->tunnels.radius > 0) {
        const double scale = (double)v->tunnels.noise.wavelength / FARLANDS_UNIT;
        const double a = reference_space_noise(r, &v->tunnels.noise, 2, place);
        const double b = reference_space_noise(r, &v->tunnels.noise, 3, place);
        const int64_t cover =
            v->tunnels.cover > 16 * FARLANDS_UNIT ? v->tunnels.cover : 16 * FARLANDS_UNIT;
        const struct reference_value tunnel =
            reference_carve(ground, (struct reference_value){scale * hypot(a, b), scale * 0x1p-16},
                            (double)v->tunnels.radius / FARLANDS_UNIT, cover,
                            (struct reference_value){INFINITY, 0});
        const double near = isinf(cave.n) ? 0 : fmax(0, 16 - fabs(cave.n - tunnel.n));
        cave = (struct reference_value){fmin(cave.n, tunnel.n) - near * near / 64,
                                        2 * (cave.error + tunnel.error)};
    }
    const struct reference_value ledge = reference_ledge(&r->params, terrain, place);
    return (struct reference_value){fmax(ledge.n, fmin(s, cave.n)),
                                    ground.error + cave.error + (isinf(ledge.n) ? 0 : ledge.error)};
}

#endif
