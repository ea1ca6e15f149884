/* Bounds of the values of fields. Private to noise/. */
#ifndef FARLANDS_BOUNDS_H
#define FARLANDS_BOUNDS_H

#include "noise/graph/program.h"

/* Set the bounds of OPERATION, one of ALL, from those of its inputs. */
void bounds_find(struct operation *operation, const struct operation *all);

/* True if an operation may be 0 all over a region, as a mask is. What its inputs may is known. */
bool bounds_may_rest(const struct operation *o, const struct operation *all);

#endif
