/* Where water goes among a block's nodes, and how much comes together. Private to drainage/. */
#ifndef FARLANDS_ROUTES_H
#define FARLANDS_ROUTES_H

#include "noise/drainage/nodes.h"

/* Fill hollows up to where they overflow (Barnes et al. 2014, priority flood). Water leaves
 * by the sea, and over the edge of the block. */
void routes_flood(struct nodes *nodes);

/* Set receivers, areas and the order from crests to mouths; each node has CELL km2 of its own.
 * Water on a course stays on courses as far as they fall. A node to which no course leads is none,
 * unless it drains little more than FROM_BEFORE: the least of a course on the level before. */
void routes_find(struct nodes *nodes, float cell, float from_before);

/* What a node of a course drains at least, in cells. */
#define ROUTES_COURSE 6.0f

/* After the last routes: courses begin where enough water is, and go on to the sea. BUILDS: means
 * do not rise along them. */
void routes_mark_courses(struct nodes *nodes, float cell, bool builds);

/* Water cuts through: no node is higher than those that drain to it. */
void routes_cut_through(struct nodes *nodes);

/* On the last level: rivers have the sea's level at their mouths. */
void routes_lower_mouths(struct nodes *nodes);

#endif
