/* How large rivers are, and the check of their parameters. */
#include "rivers_params.h"

#include "noise/exact/arithmetic.h"
#include "noise/fractal/params.h"

/* FIRST times FACTOR to the power ORDER - 1, linear between whole orders. */
static double by_order(double first, double factor, double order)
{
    if (order < 1)
        return order > 0 ? first * order : 0;
    int whole = 1;
    for (; whole + 1 <= order; whole++)
        first *= factor;
    return first * (1 + (order - whole) * (factor - 1));
}

double rivers_width(const struct rivers_params *params, double order)
{
    return by_order(params->width, params->widening, order);
}

double rivers_depth(const struct rivers_params *params, double order)
{
    return by_order(params->depth, params->deepening, order);
}

/* A bound: no river has a greater order. In a drain a course is up to 4 spacings long on the
 * broadest level. On each next level it has 4 times as many spacings and at most 4 more: less than
 * 4^(levels - 1) 16 / 3. */
static double greatest_order(const struct rivers_params *params)
{
    return params->halves ? RIVERS_MAX_ORDER : 2 * params->levels + 2;
}

double rivers_widest(const struct rivers_params *params)
{
    return rivers_width(params, greatest_order(params));
}

double rivers_deepest(const struct rivers_params *params)
{
    return rivers_depth(params, greatest_order(params));
}

const char *rivers_fault(const struct rivers_params *p, const char **key)
{
    *key = "levels";
    if (!p->halves && !(p->levels >= 2 && p->levels <= RIVERS_MAX_LEVELS))
        return "expected 2 to 5";
    *key = "spacing";
    if (!p->halves && (!(p->spacing >= FARLANDS_UNIT << (2 * p->levels + 4) &&
                         p->spacing <= FARLANDS_UNIT << 18) ||
                       (p->spacing & (p->spacing - 1)) != 0))
        return "expected a power of two, at most 262144 blocks, and at least 64 on the last level";
    *key = "width";
    if (!(rivers_widest(p) <= 2048))
        return "expected less, or a lesser widening: rivers could be wider than 2048 metres";
    return NULL;
}
