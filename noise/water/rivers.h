/*
 * Rivers and lakes over a drainage: how far a place is from water, and how the ground follows the
 * beds. Private to noise/.
 *
 * A course leads from node to node (drain.h) as a smooth curve (river_curves.h). The water level is
 * the same curve through the beds.
 *
 * A hollow is ground below the beds. Its nodes weigh (1 - d^2 / r^2)^3 within r, 1.6 spacings on
 * the last level. If the sum of weights is above a limit, there is a lake. The lake's level is the
 * mean bed, and the lake covers the ground below. A dam rises around a lake if no hill does.
 *
 * Order is 1 + log2 of the length upstream, in spacings on the last level, linear between powers of
 * two: a river of order 3 is 4 spacings long. Width and depth grow by a factor per order.
 */
#ifndef FARLANDS_RIVERS_H
#define FARLANDS_RIVERS_H

#include "noise/graph/rivers_params.h"
#include "noise/kernel/kernel.h"
#include "noise/kernel/river_rows.h"
#include "noise/water/river_network.h"

/* The rivers of a world, and what was computed so far that fits a fixed memory. For one thread. */
struct rivers;

/* Returns 0 or -ENOMEM. GROUND and CONTEXT are as for drain_new. PARAMS are copied. */
int rivers_new(struct rivers **out, const struct rivers_params *params, const struct kernel *kernel,
               drain_ground *ground, void *context);
/* The rivers of DRAINAGE, which outlives them. They have no valleys, because the ground has. */
int rivers_new_on(struct rivers **out, const struct rivers_params *params,
                  const struct kernel *kernel, struct drainage *drainage);
void rivers_free(struct rivers *rivers);

/* The courses, owned by RIVERS. */
const struct river_network *rivers_network(const struct rivers *rivers);

/* True if a course begins at NODE, because nothing flows there. All neighbors are in ROWS. */
bool rivers_is_source(const struct course_node *node, const struct river_network_rows *rows);

/* The water at a place on a course. */
struct rivers_here {
    float level;  /* the course's, or the river's or end lake's that it has joined; 1e9 outside the
                     water */
    bool is_lake; /* if the course is no higher than LAKE */
    float lake;   /* 1e9 if that is known */
};

/* Find the water at (X, Y), a place on a course. Returns 0 or the ground's error. What was found
 * before is forgotten. */
int rivers_look(struct rivers *rivers, int64_t x, int64_t y, struct rivers_here *out);

/*
 * Find the water near CHUNK's samples; or, for rivers_carve, valleys and floors. The result is kept
 * until the next call. BAND_LIMIT: the distance between samples in a picture, which leaves out
 * levels that it cannot show; 0: none. Returns 0 or the ground's error.
 */
int rivers_find_near(struct rivers *rivers, const struct chunk *chunk, int64_t band_limit);
int rivers_find_valleys(struct rivers *rivers, const struct chunk *chunk, int64_t band_limit);

/* The following write ROWS rows from J on, WIDTH samples each, from what was found. */

/* The mean level of the courses around; 0 if none is near. After rivers_find_valleys. */
void rivers_base_level(const struct rivers *rivers, int j, int rows, int width, struct rows out);
/* Metres from the edge of the nearest water, below 0 in the water, at most RIVERS_NEAR. A picture
 * must reach RIVERS_PICTURE_NEAR samples. If these are farther than RIVERS_NEAR, distances from the
 * edge are divided by the ratio. */
void rivers_bank(const struct rivers *rivers, int j, int rows, int width, struct rows out);
/* The level of rivers, and of lakes over the ground IN; RIVERS_DRY on land. */
void rivers_water(const struct rivers *rivers, int j, int rows, int width, struct rows in,
                  struct rows out);
/* The river's order; 0 on land and in lakes. In a picture rivers are RIVERS_PICTURE_NEAR samples
 * wider to both sides. */
void rivers_order(const struct rivers *rivers, int j, int rows, int width, struct rows out);
/* The ground IN with beds cut into it and banks beside them, and with dams where lakes would flow
 * out. */
void rivers_channel(const struct rivers *rivers, int j, int rows, int width, struct rows in,
                    struct rows out);
/* The ground IN, cut down to valleys, and filled up below the courses around unless there is a
 * lake. */
void rivers_carve(const struct rivers *rivers, int j, int rows, int width, struct rows in,
                  struct rows out);

#endif
