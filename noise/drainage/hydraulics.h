/* The heights of a block's nodes, from the areas that they drain (see drainage.h). Private to
 * drainage/. */
#ifndef FARLANDS_HYDRAULICS_H
#define FARLANDS_HYDRAULICS_H

#include "noise/drainage/nodes.h"

/* Set the lengths of edges. */
void hydraulics_measure(struct nodes *nodes);

/* Set slopes from areas, for spacing CELL, in metres. */
void hydraulics_slopes(struct nodes *nodes, float concavity, float cell);

/* Heights: at most UPPER, and nowhere steeper than the slopes allow over a few neighbors. CELL is
 * the spacing, in metres. */
void hydraulics_climb(struct nodes *nodes, float cell);

/* Soil moves: hollows fill, crests wear. Beds are cut through again. */
void hydraulics_creep(struct nodes *nodes);

#endif
