/* How far a misspelt name is from a known one. Pure. */
#ifndef FARLANDS_CONFIG_NAME_DISTANCE_H
#define FARLANDS_CONFIG_NAME_DISTANCE_H

#include <stddef.h>

enum { NAME_DISTANCE_NONE = 255 };

/*
 * The least number of letters to insert, delete, replace or swap with their neighbours so that
 * TEXT, LENGTH bytes, becomes NAME, ignoring case (optimal string alignment). NAME_DISTANCE_NONE if
 * that is more than a third of the longer one: then TEXT is probably no misspelling of NAME.
 */
unsigned name_distance(const char *text, size_t length, const char *name);

#endif
