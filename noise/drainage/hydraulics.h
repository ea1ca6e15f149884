/* The three equations of drainage.h, for the nodes of a block. Private to drainage/. */
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

/* Fill hollows up to where they overflow (Barnes et al. 2014, priority flood). Water leaves
 * by the sea, and over the edge of the block. */
void hydraulics_flood(struct nodes *nodes);

/* What a node of a course drains at least, in cells. */
#define HYDRAULICS_COURSE 6.0f

/* Receivers, and areas; each node has CELL km2 of its own. Water on a course stays on courses as
 * far as they fall. A node to which no course leads is none, unless it drains little more than
 * FROM_BEFORE: the least of a course on the level before. */
void hydraulics_route(struct nodes *nodes, float cell, float from_before);

/* After the last route: courses begin where enough water is, and go on to the sea. BUILDS: means do
 * not rise along them. */
void hydraulics_mark_courses(struct nodes *nodes, float cell, bool builds);

/* On the last level: rivers have the sea's level at their mouths. */
void hydraulics_lower_mouths(struct nodes *nodes);

/* Soil moves: hollows fill, crests wear. Beds are cut through again. */
void hydraulics_creep(struct nodes *nodes);

#endif
