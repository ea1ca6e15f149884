/* Derivatives of fields at places, analytically. Private to noise/. */
#ifndef FARLANDS_DERIVATIVES_H
#define FARLANDS_DERIVATIVES_H

#include "noise/evaluate/patch.h"
#include "noise/exact/dual.h"
#include "noise/graph/program.h"

/* Mark in NEEDED the operations that derivatives_at computes for OPERATION: itself and everything
 * that it depends on, down to lattices. */
void derivatives_need(const struct program *program, int operation, bool needed[GRAPH_MAX_NODES]);

/* False if a NEEDED operation reads rivers, which have no formula. */
bool derivatives_exist(const struct program *program, const bool needed[GRAPH_MAX_NODES]);

/*
 * OPERATION's value and derivatives at (X, Y), if they exist, by way of the NEEDED operations.
 * PATCH has the patches for their lattices, and they cover the place. Kernels compute in float, so
 * their values are close to these, but not equal. At a kink in a field (abs, min, max, clamp, a
 * curve's ends and knots, cellular and billow noise) the result is the derivative on one side.
 */
struct dual derivatives_at(const struct program *program, struct patch *const *patch,
                           const bool needed[GRAPH_MAX_NODES], int operation, int64_t x, int64_t y);

#endif
