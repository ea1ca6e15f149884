/*
 * Land without an outlet, by Priority-Flood (Barnes, Lehman and Mulla, "Priority-flood: an optimal
 * depression-filling and watershed-labeling algorithm", 2014). Pure.
 */
#ifndef FARLANDS_DESCRIBE_DEPRESSIONS_H
#define FARLANDS_DESCRIBE_DEPRESSIONS_H

#include <stdint.h>

/*
 * The level at which water on each cell of WIDTH x HEIGHT heights, row by row, runs off: over the
 * edge of the window or into the sea, cells not above 0, through cells that touch at a side or a
 * corner. It equals the cell's height, unless the cell lies in a depression. HEAP is working memory
 * for WIDTH * HEIGHT elements. Heights are finite.
 */
void depressions_fill(const float *heights, int width, int height, float *levels, uint64_t *heap);

/* Take the depressions that are lakes off LEVELS, which become the HEIGHTS there: those whose
 * lowest cell is below WATER, the level of water on each cell. STACK is working memory as HEAP. */
void depressions_leave_lakes(const float *heights, const float *water, int width, int height,
                             float *levels, uint64_t *stack);

struct depressions {
    int land;   /* cells above 0 */
    int sunken; /* of these, deeper than a tolerance below their level */
};

/* Of COUNT cells. TOLERANCE is in metres. */
struct depressions depressions_count(const float *heights, const float *levels, int count,
                                     float tolerance);

#endif
