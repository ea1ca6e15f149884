/* Courses of water from a place to their ends. Private to noise/. */
#ifndef FARLANDS_DOWNSTREAM_H
#define FARLANDS_DOWNSTREAM_H

#include "noise/farlands.h"
#include "noise/water/rivers.h"

/* Begin the course from (X, Y), in units: along the nearest river edge within RIVERS_NEAR, or else
 * from the nearest node on the last level. Returns 0 or the ground's error. */
int downstream_begin(struct rivers *rivers, int64_t x, int64_t y, struct farlands_course *out);

/* Write COURSE's next points, at most ROOM, into OUT, and their number into *COUNT. COURSE moves
 * on. Returns 0; -EINVAL if there is no such COURSE; or the ground's error. */
int downstream_follow(struct rivers *rivers, struct farlands_course *course,
                      struct farlands_course_point *out, size_t room, size_t *count);

#endif
