/*
 * Geomorphons: forms of the ground by what one sees from it (Jasiewicz and Stepinski,
 * "Geomorphons - a pattern recognition approach to classification and mapping of landforms",
 * Geomorphology 182, 2013). Pure.
 */
#ifndef FARLANDS_DESCRIBE_GEOMORPHONS_H
#define FARLANDS_DESCRIBE_GEOMORPHONS_H

#include <stdint.h>

enum { GEOMORPHON_REACH = 10 }; /* samples that one sees in each direction */

/*
 * Set RIDGE to 1 for cells whose form is a ridge or a peak, and to 0 for others, of WIDTH x HEIGHT
 * HEIGHTS in metres, SPACING metres apart. In each of eight directions the ground is higher than
 * the cell, level with it or lower, by the sum of the steepest sights up and down, and level within
 * a degree. Ridges and peaks (the paper's figure 4) see lower ground in 6 directions or more, or in
 * 5 and higher ground in at most 1. Beyond the edges the ground stays as high as there.
 */
void geomorphons_find_ridges(const float *heights, int width, int height, float spacing,
                             uint8_t *ridge);

#endif
