/* How far a misspelt name is from a known one. Pure. */
#ifndef FARLANDS_CORE_NAME_DISTANCE_H
#define FARLANDS_CORE_NAME_DISTANCE_H

#include "server/core/span.h"

enum { NAME_DISTANCE_NONE = 255 };

/*
 * The least number of letters to insert, delete, replace or swap with their neighbours so that
 * TEXT becomes NAME, ignoring case (optimal string alignment). NAME_DISTANCE_NONE if that is more
 * than a third of the longer one: then TEXT is probably no misspelling of NAME.
 */
unsigned name_distance(struct span text, const char *name);

#endif
