/*
 * Rivers and lakes over a drainage: how far a place is from water, and how the ground follows the
 * beds. Private to noise/.
 *
 * A course leads from node to node (drain.h) as a smooth curve (river_curves.h). The level of the
 * water is the same curve through the beds.
 *
 * Where beds are above the ground there is a hollow. Nodes in it weigh (1 - d^2 / r^2)^3 within r,
 * 1.6 spacings of the last level. Where their sum is above a limit the mean of their beds is the
 * level of a lake, and ground below it is the lake's. A dam rises around it where no hill does.
 *
 * Order is 1 + log2 of the length upstream, in spacings of the last level, straight between powers
 * of two: a river of order 3 is 4 spacings long. Width and depth grow by a factor for each order.
 */
#ifndef FARLANDS_RIVERS_H
#define FARLANDS_RIVERS_H

#include "noise/graph/rivers_params.h"
#include "noise/kernel/kernel.h"
#include "noise/kernel/river_rows.h"
#include "noise/water/drain.h"

/* Rivers of one world, and what was computed of them, within a fixed memory. For one thread. */
struct rivers;

/* Returns 0 or -ENOMEM. GROUND and CONTEXT as for drain_new; PARAMS are copied. */
int rivers_new(struct rivers **out, const struct rivers_params *params, const struct kernel *kernel,
               drain_ground *ground, void *context);
void rivers_free(struct rivers *rivers);

/* What they are made of. */
const struct rivers_params *rivers_params_of(const struct rivers *rivers);
struct drain *rivers_drain(struct rivers *rivers);

/* True if a course begins at NODE: nothing flows to it. NODE is in rows WIDE nodes long, with its
 * neighbours. */
bool rivers_is_source(const struct drain_node *node, int wide);

/* The water at a place on a course. */
struct rivers_here {
    float level; /* of the course, the joined river or the end lake that has the place; else 1e9 */
    bool is_lake;
};

/* The water at (X, Y), a place on a course, into *OUT. Returns 0 or what the ground does. What was
 * found before is forgotten. */
int rivers_look(struct rivers *rivers, int64_t x, int64_t y, struct rivers_here *out);

/*
 * Find the water near the samples of CHUNK; or, for rivers_carve, valleys and floors.
 * BAND_LIMIT: the distance of samples in a picture, which leaves out levels of the drainage that it
 * cannot show; 0: none. Kept until the next call. Returns 0 or what the ground returns.
 */
int rivers_find_near(struct rivers *rivers, const struct chunk *chunk, int64_t band_limit);
int rivers_find_valleys(struct rivers *rivers, const struct chunk *chunk, int64_t band_limit);

/* ROWS rows from J on, WIDTH samples each, of what was found. */

/* The mean level of the courses around; 0 where none is near. After rivers_find_valleys. */
void rivers_base_level(const struct rivers *rivers, int j, int rows, int width, struct rows out);
/* Metres from the edge of the nearest water, below 0 in it; at most RIVERS_NEAR. In a picture whose
 * samples are farther than RIVERS_NEAR / RIVERS_PICTURE_NEAR apart distances from the edge are
 * divided by their ratio, so that it, too, reaches RIVERS_PICTURE_NEAR samples. */
void rivers_bank(const struct rivers *rivers, int j, int rows, int width, struct rows out);
/* The level of rivers, and of lakes over the ground IN; RIVERS_DRY on land. */
void rivers_water(const struct rivers *rivers, int j, int rows, int width, struct rows in,
                  struct rows out);
/* The order of the river; 0 on land and in lakes. In pictures rivers are RIVERS_PICTURE_NEAR
 * samples wider to both sides. */
void rivers_order(const struct rivers *rivers, int j, int rows, int width, struct rows out);
/* The ground IN with the bed cut into it, and banks beside it; around lakes with dams where they
 * would flow out. */
void rivers_channel(const struct rivers *rivers, int j, int rows, int width, struct rows in,
                    struct rows out);
/* The ground IN, cut down to valleys and filled where it is below the courses around it, unless
 * there is a lake. */
void rivers_carve(const struct rivers *rivers, int j, int rows, int width, struct rows in,
                  struct rows out);

#endif
