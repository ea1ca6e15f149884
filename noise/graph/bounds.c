/* Bounds of the values of an operation, by interval arithmetic. */
#include "bounds.h"

#include <math.h>

#include "noise/fractal/basis.h"

/* Bounds, a little further apart than arithmetic gives them, for rounding. */
static void set_bounds(struct operation *o, double low, double high)
{
    const double size = fmax(fabs(low), fabs(high));
    const double margin = fmax(1e-5 * size, size > 0 ? 1e-40 : 0); /* tiny floats have few digits */
    o->low = (float)(low - margin);
    o->high = (float)(high + margin);
}

static double squared_length(const struct gradient_set *set, int i)
{
    return (double)set->x[i] * set->x[i] + (double)set->y[i] * set->y[i];
}

/* Bounds of one octave: Perlin noise is largest in the middle of a cell, at sqrt(1/2) times the
 * length of its gradients. */
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

static void noise_bounds(struct operation *o)
{
    const struct noise *noise = o->noise;
    const double bound = octave_bound(noise), offset = noise->offset;
    if (o->curve) {
        o->low = o->curve->lowest;
        o->high = o->curve->highest;
        return;
    }
    switch (noise->fractal) {
    case FARLANDS_NONE:
    case FARLANDS_FBM:
        set_bounds(o, -bound, bound);
        break;
    case FARLANDS_BILLOW:
        set_bounds(o, -1, 2 * bound - 1);
        break;
    case FARLANDS_RIDGED:
        set_bounds(o, 0, fmax(offset * offset, (bound - offset) * (bound - offset)));
        break;
    case FARLANDS_HYBRID:
        set_bounds(o, -bound - offset, bound + offset);
        break;
    }
}

static void product_bounds(struct operation *o, const struct operation *a,
                           const struct operation *b)
{
    const double p = (double)a->low * b->low, q = (double)a->low * b->high;
    const double r = (double)a->high * b->low, s = (double)a->high * b->high;
    set_bounds(o, fmin(fmin(p, q), fmin(r, s)), fmax(fmax(p, q), fmax(r, s)));
}

/* a + c (b - a): at a corner of the box of its inputs' bounds. */
static void mix_bounds(struct operation *o, const struct operation *a, const struct operation *b,
                       const struct operation *c)
{
    double low = INFINITY, high = -INFINITY;
    for (int i = 0; i < 8; i++) {
        const double x = (double)(i & 1 ? a->high : a->low), y = (double)(i & 2 ? b->high : b->low);
        const double value = x + (double)(i & 4 ? c->high : c->low) * (y - x);
        low = value < low ? value : low; /* at fmin, gcc 12 fails for aarch64 */
        high = value > high ? value : high;
    }
    set_bounds(o, low, high);
}

static void biome_bounds(struct operation *o)
{
    o->low = o->high = o->biomes->biome[0].id;
    for (int i = 1; i < o->biomes->count; i++) {
        o->low = fminf(o->low, o->biomes->biome[i].id);
        o->high = fmaxf(o->high, o->biomes->biome[i].id);
    }
}

static void river_bounds(struct operation *o, const struct operation *all)
{
    /* Beds may be that far above all ground: each of up to 2^12 nodes on a way to an end lake adds
     * a little. */
    static const double ABOVE = 20;
    const struct operation *a = &all[o->input[0]];
    if (o->river_source < 0)
        return;
    const struct operation *source = &all[o->river_source];
    const struct rivers_params *p = o->kind == GRAPH_DRAIN ? o->rivers : source->rivers;
    const double highest = fmax((double)all[source->input[0]].high, 0) + ABOVE;
    switch (o->kind) {
    case GRAPH_DRAIN:
        set_bounds(o, fmin((double)a->low, 0) - 10, highest);
        break;
    case GRAPH_BASE_LEVEL:
        set_bounds(o, 0, highest);
        break;
    case GRAPH_BANK:
        set_bounds(o, -rivers_widest(p) / 2, RIVERS_NEAR);
        break;
    case GRAPH_WATER:
        set_bounds(o, (double)RIVERS_DRY, highest);
        break;
    case GRAPH_RIVER:
        set_bounds(o, 0, RIVERS_MAX_ORDER);
        break;
    default:
        set_bounds(o, fmin((double)a->low, -rivers_deepest(p) - 10),
                   fmax((double)a->high, highest + 300));
    }
}

void bounds_find(struct operation *o, const struct operation *all)
{
    const struct operation *a = &all[o->input[0]], *b = &all[o->input[1]];
    const double p = (double)o->number[0];
    switch (o->kind) {
    case GRAPH_NOISE:
        noise_bounds(o);
        break;
    case GRAPH_CONSTANT:
        o->low = o->high = o->number[0];
        break;
    case GRAPH_ADD:
        set_bounds(o, (double)a->low + b->low, (double)a->high + b->high);
        break;
    case GRAPH_SUBTRACT:
        set_bounds(o, (double)a->low - b->high, (double)a->high - b->low);
        break;
    case GRAPH_MULTIPLY:
        product_bounds(o, a, b);
        break;
    case GRAPH_MIN:
        o->low = fminf(a->low, b->low);
        o->high = fminf(a->high, b->high);
        break;
    case GRAPH_MAX:
        o->low = fmaxf(a->low, b->low);
        o->high = fmaxf(a->high, b->high);
        break;
    case GRAPH_SMOOTH_MIN:
        set_bounds(o, (double)fminf(a->low, b->low) - p / 4, (double)fminf(a->high, b->high));
        break;
    case GRAPH_SMOOTH_MAX:
        set_bounds(o, (double)fmaxf(a->low, b->low), (double)fmaxf(a->high, b->high) + p / 4);
        break;
    case GRAPH_ABS:
        o->low = a->low > 0 ? a->low : a->high < 0 ? -a->high : 0;
        o->high = fmaxf(fabsf(a->low), fabsf(a->high));
        break;
    case GRAPH_CLAMP:
        o->low = o->number[0];
        o->high = o->number[1];
        break;
    case GRAPH_MIX:
        mix_bounds(o, a, b, &all[o->input[2]]);
        break;
    case GRAPH_SPLINE:
        o->low = o->curve->lowest;
        o->high = o->curve->highest;
        break;
    case GRAPH_STEP:
    case GRAPH_RIDGE:
        o->low = 0;
        o->high = 1;
        break;
    case GRAPH_TERRACE:
        set_bounds(o, p * floor((double)a->low / p), p * ceil((double)a->high / p));
        break;
    case GRAPH_LATTICE:
        set_bounds(o, (double)a->low, (double)a->high);
        break;
    case GRAPH_SLOPE_X:
    case GRAPH_SLOPE_Y: {
        const double blocks = (double)lattice_spacing(a) / FARLANDS_UNIT;
        const double slope = ((double)a->high - a->low) / blocks;
        set_bounds(o, -slope, slope);
        break;
    }
    case GRAPH_DAMPED:
        set_bounds(o, -octave_bound(o->noise), octave_bound(o->noise));
        break;
    case GRAPH_ERODE: {
        const struct operation *c = &all[o->input[2]];
        double deepest = 0;
        for (int k = 0; k < o->noise->octaves; k++)
            deepest += (double)o->noise->octave[k].wavelength / FARLANDS_UNIT;
        deepest *= 1.001 * p * (double)fmaxf(fabsf(c->low), fabsf(c->high));
        set_bounds(o, -deepest, deepest);
        break;
    }
    case GRAPH_BIOME:
        biome_bounds(o);
        break;
    case GRAPH_DRAIN:
    case GRAPH_BASE_LEVEL:
    case GRAPH_BANK:
    case GRAPH_WATER:
    case GRAPH_RIVER:
    case GRAPH_CHANNEL:
        river_bounds(o, all);
        break;
    }
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
