/*
 * Formulas that kernels and single points share; farlands.h says what they are.
 * Included once with REAL float and once with REAL double.
 */

static inline REAL NAME(fade)(enum farlands_fade kind, REAL t)
{
    switch (kind) {
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
 * What the two corners of a cell count for at fraction f of an axis: q for their
 * values and for the gradients' other component, p for the component along the
 * axis, which is multiplied by the way from the corner.
 */
static inline void NAME(weigh_point)(enum farlands_fade kind, double f, REAL amplitude, REAL p[2],
                                     REAL q[2])
{
    const REAL t = (REAL)f, u = NAME(fade)(kind, t);
    q[0] = amplitude * (1 - u);
    q[1] = amplitude * u;
    p[0] = q[0] * t;
    p[1] = q[1] * (t - 1);
}

/* Join one octave's noise to the SUM of those before; WEIGHT is what the octave before gives. */
static inline void NAME(join)(const struct farlands_terrain *terrain, const struct octave *octave,
                              double band_limit, int n, const REAL *restrict noise,
                              REAL *restrict sum, REAL *restrict weight)
{
    const struct moments *m = &terrain->moments;
    const double faded = 1 - band_limit;
    const REAL limit = (REAL)band_limit, offset = (REAL)terrain->offset;
    if (terrain->fractal == FARLANDS_BILLOW) {
        const REAL share = (REAL)(octave->amplitude / terrain->amplitude);
        const REAL mean = (REAL)(faded * m->absolute);
        for (int i = 0; i < n; i++)
            sum[i] = FMA(share, FMA(limit, ABS(noise[i]), mean), sum[i]);
    } else if (terrain->fractal == FARLANDS_RIDGED) {
        const REAL share = (REAL)(octave->amplitude / terrain->amplitude);
        const REAL gain = (REAL)terrain->gain;
        const REAL mean = (REAL)(faded * m->ridge), spread = (REAL)(faded * m->ridge_spread);
        for (int i = 0; i < n; i++) {
            const REAL ridge = offset - ABS(noise[i]);
            const REAL signal = FMA(limit, ridge * ridge, mean);
            sum[i] = FMA(share, weight[i] * signal, sum[i]);
            const REAL next = gain * (weight[i] * signal);
            /* The mean of weights is not the weight of the mean: one above and one below it. */
            const REAL gap = gain * (weight[i] * spread);
            const REAL high = next + gap < 1 ? next + gap : 1;
            const REAL low = next - gap > 0 ? next - gap : 0;
            const REAL mean_weight = (high + (low < 1 ? low : 1)) * (REAL)0.5;
            weight[i] = spread == 0 ? (next < 1 ? next : 1) : mean_weight;
        }
    } else {
        const REAL amplitude = (REAL)octave->amplitude, mean = (REAL)(faded * m->mean);
        for (int i = 0; i < n; i++) {
            const REAL signal = weight[i] * (amplitude * (FMA(limit, noise[i], mean) + offset));
            sum[i] += signal;
            weight[i] = signal < 1 ? signal : 1;
        }
    }
}
