/* The places and directions that a survey draws: the same on all machines. Pure. */
#ifndef FARLANDS_DESCRIBE_SURVEY_DRAWS_H
#define FARLANDS_DESCRIBE_SURVEY_DRAWS_H

#include "server/describe/survey.h"

/* Draw place I, a block's corner within OPTIONS' box. Place I is in group I modulo GROUPS: the
 * first of a group lies anywhere, and the others lie around it. */
void survey_draw_place(const struct survey_options *options, int groups, int i, int64_t place[2]);

/* Draw unit vector I of SEED. */
void survey_draw_direction(uint64_t seed, int i, double direction[2]);

#endif
