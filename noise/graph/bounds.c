/* Bounds for an operation's values, by interval arithmetic. */
#include "bounds.h"

#include <math.h>

#include "noise/fractal/basis.h"

struct bounds {
    float low, high;
};

/* Bounds with a margin for rounding. */
static struct bounds about(double low, double high)
{
    const double size = fmax(fabs(low), fabs(high));
    const double margin = fmax(1e-5 * size, size > 0 ? 1e-40 : 0); /* tiny floats have few digits */
    return (struct bounds){(float)(low - margin), (float)(high + margin)};
}

static struct bounds exactly(float low, float high)
{
    return (struct bounds){low, high};
}

static double squared_length(const struct gradient_set *set, int i)
{
    return (double)set->x[i] * set->x[i] + (double)set->y[i] * set->y[i];
}

/* The size of one octave. Perlin noise is largest in the middle of a cell, at sqrt(1/2) times its
 * gradients' length. */
static double octave_bound(const struct noise *noise)
{
    if (basis_of(noise->basis).corner != BASIS_GRADIENT)
        return 1;
    double length = 0; /* squared */
    for (int i = 0; i < 32; i++) {
        const double square = squared_length(&noise->gradients, i);
        length = square > length ? square : length; /* at fmax, gcc 12 fails for aarch64 */
    }
    return sqrt(length) * (noise->basis == FARLANDS_SIMPLEX ? 1 : 0.70711);
}

static struct bounds noise_bounds(const struct operation *o)
{
    const struct noise *noise = o->noise;
    const double bound = octave_bound(noise), offset = noise->offset;
    if (o->curve)
        return exactly(o->curve->lowest, o->curve->highest);
    switch (noise->fractal) {
    case FARLANDS_BILLOW:
        return about(-1, 2 * bound - 1);
    case FARLANDS_RIDGED:
        return about(0, fmax(offset * offset, (bound - offset) * (bound - offset)));
    case FARLANDS_HYBRID:
        return about(-bound - offset, bound + offset);
    case FARLANDS_NONE:
    case FARLANDS_FBM:
        break;
    }
    return about(-bound, bound);
}

static struct bounds erode_bounds(const struct operation *o, const struct operation *mask)
{
    double deepest = 0;
    for (int k = 0; k < o->noise->octaves; k++)
        deepest += (double)o->noise->octave[k].wavelength / FARLANDS_UNIT;
    deepest *= 1.001 * (double)o->number[0] * (double)fmaxf(fabsf(mask->low), fabsf(mask->high));
    return about(-deepest, deepest);
}

static struct bounds product_bounds(const struct operation *a, const struct operation *b)
{
    const double p = (double)a->low * b->low, q = (double)a->low * b->high;
    const double r = (double)a->high * b->low, s = (double)a->high * b->high;
    return about(fmin(fmin(p, q), fmin(r, s)), fmax(fmax(p, q), fmax(r, s)));
}

/* a + c (b - a) is largest and smallest at a corner of the box that its inputs' bounds span. */
static struct bounds mix_bounds(const struct operation *a, const struct operation *b,
                                const struct operation *c)
{
    double low = INFINITY, high = -INFINITY;
    for (int i = 0; i < 8; i++) {
        const double x = (double)(i & 1 ? a->high : a->low), y = (double)(i & 2 ? b->high : b->low);
        const double value = x + (double)(i & 4 ? c->high : c->low) * (y - x);
        low = value < low ? value : low; /* at fmin, gcc 12 fails for aarch64 */
        high = value > high ? value : high;
    }
    return about(low, high);
}

static struct bounds slope_bounds(const struct operation *lattice)
{
    const double blocks = (double)lattice_spacing(lattice) / FARLANDS_UNIT;
    const double slope = ((double)lattice->high - lattice->low) / blocks;
    return about(-slope, slope);
}

static struct bounds biome_bounds(const struct biomes *biomes)
{
    float low = biomes->biome[0].id, high = low;
    for (int i = 1; i < biomes->count; i++) {
        low = fminf(low, biomes->biome[i].id);
        high = fmaxf(high, biomes->biome[i].id);
    }
    return exactly(low, high);
}

static struct bounds river_bounds(const struct operation *o, const struct operation *all)
{
    /* How far a bed may be above all ground, in metres: a way to an end lake has up to 2^12 nodes,
     * and each adds a little. */
    static const double ABOVE = 20;
    const struct operation *a = &all[o->input[0]];
    if (o->river_source < 0)
        return exactly(0, 0); /* refused by program.c */
    const struct operation *source = &all[o->river_source];
    const struct rivers_params *p = o->kind == GRAPH_DRAIN ? o->rivers : source->rivers;
    const struct operation *ground =
        source->kind == GRAPH_DRAINAGE ? source : &all[source->input[0]];
    const double highest = fmax((double)ground->high, 0) + ABOVE;
    switch (o->kind) {
    case GRAPH_DRAIN:
        return about(fmin((double)a->low, 0) - 10, highest);
    case GRAPH_BASE_LEVEL:
        return about(0, highest);
    case GRAPH_BANK:
        return about(-rivers_widest(p) / 2, RIVERS_NEAR);
    case GRAPH_WATER:
        return about((double)RIVERS_DRY, highest);
    case GRAPH_RIVER:
        return about(0, RIVERS_MAX_ORDER);
    default:
        return about(fmin((double)a->low, -rivers_deepest(p) - 10),
                     fmax((double)a->high, highest + 300));
    }
}

/* Steps.c keeps the ground within them. Everest is 8849 m high. */
static struct bounds drainage_bounds(const struct operation *envelope)
{
    static const double RELIEF = 9000, HOLLOW = 400;
    return about(fmin((double)envelope->low, 0) - HOLLOW, fmax((double)envelope->high, 0) + RELIEF);
}

static struct bounds bounds_of(const struct operation *o, const struct operation *all)
{
    const struct operation *a = &all[o->input[0]], *b = &all[o->input[1]], *c = &all[o->input[2]];
    const double p = (double)o->number[0];
    switch (o->kind) {
    case GRAPH_NOISE:
        return noise_bounds(o);
    case GRAPH_WAVE_X:
    case GRAPH_WAVE_Y:
        return exactly(-1, 1);
    case GRAPH_CONSTANT:
        return exactly(o->number[0], o->number[0]);
    case GRAPH_ADD:
        return about((double)a->low + b->low, (double)a->high + b->high);
    case GRAPH_SUBTRACT:
        return about((double)a->low - b->high, (double)a->high - b->low);
    case GRAPH_MULTIPLY:
        return product_bounds(a, b);
    case GRAPH_MIN:
        return exactly(fminf(a->low, b->low), fminf(a->high, b->high));
    case GRAPH_MAX:
        return exactly(fmaxf(a->low, b->low), fmaxf(a->high, b->high));
    case GRAPH_SMOOTH_MIN:
        return about((double)fminf(a->low, b->low) - p / 4, (double)fminf(a->high, b->high));
    case GRAPH_SMOOTH_MAX:
        return about((double)fmaxf(a->low, b->low), (double)fmaxf(a->high, b->high) + p / 4);
    case GRAPH_ABS:
        return exactly(a->low > 0    ? a->low
                       : a->high < 0 ? -a->high
                                     : 0,
                       fmaxf(fabsf(a->low), fabsf(a->high)));
    case GRAPH_CLAMP:
        return exactly(o->number[0], o->number[1]);
    case GRAPH_MIX:
        return mix_bounds(a, b, c);
    case GRAPH_SPLINE:
        return exactly(o->curve->lowest, o->curve->highest);
    case GRAPH_STEP:
    case GRAPH_RIDGE:
        return exactly(0, 1);
    case GRAPH_TERRACE:
        return about(p * floor((double)a->low / p), p * ceil((double)a->high / p));
    case GRAPH_LATTICE:
        return about((double)a->low, (double)a->high);
    case GRAPH_SLOPE_X:
    case GRAPH_SLOPE_Y:
        return slope_bounds(a);
    case GRAPH_DAMPED:
        return about(-octave_bound(o->noise), octave_bound(o->noise));
    case GRAPH_ERODE:
        return erode_bounds(o, c);
    case GRAPH_BIOME:
        return biome_bounds(o->biomes);
    case GRAPH_DRAINAGE:
        return drainage_bounds(a);
    case GRAPH_DRAIN:
    case GRAPH_BASE_LEVEL:
    case GRAPH_BANK:
    case GRAPH_WATER:
    case GRAPH_RIVER:
    case GRAPH_CHANNEL:
        break;
    }
    return river_bounds(o, all);
}

void bounds_find(struct operation *o, const struct operation *all)
{
    const struct bounds bounds = bounds_of(o, all);
    o->low = bounds.low;
    o->high = bounds.high;
}

bool bounds_may_rest(const struct operation *o, const struct operation *all)
{
    const struct operation *a = &all[o->input[0]], *b = &all[o->input[1]];
    switch (o->kind) {
    case GRAPH_NOISE:
        return o->curve && (o->low == 0 || o->high == 0);
    case GRAPH_STEP:
    case GRAPH_RIDGE:
    case GRAPH_SPLINE:
    case GRAPH_CLAMP:
        return o->low == 0 || o->high == 0;
    case GRAPH_MIN:
    case GRAPH_MAX:
        return o->low == 0 || o->high == 0 || (a->rests && b->rests);
    case GRAPH_MULTIPLY:
        return a->rests || b->rests;
    case GRAPH_ADD:
    case GRAPH_SUBTRACT:
    case GRAPH_MIX:
        return a->rests && b->rests;
    case GRAPH_ABS:
    case GRAPH_LATTICE:
        return a->rests;
    case GRAPH_ERODE:
        return all[o->input[2]].rests;
    case GRAPH_RIVER:
        return true;
    default:
        return false;
    }
}
