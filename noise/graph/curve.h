/* Curves through knots: the elevation curve, and splines over any field. Private to noise/. */
#ifndef FARLANDS_CURVE_H
#define FARLANDS_CURVE_H

#include "noise/exact/arithmetic.h"
#include "noise/fractal/params.h"

struct curve_params {
    struct farlands_knot knot[FARLANDS_MAX_KNOTS]; /* whose noise ascends */
    int knots;                                     /* 2 or more */
    bool cubic; /* monotone cubic instead of linear between knots */
};

/*
 * Constant beyond both ends. On piece p, with v counted from where the piece begins,
 *
 *     linear   base + slope v
 *     cubic    base + t (rise[0] + t (rise[1] + t rise[2])), t = v / width
 */
struct curve {
    int pieces;
    bool cubic;
    uint32_t half; /* the greatest power of 2 below PIECES, or 0: where a binary search begins */
    /* Tables of 32 floats, the size that kernels look up. FROM is infinite beyond the last piece. A
     * slope is the sum of two floats, for more digits. */
    float from[FARLANDS_MAX_KNOTS], base[FARLANDS_MAX_KNOTS];
    float slope[FARLANDS_MAX_KNOTS], slope_rest[FARLANDS_MAX_KNOTS];
    float inverse[FARLANDS_MAX_KNOTS]; /* 1 / the piece's width */
    float rise[3][FARLANDS_MAX_KNOTS];
    float first, last;     /* the knots at both ends */
    float lowest, highest; /* values */
};

/* Make CURVE through KNOTS knots. */
void curve_make(struct curve *curve, const struct farlands_knot *knot, int knots, bool cubic);

#endif
