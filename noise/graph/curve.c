#include "curve.h"

#include <float.h>
#include <math.h>

/* Derivatives at the knots that make a cubic curve monotone in between: Fritsch and Butland, "A
 * Method for Constructing Local Monotone Piecewise Cubic Interpolants" (1984). 0 at both ends, so
 * that the curve joins the constants beyond them. */
static double derivative_at(const struct farlands_knot *knot, int knots, int i)
{
    if (i == 0 || i == knots - 1)
        return 0;
    const double before = (double)knot[i].noise - knot[i - 1].noise;
    const double after = (double)knot[i + 1].noise - knot[i].noise;
    const double left = ((double)knot[i].metres - knot[i - 1].metres) / before;
    const double right = ((double)knot[i + 1].metres - knot[i].metres) / after;
    if (left * right <= 0)
        return 0;
    const double share = (before + 2 * after) / (3 * (before + after));
    return left * right / (share * right + (1 - share) * left);
}

static void make_piece(struct curve *curve, const struct farlands_knot *knot, int knots, int i)
{
    const double width = (double)knot[i + 1].noise - knot[i].noise;
    const double rise = (double)knot[i + 1].metres - knot[i].metres;
    /* A slope beyond FLT_MAX is as good as infinite, because values stop at the curve's ends. */
    const double slope = fmax(-FLT_MAX, fmin(rise / width, FLT_MAX));
    curve->from[i] = knot[i].noise;
    curve->base[i] = knot[i].metres;
    /* Volatile, because gcc 12 at -O3 mistakes (double)(float)slope for slope. */
    const volatile float rounded = (float)slope;
    curve->slope[i] = rounded;
    curve->slope_rest[i] = (float)(slope - (double)rounded);
    const double d0 = width * derivative_at(knot, knots, i);
    const double d1 = width * derivative_at(knot, knots, i + 1);
    curve->inverse[i] = (float)fmin(1 / width, FLT_MAX);
    curve->rise[0][i] = (float)d0;
    curve->rise[1][i] = (float)(3 * rise - 2 * d0 - d1);
    curve->rise[2][i] = (float)(d0 + d1 - 2 * rise);
}

void curve_make(struct curve *curve, const struct farlands_knot *knot, int knots, bool cubic)
{
    *curve = (struct curve){.pieces = knots - 1, .cubic = cubic};
    while (curve->half * 2 < (uint32_t)curve->pieces)
        curve->half = curve->half ? curve->half * 2 : 1;
    for (int i = 0; i < FARLANDS_MAX_KNOTS; i++)
        curve->from[i] = INFINITY;
    curve->first = knot[0].noise;
    curve->last = knot[knots - 1].noise;
    curve->lowest = curve->highest = knot[0].metres;
    for (int i = 0; i < curve->pieces; i++) {
        make_piece(curve, knot, knots, i);
        curve->lowest = fminf(curve->lowest, knot[i + 1].metres);
        curve->highest = fmaxf(curve->highest, knot[i + 1].metres);
    }
}
