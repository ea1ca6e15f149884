/* Bounds for the values of fields. Private to noise/. */
#ifndef FARLANDS_BOUNDS_H
#define FARLANDS_BOUNDS_H

#include "noise/graph/program.h"

/* Set OPERATION's bounds from its inputs' bounds. ALL: the program's operations. */
void bounds_find(struct operation *operation, const struct operation *all);

/* True if an operation may be 0 all over a region, as a mask is. Its inputs' RESTS are set. */
bool bounds_may_rest(const struct operation *o, const struct operation *all);

#endif
