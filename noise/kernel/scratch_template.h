/*
 * Working memory for one octave, in float or double. Included by scratch.h.
 *
 * Parameter, required: REAL_IS_FLOAT, see real_begin.h.
 */
#include "real_begin.h"

/* One octave over a chunk, and the context of most kernel functions. */
struct REAL_NAME(octave) {
    struct octave_source source;
    REAL amplitude;         /* factor for the noise */
    struct line_work *work; /* shared by all octaves */
    int n;                  /* the chunk's columns, in whole KERNEL_STEPs */
    struct places columns, rows;
    struct lattice lattice;
    struct corner_table table[KERNEL_CHUNK / KERNEL_POINTS + 1]; /* one per KERNEL_POINTS columns */
    /* See corner_weights. The rows' weights include the amplitude: q 0, q 1, p 0, p 1. */
    KERNEL_ALIGNED REAL p_x[2][KERNEL_CHUNK], q_x[2][KERNEL_CHUNK];
    KERNEL_ALIGNED REAL weight[4][KERNEL_CHUNK];
    struct slots slots;
    KERNEL_ALIGNED REAL line[KERNEL_LINES][KERNEL_CHUNK];
};

/*
 * On a set's rows, one octave's noise is a sum of terms: a line times a constant per row. Term k on
 * row r is line[r][k] times weight[k * KERNEL_CHUNK + r].
 */
struct REAL_NAME(terms) {
    bool shared; /* all rows lie between the same lattice rows: line[0] holds for all */
    const REAL *weight;
    const REAL *line[KERNEL_SET_ROWS][4]; /* along above and below, across above and below */
};

/* Rows that are summed together: KERNEL_SET_ROWS, or one. */
struct REAL_NAME(set) {
    int rows;
    REAL *sum[KERNEL_SET_ROWS];
    struct REAL_NAME(terms) terms[FARLANDS_MAX_OCTAVES];
};

/* A slice through an octave in space, at one altitude: the cell, and its corners' weights. */
struct REAL_NAME(slice) {
    int64_t cell;
    REAL p[2], q[2];
};

#include "real_end.h"
