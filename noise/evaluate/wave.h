/*
 * GRAPH_WAVE_X and GRAPH_WAVE_Y: sines along an axis, the same everywhere across it. Computed in
 * double from whole units, so that a wave is as exact far from the origin as near it, and by a
 * polynomial, because the C library's sine differs between machines. Private to evaluate/.
 */
#ifndef FARLANDS_WAVE_H
#define FARLANDS_WAVE_H

#include "noise/exact/dual.h"
#include "noise/graph/program.h"
#include "noise/kernel/kernel.h"
#include "noise/kernel/scratch.h"

/* Wave O on ROWS rows of CHUNK from J on, in whole KERNEL_STEPs. BAND_LIMIT as in struct domain. */
void wave_band(const struct operation *o, const struct chunk *chunk, int64_t band_limit, int j,
               int rows, struct rows to);

/* The wave at (X, Y), in units, and its derivatives. */
struct dual wave_dual(const struct operation *o, int64_t x, int64_t y);

#endif
