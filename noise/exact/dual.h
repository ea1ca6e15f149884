/*
 * Dual numbers: a value and its derivatives along x and y, per block, carried through arithmetic
 * ("forward mode"). All in double, and without the C library's sine or power, because their last
 * bits differ between machines. Private to noise/.
 */
#ifndef FARLANDS_DUAL_H
#define FARLANDS_DUAL_H

#include <math.h>

struct dual {
    double v, x, y;
};

static inline struct dual dual_of(double v)
{
    return (struct dual){v, 0, 0};
}

static inline struct dual dual_add(struct dual a, struct dual b)
{
    return (struct dual){a.v + b.v, a.x + b.x, a.y + b.y};
}

static inline struct dual dual_subtract(struct dual a, struct dual b)
{
    return (struct dual){a.v - b.v, a.x - b.x, a.y - b.y};
}

static inline struct dual dual_multiply(struct dual a, struct dual b)
{
    return (struct dual){a.v * b.v, a.x * b.v + a.v * b.x, a.y * b.v + a.v * b.y};
}

/* FACTOR * A + SHIFT */
static inline struct dual dual_scale(struct dual a, double factor, double shift)
{
    return (struct dual){factor * a.v + shift, factor * a.x, factor * a.y};
}

/* A function at A, from its VALUE and its DERIVATIVE there. */
static inline struct dual dual_apply(struct dual a, double value, double derivative)
{
    return (struct dual){value, derivative * a.x, derivative * a.y};
}

static inline struct dual dual_divide(struct dual a, struct dual b)
{
    return dual_multiply(a, dual_apply(b, 1 / b.v, -1 / (b.v * b.v)));
}

/* The square root. Its derivative at 0 is infinite, and taken as 0. */
static inline struct dual dual_root(struct dual a)
{
    const double root = sqrt(a.v);
    return dual_apply(a, root, root > 0 ? 0.5 / root : 0);
}

static inline struct dual dual_absolute(struct dual a)
{
    return a.v < 0 ? dual_scale(a, -1, 0) : a;
}

static inline struct dual dual_least(struct dual a, struct dual b)
{
    return a.v < b.v ? a : b;
}

static inline struct dual dual_greatest(struct dual a, struct dual b)
{
    return a.v > b.v ? a : b;
}

static inline struct dual dual_clamp(struct dual a, double low, double high)
{
    return a.v < low ? dual_of(low) : a.v > high ? dual_of(high) : a;
}

/* t^2 (3 - 2 t) within 0 .. 1 */
static inline struct dual dual_smoothstep(struct dual t)
{
    t = dual_clamp(t, 0, 1);
    return dual_apply(t, t.v * t.v * (3 - 2 * t.v), 6 * t.v * (1 - t.v));
}

/* Sine and cosine at TURNS full turns: Taylor's series within half a turn, right to 1e-11. */
static inline void dual_turn(struct dual turns, struct dual *sine, struct dual *cosine)
{
    const double tau = 6.283185307179586, angle = tau * (turns.v - floor(turns.v + 0.5));
    const double square = angle * angle;
    double c = 1, s = 1;
    for (int k = 24; k >= 2; k -= 2) {
        c = 1 - square / (k * (k - 1)) * c;
        s = 1 - square / (k * (k + 1)) * s;
    }
    s *= angle;
    *sine = dual_apply(turns, s, tau * c);
    *cosine = dual_apply(turns, c, -tau * s);
}

#endif
