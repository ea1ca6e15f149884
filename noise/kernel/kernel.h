/*
 * The interface of the kernels: the inner loops, compiled once for each instruction set. All give
 * the same bits. Private to noise/.
 */
#ifndef FARLANDS_KERNEL_H
#define FARLANDS_KERNEL_H

#include "noise/terrain.h"

struct kernel {
    const char *name;
    /* True if this machine has the instructions. */
    bool (*supported)(void);
    /* As farlands_heights, farlands_height, farlands_volume and farlands_density; the caller has
     * checked the bounds. */
    void (*heights)(const struct farlands_terrain *terrain, struct farlands_scratch *scratch,
                    const struct farlands_grid *grid, float *out, size_t stride);
    float (*height)(const struct farlands_terrain *terrain, int64_t x, int64_t y);
    void (*volume)(const struct noise *noise, struct farlands_scratch *scratch,
                   const struct farlands_box *box, float *out);
    void (*density)(const struct farlands_terrain *terrain, struct farlands_scratch *scratch,
                    const struct farlands_box *box, float *out);
};

/* The fastest kernel that this machine supports, or the one that the environment variable
 * FARLANDS_KERNEL names; NULL if this machine does not support that one. */
const struct kernel *kernel_choose(void);

#endif
