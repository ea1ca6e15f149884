/*
 * Fade, corner weights and fractals, in float or double.
 *
 * Parameter, required: REAL_IS_FLOAT, see real_begin.h.
 */
#include "real_begin.h"

/* Written like the minimum and maximum instructions of processors. */
static inline REAL REAL_NAME(clamp)(REAL x, REAL min, REAL max)
{
    x = x > min ? x : min;
    return x < max ? x : max;
}

static inline REAL REAL_NAME(fade)(enum farlands_fade fade, REAL t)
{
    switch (fade) {
    case FARLANDS_LINEAR:
        return t;
    case FARLANDS_CUBIC:
        return t * t * (3 - 2 * t);
    case FARLANDS_QUINTIC:
        break;
    }
    return t * t * t * (t * (t * 6 - 15) + 10);
}

/*
 * The weights of a cell's two corners along one axis, at fraction F. Q: for values, and for the
 * gradients' other components. P: for the gradients' component along this axis, with the distance
 * from the corner as a factor. AMPLITUDE is a factor in all.
 */
static inline void REAL_NAME(corner_weights)(enum farlands_fade fade, double f, REAL amplitude,
                                             REAL p[2], REAL q[2])
{
    const REAL t = (REAL)f, u = REAL_NAME(fade)(fade, t);
    q[0] = amplitude * (1 - u);
    q[1] = amplitude * u;
    p[0] = q[0] * t;
    p[1] = q[1] * (t - 1);
}

static inline REAL REAL_NAME(fade_slope)(enum farlands_fade fade, REAL t)
{
    switch (fade) {
    case FARLANDS_LINEAR:
        return 1;
    case FARLANDS_CUBIC:
        return 6 * t * (1 - t);
    case FARLANDS_QUINTIC:
        break;
    }
    return 30 * t * t * (t * (t - 2) + 1);
}

/* The weights' derivatives per cell, with amplitude 1. */
static inline void REAL_NAME(corner_slopes)(enum farlands_fade fade, double f, REAL p[2], REAL q[2])
{
    const REAL t = (REAL)f, u = REAL_NAME(fade)(fade, t), slope = REAL_NAME(fade_slope)(fade, t);
    q[0] = -slope;
    q[1] = slope;
    p[0] = 1 - u - slope * t;
    p[1] = u + slope * (t - 1);
}

/*
 * For fractals that are more than a sum: add VALUE, one octave's noise at N samples, to SUM, the
 * octaves before. WEIGHT is what a sample's octaves so far give the next one, 1 at first.
 * BAND_LIMIT is this octave's weight (1: none); its mean replaces the rest.
 */
static inline void REAL_NAME(add_fractal)(const struct noise *noise, const struct octave *octave,
                                          double band_limit, int n, const REAL *restrict value,
                                          REAL *restrict sum, REAL *restrict weight)
{
    const struct moments *m = &noise->moments;
    const double faded = 1 - band_limit;
    const REAL limit = (REAL)band_limit, offset = (REAL)noise->offset;
    if (noise->fractal == FARLANDS_BILLOW) {
        const REAL share = (REAL)(octave->amplitude / noise->amplitude);
        const REAL mean = (REAL)(faded * m->absolute);
        for (int i = 0; i < n; i++)
            sum[i] = REAL_FMA(share, REAL_FMA(limit, REAL_ABS(value[i]), mean), sum[i]);
    } else if (noise->fractal == FARLANDS_RIDGED) {
        const REAL share = (REAL)(octave->amplitude / noise->amplitude);
        const REAL gain = (REAL)noise->gain;
        const REAL mean = (REAL)(faded * m->ridge), spread = (REAL)(faded * m->ridge_spread);
        for (int i = 0; i < n; i++) {
            const REAL ridge = offset - REAL_ABS(value[i]);
            const REAL signal = REAL_FMA(limit, ridge * ridge, mean);
            sum[i] = REAL_FMA(share, weight[i] * signal, sum[i]);
            const REAL next = gain * (weight[i] * signal);
            /* The mean of clamped weights is not the clamped mean: average the weights one standard
             * deviation above and below. */
            const REAL gap = gain * (weight[i] * spread);
            const REAL high = next + gap < 1 ? next + gap : 1;
            const REAL low = next - gap > 0 ? next - gap : 0;
            const REAL mean_weight = (high + (low < 1 ? low : 1)) * (REAL)0.5;
            weight[i] = spread == 0 ? (next < 1 ? next : 1) : mean_weight;
        }
    } else {
        const REAL amplitude = (REAL)octave->amplitude, mean = (REAL)(faded * m->mean);
        for (int i = 0; i < n; i++) {
            const REAL signal =
                weight[i] * (amplitude * (REAL_FMA(limit, value[i], mean) + offset));
            sum[i] += signal;
            weight[i] = signal < 1 ? signal : 1;
        }
    }
}

#include "real_end.h"
