/* How far a misspelt name is from a known one. Pure. */
#ifndef FARLANDS_CONFIG_NAME_DISTANCE_H
#define FARLANDS_CONFIG_NAME_DISTANCE_H

#include <stddef.h>

enum { NAME_DISTANCE_NONE = 255 };

/*
 * The fewest changes that make NAME from TEXT (LENGTH bytes), ignoring case: letters to insert,
 * delete, replace or swap with a neighbor (optimal string alignment). NAME_DISTANCE_NONE if more
 * than a third of the longer text would change, because then TEXT is probably no misspelling.
 */
unsigned name_distance(const char *text, size_t length, const char *name);

#endif
