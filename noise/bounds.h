/* Bounds of the values of fields. Private to noise/. */
#ifndef FARLANDS_BOUNDS_H
#define FARLANDS_BOUNDS_H

#include "program.h"

/* Set the bounds of OPERATION, one of ALL, from those of its inputs. */
void bounds_find(struct operation *operation, const struct operation *all);

#endif
