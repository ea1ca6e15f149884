/* Quantiles of measured values. Pure. */
#ifndef FARLANDS_DESCRIBE_QUANTILES_H
#define FARLANDS_DESCRIBE_QUANTILES_H

enum { QUANTILES = 5, QUANTILE_LOW = 0, QUANTILE_MEDIAN = 2, QUANTILE_HIGH = QUANTILES - 1 };

/* The share of the values that lies below each quantile: 0.1, 0.25, 0.5, 0.75, 0.9. */
extern const double quantile_shares[QUANTILES];

struct quantiles {
    double value[QUANTILES];
};

/*
 * Returns the quantiles of COUNT values, which are sorted in place. Between two values a quantile
 * is interpolated linearly. INFINITY is allowed, as the greatest value. All are NAN if COUNT is 0.
 */
struct quantiles quantiles_of(float *values, int count);

/* The quantile below which SHARE of the values lies, 0 to 1. Otherwise like quantiles_of. */
double quantile_of(float *values, int count, double share);

#endif
