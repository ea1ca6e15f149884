/* How steep fields are on average. Private to noise/. */
#ifndef FARLANDS_STEEPNESS_H
#define FARLANDS_STEEPNESS_H

#include "program.h"

/*
 * Estimate of the root mean square slope of OPERATION's values, per block, that a band-limited grid
 * with samples STEP units apart shows. Fields are taken as independent of each other, and their
 * values as spread evenly between their bounds, so this is right within a factor of a few.
 */
double steepness(const struct program *program, int operation, int64_t step);

#endif
