/*
 * Counts the elementary operations of an evaluation of noise, as the kernels of noise/ carry them
 * out: chunks of columns, lattice rows ("lines"), rows, samples, points. Multiplied by the rates of
 * this machine (cost_rates.h) they are its cost. Pure. A new way to compute heights, such as a
 * graph of fields, adds its operations here and a probe in cost_rates.c.
 */
#ifndef FARLANDS_WORLD_WORK_H
#define FARLANDS_WORLD_WORK_H

#include "noise/terrain.h"

/* Operations on one octave. Octaves are evaluated in float, in double, or for the warp. */
enum octave_work {
    OCTAVE_COLUMNS,      /* prepared, at the start of a chunk */
    OCTAVE_HASHES,       /* of lattice columns, the same */
    OCTAVE_ROW_STARTS,   /* rows prepared */
    OCTAVE_LINES,        /* lattice rows interpolated; or groups of points */
    OCTAVE_CORNERS,      /* hashed for them */
    OCTAVE_LINE_SAMPLES, /* of these lines */
    OCTAVE_ROWS,
    OCTAVE_SAMPLES,
    OCTAVE_WORKS,
};

/* Rows of a box whose heights are computed together. */
enum { WORK_BOX_ROWS = 64 };

enum octave_class { OCTAVE_NARROW, OCTAVE_BROAD, OCTAVE_WARP, OCTAVE_SPACE, OCTAVE_CLASSES };

/* Other operations. */
enum work_kind {
    WORK_OCTAVES, /* [class][work], see octave_kind */
    WORK_GRIDS = WORK_OCTAVES + (int)OCTAVE_CLASSES * (int)OCTAVE_WORKS,
    WORK_ROWS,          /* from sums to heights */
    WORK_SAMPLES,       /* the same */
    WORK_BROAD_SAMPLES, /* of terrains with octaves in double, in addition */
    WORK_FADED_SAMPLES, /* of octaves that the band limit removes from a fractal */
    WORK_POINTS,
    WORK_POINT_OCTAVES, /* of points */
    WORK_POINT_BROAD,   /* vectors of those in double, in addition */
    WORK_FOLDS,         /* lines of two slices of a box folded into one */
    WORK_FOLD_SAMPLES,  /* the same */
    WORK_SLICES,        /* of a band of a box, for each octave */
    WORK_DENSITY_ROWS,
    WORK_DENSITY_SAMPLES,
    WORK_NOISE_SAMPLES, /* of the noises that a density combines */
    WORK_KINDS,
};

struct work {
    double count[WORK_KINDS];
};

/* Add the heights of GRID in a terrain of PARAMS. */
void work_add_grid(struct work *work, const struct farlands_params *params,
                   const struct farlands_grid *grid);

/* Add the densities of BOX, in which the surface lies between LOWEST and HIGHEST metres. */
void work_add_box(struct work *work, const struct farlands_params *params,
                  const struct farlands_box *box, double lowest, double highest);

/* Add COUNT calls of terrain_height. */
void work_add_points(struct work *work, const struct farlands_params *params, double count);

#endif
