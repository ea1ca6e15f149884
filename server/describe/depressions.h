/* Finds land without an outlet, by Priority-Flood (Barnes, Lehman and Mulla, "Priority-flood: an
 * optimal depression-filling and watershed-labeling algorithm", 2014). Pure. */
#ifndef FARLANDS_DESCRIBE_DEPRESSIONS_H
#define FARLANDS_DESCRIBE_DEPRESSIONS_H

#include <stdint.h>

/*
 * Set LEVELS for WIDTH x HEIGHT cells, row by row: the level at which a cell's water runs off, over
 * the window's edge or into the sea (cells not above 0). Water passes between cells that touch at a
 * side or a corner. In a depression the level is above the cell's height; elsewhere they are equal.
 * HEAP is working memory for WIDTH * HEIGHT elements. HEIGHTS are finite.
 */
void depressions_fill(const float *heights, int width, int height, float *levels, uint64_t *heap);

/*
 * Like depressions_fill. ORDER and FROM may be NULL, or have WIDTH * HEIGHT elements, too: ORDER
 * gets all cells, those at lower levels first, and FROM the neighbor by which the water of each
 * cell runs off even if the levels there are equal; -1 for a cell on the edge or in the sea.
 */
void depressions_drain(const float *heights, int width, int height, float *levels, uint64_t *heap,
                       int *order, int *from);

/*
 * Undo the depressions that are lakes: set LEVELS to HEIGHTS in each depression whose lowest cell
 * is below WATER, the water level in each cell. STACK is working memory of the same size as HEAP.
 */
void depressions_leave_lakes(const float *heights, const float *water, int width, int height,
                             float *levels, uint64_t *stack);

struct depressions {
    int land;   /* cells above 0 */
    int sunken; /* land more than a tolerance below the level */
};

/* Count among COUNT cells. TOLERANCE is in metres. */
struct depressions depressions_count(const float *heights, const float *levels, int count,
                                     float tolerance);

#endif
