/* Courses of water from a place to their ends, as the terrain has them. Private to noise/. */
#ifndef FARLANDS_DOWNSTREAM_H
#define FARLANDS_DOWNSTREAM_H

#include "noise/farlands.h"
#include "noise/water/rivers.h"

/* The course from (X, Y), in units: that of the river within RIVERS_NEAR of it whose edge is
 * nearest, and otherwise that of the nearest node of the last level. Returns 0 or what the ground
 * returns. */
int downstream_begin(struct rivers *rivers, int64_t x, int64_t y, struct farlands_course *out);

/* The next points of COURSE, at most ROOM, into OUT; their number into *COUNT. COURSE moves on.
 * Returns 0; -EINVAL if there is no such COURSE; what the ground returns. */
int downstream_follow(struct rivers *rivers, struct farlands_course *course,
                      struct farlands_course_point *out, size_t room, size_t *count);

#endif
