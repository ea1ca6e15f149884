#include "quantiles.h"

#include <math.h>
#include <stdlib.h>

const double quantile_shares[QUANTILES] = {0.1, 0.25, 0.5, 0.75, 0.9};

static int compare(const void *left, const void *right)
{
    const float a = *(const float *)left, b = *(const float *)right;
    return (a > b) - (a < b);
}

/* The value at PLACE, 0 .. COUNT - 1, interpolated between sorted VALUES. */
static double value_at(const float *values, double place)
{
    const int below = (int)place;
    const double low = (double)values[below], rest = place - below;
    const double high = rest > 0 ? (double)values[below + 1] : low;
    return high > low ? low + rest * (high - low) : low; /* not INFINITY - INFINITY */
}

static void sort(float *values, int count)
{
    if (count > 0)
        qsort(values, (size_t)count, sizeof values[0], compare);
}

/* The quantile of sorted VALUES. */
static double sorted_quantile(const float *values, int count, double share)
{
    return count > 0 ? value_at(values, share * (count - 1)) : (double)NAN;
}

struct quantiles quantiles_of(float *values, int count)
{
    struct quantiles quantiles;
    sort(values, count);
    for (int i = 0; i < QUANTILES; i++)
        quantiles.value[i] = sorted_quantile(values, count, quantile_shares[i]);
    return quantiles;
}

double quantile_of(float *values, int count, double share)
{
    sort(values, count);
    return sorted_quantile(values, count, share);
}
