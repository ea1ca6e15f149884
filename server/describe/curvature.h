/* The curvature of the ground: whether crests are sharp and floors round. Pure. */
#ifndef FARLANDS_DESCRIBE_CURVATURE_H
#define FARLANDS_DESCRIBE_CURVATURE_H

#include <stdint.h>

/*
 * Set CURVATURE to the Laplacian of Gaussian of WIDTH x HEIGHT HEIGHTS with a deviation of one
 * sample (Marr and Hildreth, "Theory of edge detection", 1980), in metres per sample squared: above
 * 0 in valleys, below 0 on crests. Beyond the edges the ground stays as high as there. MEMORY has
 * room for two floats per cell.
 */
void curvature_find(const float *heights, int width, int height, float *curvature, float *memory);

/*
 * The skewness of the COUNT values whose cells are CHOSEN (not 0), at most 4 in size: the third
 * central moment over the 1.5th power of the second. 0 if all are equal; NAN if none is chosen. The
 * skewness of curvature is below 0 if crests are sharper than valley floors, as water and frost
 * make them.
 */
double curvature_skewness(const float *values, const uint8_t *chosen, int count);

#endif
