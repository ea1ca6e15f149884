/* Gradients of single lattice corners in 1 to 4 dimensions. Private to noise/. */
#ifndef FARLANDS_DIMENSIONS_H
#define FARLANDS_DIMENSIONS_H

#include "terrain.h"

/* The gradient at the corner CELL of OCTAVE's lattice, one component for each of DIMENSIONS; in x
 * and y the cell is one within the period already. */
void corner_gradient(const struct farlands_terrain *terrain, const struct octave *octave,
                     int dimensions, const int64_t *cell, float g[AXES]);

#endif
