/* A graph's noises with their derivatives, plainly, at one place. Private to noise/. */
#ifndef FARLANDS_NOISE_DUAL_H
#define FARLANDS_NOISE_DUAL_H

#include "noise/exact/dual.h"
#include "noise/graph/program.h"

/* A place, and a displacement from it in units, which may depend on the place. */
struct moved_place {
    int64_t x, y;
    struct dual by_x, by_y;
};

/* NOISE at PLACE, before its curve. */
struct dual noise_dual(const struct noise *noise, struct moved_place place);

/* GRAPH_DAMPED and GRAPH_ERODE: see operations.def. IN: slopes along x and y, and the mask. */
struct dual damped_dual(const struct operation *operation, int64_t x, int64_t y);
struct dual gullies_dual(const struct operation *operation, int64_t x, int64_t y,
                         const struct dual in[3]);

#endif
