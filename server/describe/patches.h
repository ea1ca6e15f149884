/* Connected patches of cells, for lakes and ridges. Pure. */
#ifndef FARLANDS_DESCRIBE_PATCHES_H
#define FARLANDS_DESCRIBE_PATCHES_H

#include <stdint.h>

/*
 * Set SIZE for WIDTH x HEIGHT cells, row by row: the number of cells in a cell's patch; 0 if the
 * cell is no MEMBER (0). Members that touch at a side or a corner are in one patch. STACK is
 * working memory for as many elements.
 */
void patches_measure(const uint8_t *member, int width, int height, int *size, int *stack);

/*
 * How far patches go on: the mean of the sizes, each counted once per cell, divided by the root of
 * the number of members. One patch of N cells has sqrt N, patches of one size S have S / sqrt N,
 * and NAN means that there is none.
 */
double patches_connectivity(const int *size, int count);

#endif
