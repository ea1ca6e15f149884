/*
 * Rivers over a drainage: how far a place is from water, and how the ground follows the beds.
 * Private to noise/.
 *
 * A course leads from node to node (drain.h). Between the middles of two of its edges it is a
 * quadratic curve, with the node between them as its third point, so it has no corners. Straight
 * pieces stand in for the curve; their ends are moved by a smooth noise, the meanders. The level of
 * the water is the same curve through the beds.
 *
 * Order is 1 + log2 of the length upstream, in spacings of the last level, straight between powers
 * of two: a river of order 3 is 4 spacings long. Width and depth grow by a factor for each order.
 */
#ifndef FARLANDS_RIVERS_H
#define FARLANDS_RIVERS_H

#include "drain.h"
#include "noise/kernel/kernel.h"
#include "noise/kernel/scratch.h"
#include "rivers_params.h"

/* Valleys change nothing farther away, in metres. */
enum { RIVERS_REACH = 1024 };

/* Rivers of one world, and what was computed of them, within a fixed memory. For one thread. */
struct rivers;

/* Returns 0 or -ENOMEM. GROUND and CONTEXT as for drain_new; PARAMS are copied. */
int rivers_new(struct rivers **out, const struct rivers_params *params, const struct kernel *kernel,
               drain_ground *ground, void *context);
void rivers_free(struct rivers *rivers);

/*
 * Find the water near the samples of CHUNK; or, for rivers_carve, valleys and floors.
 * BAND_LIMIT: the distance of samples in a picture, which leaves out levels of the drainage that it
 * cannot show; 0: none. Kept until the next call. Returns 0 or what the ground returns.
 */
int rivers_find_near(struct rivers *rivers, const struct chunk *chunk, int64_t band_limit);
int rivers_find_valleys(struct rivers *rivers, const struct chunk *chunk, int64_t band_limit);

/* ROWS rows from J on, WIDTH samples each, of what was found. */

/* Metres from the edge of the nearest water, below 0 in it; at most RIVERS_NEAR. */
void rivers_bank(const struct rivers *rivers, int j, int rows, int width, struct rows out);
/* The level of the water; RIVERS_DRY on land. */
void rivers_water(const struct rivers *rivers, int j, int rows, int width, struct rows out);
/* The order of the river; 0 on land. */
void rivers_order(const struct rivers *rivers, int j, int rows, int width, struct rows out);
/* The ground IN with the bed cut into it, and banks beside it. */
void rivers_channel(const struct rivers *rivers, int j, int rows, int width, struct rows in,
                    struct rows out);
/* The ground IN, filled where it is below the courses around it and cut down to valleys. */
void rivers_carve(const struct rivers *rivers, int j, int rows, int width, struct rows in,
                  struct rows out);

#endif
