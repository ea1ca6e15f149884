/* The three equations of drainage.h, for the nodes of a block. Private to drainage/. */
#ifndef FARLANDS_HYDRAULICS_H
#define FARLANDS_HYDRAULICS_H

#include "noise/drainage/nodes.h"

/* Set the lengths of edges. */
void hydraulics_measure(struct nodes *nodes);

/* Set slopes from areas, for spacing CELL, in metres. */
void hydraulics_slopes(struct nodes *nodes, float concavity, float cell);

/* Heights: at most UPPER, and nowhere steeper than the slopes allow over a few neighbors. */
void hydraulics_climb(struct nodes *nodes);

/* Fill hollows up to where they overflow (Barnes et al. 2014, priority flood). Water leaves
 * by the sea, and over the edge of the block. */
void hydraulics_flood(struct nodes *nodes);

/* Receivers, and areas. Water on a course stays on courses as far as they fall. */
void hydraulics_route(struct nodes *nodes);

/* Soil moves: hollows fill, crests wear. Beds are cut through again. */
void hydraulics_creep(struct nodes *nodes);

#endif
