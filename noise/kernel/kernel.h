/* The inner loops, once for each instruction set; the same bits from all. Private to noise/. */
#ifndef FARLANDS_KERNEL_H
#define FARLANDS_KERNEL_H

#include "noise/terrain.h"

struct kernel {
    const char *name;
    bool (*supported)(void);
    /* As farlands_heights, farlands_height, farlands_volume and farlands_density, for places
     * already checked. */
    void (*grid)(const struct farlands_terrain *terrain, struct farlands_scratch *scratch,
                 const struct farlands_grid *grid, float *out, size_t stride);
    float (*point)(const struct farlands_terrain *terrain, int64_t x, int64_t y);
    void (*volume)(const struct farlands_terrain *terrain, struct farlands_scratch *scratch,
                   const struct farlands_box *box, float *out);
    void (*density)(const struct farlands_terrain *terrain, struct farlands_scratch *scratch,
                    const struct farlands_box *box, float *out);
};

/* The fastest that this machine supports, or the one that the environment
 * variable FARLANDS_KERNEL names if the machine supports it. */
const struct kernel *kernel_choose(void);

#endif
