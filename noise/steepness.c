/* How steep fields are on average: one formula for each kind of operation. */
#include "steepness.h"

#include <math.h>

static double spread(const struct operation *o)
{
    return (double)o->high - (double)o->low;
}

/* SLOPE after CURVE, which rises evenly on average; NULL: none. */
static double bent(double slope, const struct curve *curve)
{
    if (!curve)
        return slope;
    return slope * ((double)curve->highest - (double)curve->lowest) /
           ((double)curve->last - (double)curve->first);
}

/* The slope of a ramp of 1 over WIDTH, of a field with slope A and values in SPREAD: only places on
 * the ramp have one. */
static double ramp(double a, double width, double spread)
{
    return width < spread ? a / sqrt(width * spread) : a / width;
}

static double mean_square(double a, double b)
{
    return sqrt((a * a + b * b) / 2);
}

static double gullies(const struct operation *o, const struct operation *mask, int64_t step)
{
    const double depth = (double)o->number[0] * fmax(fabs((double)mask->low), (double)mask->high);
    double square = 0;
    for (int k = 0; k < o->noise->octaves; k++) {
        const double slope = octave_gully_limit(&o->noise->octave[k], step) * depth;
        square += slope * slope;
    }
    return sqrt(square);
}

static double of_operation(const struct operation *o, const struct operation *all,
                           const double *slope, int64_t step)
{
    const struct operation *a = &all[o->input[0]], *b = &all[o->input[1]];
    const double p = (double)o->number[0], q = (double)o->number[1];
    const double sa = slope[o->input[0]], sb = slope[o->input[1]], sc = slope[o->input[2]];
    switch (o->kind) {
    case GRAPH_NOISE:
    case GRAPH_DAMPED:
        return bent(noise_slope(o->noise, step), o->curve);
    case GRAPH_ADD:
    case GRAPH_SUBTRACT:
        return hypot(sa, sb);
    case GRAPH_MULTIPLY:
        return hypot(sa * fmax(fabs((double)b->low), fabs((double)b->high)),
                     sb * fmax(fabs((double)a->low), fabs((double)a->high))) /
               2;
    case GRAPH_MIN:
    case GRAPH_MAX:
    case GRAPH_SMOOTH_MIN:
    case GRAPH_SMOOTH_MAX:
        return mean_square(sa, sb);
    case GRAPH_MIX:
        return hypot(mean_square(sa, sb), sc * fmax(spread(a), spread(b)) / 2);
    case GRAPH_SPLINE:
        return bent(sa, o->curve);
    case GRAPH_STEP:
        return ramp(sa, fabs(q - p), spread(a));
    case GRAPH_RIDGE:
        return ramp(sa, 2 * p, spread(a)) * 2;
    case GRAPH_ABS:
    case GRAPH_CLAMP:
    case GRAPH_TERRACE:
    case GRAPH_LATTICE:
        return sa;
    case GRAPH_DRAIN:
        return mean_square(sa, o->rivers->slope);
    case GRAPH_BASE_LEVEL:
        return sa;
    case GRAPH_BANK:
        return 1;
    case GRAPH_CHANNEL:
        return sa;
    case GRAPH_ERODE:
        return gullies(o, &all[o->input[2]], step);
    case GRAPH_CONSTANT:
    case GRAPH_SLOPE_X:
    case GRAPH_SLOPE_Y:
    case GRAPH_BIOME:
    case GRAPH_WATER:
    case GRAPH_RIVER:
        break;
    }
    return 0;
}

double steepness(const struct program *program, int operation, int64_t step)
{
    double slope[GRAPH_MAX_NODES] = {0};
    for (int k = 0; k <= operation; k++)
        slope[k] = of_operation(&program->operation[k], program->operation, slope, step);
    return slope[operation];
}
