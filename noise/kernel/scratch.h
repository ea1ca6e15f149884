/* Working memory of one evaluation. Private to noise/. */
#ifndef FARLANDS_SCRATCH_H
#define FARLANDS_SCRATCH_H

#include "noise/terrain.h"

/* Columns, and rows, worked on at once: a 256-sample tile with a border fits, and a
 * 512-sample one is two halves. */
#define CHUNK 272
/* Loops run in whole steps of this, the widest vector of floats; arrays have room for it. */
#define STEP 16
/* Points worked on at once: few enough that all that belongs to them stays in a level 1 cache. */
#define POINTS 64

/* Rows summed at once: few enough that their sums stay in registers. */
#define ROWS 4
/* Rows whose lines are all made before the first is summed. */
#define BAND 16

#define ALIGNED _Alignas(64)

/* Places on one axis as one octave sees them. */
struct places {
    ALIGNED int64_t cell[CHUNK];
    ALIGNED int64_t rest[CHUNK]; /* units into the cell */
    ALIGNED double f[CHUNK];     /* fraction of the cell, 0 .. 1 */
    /* Simplex: F times the place, cells and fraction; F is the skew. */
    ALIGNED int64_t skew[CHUNK];
    ALIGNED double skew_f[CHUNK];
};

/* Hashes of lattice columns, or rows, in two halves. */
struct axis_hash {
    uint32_t *low, *high;
};

/* The columns of one octave's lattice that a chunk's samples lie between. */
struct lattice {
    /* Samples share cells: one hash a lattice column. Or cells are finer than
     * samples: CHUNK hashes for each corner of a sample's cell, west to east. */
    bool dense;
    int count; /* dense: lattice columns */
    /* Dense: sample i's cell is near[i] columns from group[i / LANES]. */
    ALIGNED uint32_t near[CHUNK];
    int32_t group[CHUNK / 4];
    ALIGNED uint32_t low[3 * CHUNK + STEP];
    ALIGNED uint32_t high[3 * CHUNK + STEP];
};

/*
 * A lattice row, interpolated along x at each sample of a chunk, so that what is
 * left for a sample is to interpolate between lines. A row takes two lines for
 * Perlin noise, three in a volume, one for value and six for cellular noise.
 */
enum { SLOTS = 8, LINES = 24 };

/* Which lattice rows the slots hold. */
struct slots {
    int count; /* in use */
    /* Rows that are summed: the one before lay in lattice row AT, between the lines of two slots.
     */
    bool known;
    int64_t at;
    int above, below, next;
    /* Cellular noise and volumes look for a row (of a slice); used: when last; 0: empty. */
    uint32_t used[SLOTS], clock;
    int64_t row[SLOTS], slice[SLOTS];
};

/* Lines that a slot has room for. */
static inline int slot_lines(enum farlands_basis basis)
{
    return basis == FARLANDS_CELLULAR ? 6 : 3;
}

/* Rows of a band where the finest octave's cells are WAVELENGTH wide: as many as reach over no more
 * lattice rows than there are slots. */
static inline int band_rows(int64_t wavelength, int64_t step)
{
    return 4 * step <= wavelength ? BAND : ROWS;
}

/* Slots in use, not more than needed, for the cache's sake: a band of 16 rows reaches over 4
 * lattice rows where a cell has 8. Cellular noise goes row by row. */
static inline int slot_count(enum farlands_basis basis, const struct octave *octave, int64_t step)
{
    return basis == FARLANDS_CELLULAR || 8 * step <= octave->wavelength ? 4 : SLOTS;
}

/* The slot of ROW, or the one that was not asked for longest. */
static inline int find_slot(struct slots *slots, int64_t row, int64_t slice, bool *known)
{
    int oldest = 0;
    *known = true;
    slots->clock++;
    for (int i = 0; i < slots->count; i++) {
        if (slots->used[i] && slots->row[i] == row && slots->slice[i] == slice) {
            slots->used[i] = slots->clock;
            return i;
        }
        if (slots->used[i] < slots->used[oldest])
            oldest = i;
    }
    *known = false;
    slots->row[oldest] = row;
    slots->slice[oldest] = slice;
    slots->used[oldest] = slots->clock;
    return oldest;
}

/* What one octave knows about a chunk, in float or in double. */
#define OCTAVE_SCRATCH(name, real)                                                   \
    struct name {                                                                    \
        const struct octave *octave;                                                 \
        real amplitude; /* the octave's share; 1 where the fractal is not a sum */   \
        struct places columns, rows;                                                 \
        struct lattice lattice;                                                      \
        /* Of columns and rows: what a corner's gradient component and the other one \
         * are multiplied by; the rows' include the amplitude. */                    \
        ALIGNED real p_x[2][CHUNK], q_x[2][CHUNK]; /* of columns */                  \
        ALIGNED real weight[4][CHUNK];             /* of rows: q 0, q 1, p 0, p 1 */ \
        struct slots slots;                                                          \
        ALIGNED real line[LINES][CHUNK];                                             \
    }

OCTAVE_SCRATCH(narrow_scratch, float);
OCTAVE_SCRATCH(broad_scratch, double);

/*
 * What makes noise on up to ROWS rows, the set, of their sums: from each octave
 * lines, each times a constant of the row.
 */
struct narrow_terms {
    bool shared;                /* all rows lie between the same lattice rows: line[0] is all */
    const float *weight;        /* term k's, of row r: weight[k * CHUNK + r] */
    const float *line[ROWS][4]; /* along above and below, across above and below */
};

struct narrow_set {
    int rows;
    float *sum[ROWS];
    struct narrow_terms terms[FARLANDS_MAX_OCTAVES];
};

/* The same in double. */
struct broad_terms {
    bool shared;
    const double *weight;
    const double *line[ROWS][4];
};

struct broad_set {
    int rows;
    double *sum[ROWS];
    struct broad_terms terms[FARLANDS_MAX_OCTAVES];
};

enum { SETS = BAND / ROWS + ROWS - 1 };

/* One lattice row in the making: indices, and what they stand for. */
struct line_work {
    ALIGNED uint32_t index[3 * CHUNK + STEP];
    ALIGNED float x[3 * CHUNK + STEP], y[3 * CHUNK + STEP]; /* of lattice columns */
    ALIGNED float side_x[3][CHUNK], side_y[3][CHUNK];       /* of each sample's corners */
    ALIGNED float z[3 * CHUNK + STEP], side_z[2][CHUNK];    /* in a volume */
};

/* Points as one octave sees them along one axis, as in struct places ... */
struct points {
    const int64_t *cell, *rest;
    const double *f;
    const int64_t *skew;
    const double *skew_f;
};

/* ... and room for those that are not there already. */
struct point_room {
    ALIGNED int64_t cell[POINTS];
    ALIGNED int64_t rest[POINTS];
    ALIGNED double f[POINTS];
    ALIGNED int64_t skew[POINTS];
    ALIGNED double skew_f[POINTS];
};

/* What the warp adds to the places of a row along one axis, in units. */
struct displacement {
    ALIGNED double whole[CHUNK], fraction[CHUNK];
};

/* Hashes of the lattice columns, or rows, around each point. */
struct point_hashes {
    ALIGNED uint32_t low[3][POINTS], high[3][POINTS];
};

/* Sums of octaves along a row: what float holds and what double holds; and the
 * weights of fractals that are more than a sum. */
struct sums {
    ALIGNED float narrow[CHUNK], narrow_weight[CHUNK];
    ALIGNED double broad[CHUNK], broad_weight[CHUNK];
};

/* One octave's slice: its cell, and the weights of its corners. */
struct narrow_slice {
    int64_t cell;
    float p[2], q[2];
};

struct broad_slice {
    int64_t cell;
    double p[2], q[2];
};

/* An octave of a volume's noise. Its lattice rows' lines in two slices, folded to one for the
 * SLICE of samples between them, are lines as in a plane: along and across. */
struct space_scratch {
    struct narrow_scratch narrow;
    const struct space_octave *octave;
    struct narrow_slice slice;
    struct slots folded;
    ALIGNED float fold[2 * SLOTS][CHUNK];
};

/* An octave, or one of the warp's two, or one of a volume's noises, over a chunk. */
union octave_scratch {
    struct narrow_scratch narrow;
    struct broad_scratch broad;
    struct space_scratch space;
};

/* Rows of a volume whose heights are kept while its slices pass. */
enum { TALL_ROWS = 64 };

struct farlands_scratch {
    double band_limit[FARLANDS_MAX_OCTAVES]; /* 1 .. 0 */
    double bias; /* of the sum: the mean of what the band limit takes away */
    struct sums sums[BAND];
    struct displacement displacement[BAND][2]; /* along x and y */
    struct line_work line;
    struct {
        struct narrow_set narrow[SETS];
        struct broad_set broad[SETS];
    } sets;
    struct {
        ALIGNED float heights[TALL_ROWS][CHUNK];
        ALIGNED float noise[DENSITY_NOISES][BAND][CHUNK];
    } volume;
    union octave_scratch octave[FARLANDS_MAX_OCTAVES], warp[2];
};

_Static_assert(DENSITY_NOISES *FARLANDS_MAX_VOLUME_OCTAVES <= FARLANDS_MAX_OCTAVES, "octaves of a volume");

#endif
