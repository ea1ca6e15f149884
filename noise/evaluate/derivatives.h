/* Derivatives of fields at places, analytically. Private to noise/. */
#ifndef FARLANDS_DERIVATIVES_H
#define FARLANDS_DERIVATIVES_H

#include "noise/evaluate/patch.h"
#include "noise/exact/dual.h"
#include "noise/graph/program.h"

/* Set which operations derivatives_at goes through for OPERATION: itself and all that it needs,
 * without those below lattices. */
void derivatives_need(const struct program *program, int operation, bool needed[GRAPH_MAX_NODES]);

/* False if one of the NEEDED operations is of rivers, which have no formula. */
bool derivatives_exist(const struct program *program, const bool needed[GRAPH_MAX_NODES]);

/*
 * OPERATION's value and derivatives at (X, Y), if they exist, one after the other through the
 * NEEDED operations. PATCH has the patches of their lattices, which cover the place. Values are
 * close to those of kernels, which compute in float. Where a field has a kink (abs, min, max,
 * clamp, the ends and knots of curves, cellular and billow noise), it is one of the two sides'
 * derivatives.
 */
struct dual derivatives_at(const struct program *program, struct patch *const *patch,
                           const bool needed[GRAPH_MAX_NODES], int operation, int64_t x, int64_t y);

#endif
