/*
 * Working memory for one evaluation, and also the context: a kernel's functions take a struct
 * farlands_scratch, or one octave there. Private to noise/.
 */
#ifndef FARLANDS_SCRATCH_H
#define FARLANDS_SCRATCH_H

#include "noise/fractal/basis.h"
#include "noise/fractal/noise.h"
#include "noise/space/density.h"
#include "noise/space/ledge.h"

enum {
    /* Columns, and rows, in a chunk: enough for a 256-sample tile with a border. A 512-sample tile
     * is two halves. */
    KERNEL_CHUNK = 272,
    /* Loops over samples run in whole steps. A step is the widest vector of floats, and arrays have
     * room for whole steps. */
    KERNEL_STEP = 16,
    /* Points evaluated at once: few enough for the level 1 cache. */
    KERNEL_POINTS = 64,
    /* Corners that points share, looked up at once. */
    KERNEL_TABLE = 32,
    /* Rows in a set, summed at once: few enough that the sums stay in registers. */
    KERNEL_SET_ROWS = 4,
    /* Rows in a kernel's band. All its lines are made before the first set is summed. */
    KERNEL_BAND_ROWS = 16,
    /* Sets in a band. If fewer than KERNEL_SET_ROWS rows are left over, each is a set. */
    KERNEL_SETS = KERNEL_BAND_ROWS / KERNEL_SET_ROWS + KERNEL_SET_ROWS - 1,
    /* Rows in a box whose heights are kept while slices are evaluated. */
    KERNEL_BOX_ROWS = 64,
    /* How many lattice rows an octave keeps lines for, and the lines in all. */
    KERNEL_SLOTS = 8,
    KERNEL_LINES = 24,
};

#define KERNEL_ALIGNED _Alignas(64)

/* N rounded up to whole KERNEL_STEPs. */
static inline int whole_steps(int n)
{
    return (n + KERNEL_STEP - 1) / KERNEL_STEP * KERNEL_STEP;
}

/* The purpose of an octave's lines. */
enum octave_use {
    USE_VALUES,  /* its noise */
    USE_SLOPES,  /* its noise and the noise's slopes: Perlin noise only */
    USE_GULLIES, /* gullies around its points: cellular noise only */
};

/* The octave that a function evaluates. */
struct octave_source {
    const struct noise *noise; /* for hash, fade and gradients */
    const struct octave *octave;
    enum farlands_basis basis; /* the noise's; FARLANDS_PERLIN in a warp and in space */
    enum octave_use use;
    /* At a single place: how many octaves, with point i in octave i. 0: all points are in one
     * octave. */
    int lanes;
};

/* Coordinates in units, ascending, for columns or rows: FIRST + i * STEP; or AT[i], in whole
 * KERNEL_STEPs, with neighbors at most STEP apart. */
struct coordinates {
    int64_t first, step;
    const int64_t *at; /* NULL: regular */
};

static inline int64_t coordinate_at(struct coordinates along, int i)
{
    return along.at ? along.at[i] : along.first + i * along.step;
}

/* A rectangle of samples, no larger than KERNEL_CHUNK. */
struct chunk {
    struct coordinates x, y;
    int width, height;
};

/* True if samples are few. They are evaluated as points, because most vectors in a row would be
 * empty. Never under the band limit, which is for pictures, because these are larger. */
static inline bool chunk_is_few(const struct chunk *chunk, bool band_limit)
{
    return !band_limit && chunk->width < KERNEL_STEP &&
           chunk->width * chunk->height <= KERNEL_POINTS;
}

/* Coordinates along one axis, in the octave's lattice. */
struct places {
    KERNEL_ALIGNED int64_t cell[KERNEL_CHUNK];
    KERNEL_ALIGNED int64_t rest[KERNEL_CHUNK]; /* units into the cell */
    KERNEL_ALIGNED double f[KERNEL_CHUNK];     /* fraction, 0 .. 1 */
    /* Simplex only: the skew times the coordinate, cells and fraction. */
    KERNEL_ALIGNED int64_t skew[KERNEL_CHUNK];
    KERNEL_ALIGNED double skew_f[KERNEL_CHUNK];
};

/* Hashes for lattice columns or rows, in two halves. */
struct axis_hash {
    uint32_t *low, *high;
};

/* A chunk's lattice columns. */
struct lattice {
    /* True: samples share cells, and there is one hash per lattice column. False: cells are finer
     * than samples, and there are KERNEL_CHUNK hashes for each corner in a sample's cell, west to
     * east. */
    bool dense;
    int count; /* dense: lattice columns */
    /* Dense: sample i's cell is near[i] columns east of group[i / KERNEL_LANES]. */
    KERNEL_ALIGNED uint32_t near[KERNEL_CHUNK];
    int32_t group[KERNEL_CHUNK / 4];
    KERNEL_ALIGNED uint32_t low[3 * KERNEL_CHUNK + KERNEL_STEP];
    KERNEL_ALIGNED uint32_t high[3 * KERNEL_CHUNK + KERNEL_STEP];
};

/* The corners of all cells from (WEST, NORTH) on, COLUMNS x ROWS, row by row. COLUMNS is 0 if there
 * are none. */
struct corner_table {
    int64_t west, north, columns, rows;
    KERNEL_ALIGNED float x[KERNEL_TABLE], y[KERNEL_TABLE];
};

/* The lattice rows that an octave keeps lines for. */
struct slots {
    int count; /* in use */
    /* For rows in ascending order: the last row lay in lattice row AT, between the lines in slots
     * ABOVE and BELOW. NEXT is overwritten next. */
    bool known;
    int64_t at;
    int above, below, next;
    /* For rows in any order (find_slot): the time of a slot's last use, 0 if it is empty. */
    uint32_t used[KERNEL_SLOTS], clock;
    int64_t row[KERNEL_SLOTS], slice[KERNEL_SLOTS];
};

/* How many lines a slot has room for: at least three, as Perlin noise in space needs; twice the
 * values' lines for slopes; two more for gullies. */
static inline int slot_lines(const struct octave_source *source)
{
    const int lines = basis_of(source->basis).lines;
    if (source->use == USE_GULLIES)
        return lines + 2;
    return source->use == USE_SLOPES ? 2 * lines : lines > 3 ? lines : 3;
}

/* True if an octave is evaluated row by row, from lines that find_slot keeps. */
static inline bool is_by_rows(const struct octave_source *source)
{
    return basis_of(source->basis).method == BASIS_ROWS || source->use == USE_SLOPES;
}

/* Slots in use. Few, so that they stay in the cache. Gullies need three lattice rows. A band with
 * 16 rows crosses 4 lattice rows if a cell is at least 8 samples high. A single row never needs
 * more than 4. */
static inline int slot_count(const struct octave_source *source, int64_t step)
{
    if (source->use == USE_GULLIES)
        return 3;
    return is_by_rows(source) || 8 * step <= source->octave->wavelength ? 4 : KERNEL_SLOTS;
}

/* Rows in a band if the finest octave has this WAVELENGTH: so few that the slots hold all lattice
 * rows that the band crosses. */
static inline int band_rows(int64_t wavelength, int64_t step)
{
    return 4 * step <= wavelength ? KERNEL_BAND_ROWS : KERNEL_SET_ROWS;
}

/* The slot for ROW in SLICE. If there was none, *KNOWN is false, and it is the least recently used
 * slot. */
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

/* One lattice row's corners while lines are made: indices, and gradients, points or values. */
struct line_work {
    KERNEL_ALIGNED uint32_t index[3 * KERNEL_CHUNK + KERNEL_STEP];
    /* Per lattice column. */
    KERNEL_ALIGNED float x[3 * KERNEL_CHUNK + KERNEL_STEP];
    KERNEL_ALIGNED float y[3 * KERNEL_CHUNK + KERNEL_STEP];
    KERNEL_ALIGNED float z[3 * KERNEL_CHUNK + KERNEL_STEP];
    /* Per sample: its corners, west to east. */
    KERNEL_ALIGNED float side_x[3][KERNEL_CHUNK], side_y[3][KERNEL_CHUNK];
    KERNEL_ALIGNED float side_z[2][KERNEL_CHUNK];
};

#define REAL_IS_FLOAT 1
#include "scratch_template.h"
#define REAL_IS_FLOAT 0
#include "scratch_template.h"

/* Points along one axis, as in struct places ... */
struct points {
    const int64_t *cell, *rest;
    const double *f;
    const int64_t *skew;
    const double *skew_f;
};

/* ... and memory for points that are not a chunk's columns. */
struct point_room {
    KERNEL_ALIGNED int64_t cell[KERNEL_POINTS];
    KERNEL_ALIGNED int64_t rest[KERNEL_POINTS];
    KERNEL_ALIGNED double f[KERNEL_POINTS];
    KERNEL_ALIGNED int64_t skew[KERNEL_POINTS];
    KERNEL_ALIGNED double skew_f[KERNEL_POINTS];
};

/* Hashes for the lattice columns, or rows, around each point. */
struct point_hashes {
    KERNEL_ALIGNED uint32_t low[3][KERNEL_POINTS], high[3][KERNEL_POINTS];
};

/* Gradients, points or values at the corners around each point: [row][column], from the north-west.
 */
struct point_corners {
    KERNEL_ALIGNED float x[3][3][KERNEL_POINTS], y[3][3][KERNEL_POINTS];
};

/* How far the warp displaces a row's coordinates along one axis, in units. */
struct displacement {
    KERNEL_ALIGNED double whole[KERNEL_CHUNK], fraction[KERNEL_CHUNK];
};

/* A chunk's samples, at most KERNEL_POINTS, row by row, as scattered points. */
struct few_samples {
    const struct chunk *chunk;
    int count; /* in whole vectors: the last sample again */
    /* Which of the chunk's coordinates along an axis each sample has. */
    uint8_t number[2][KERNEL_POINTS];
    const struct displacement *moved; /* in x and y; NULL: not at all */
};

/* Sums along a row, for narrow and for broad octaves, and the weights of add_fractal. */
struct sums {
    KERNEL_ALIGNED float narrow[KERNEL_CHUNK], narrow_weight[KERNEL_CHUNK];
    KERNEL_ALIGNED double broad[KERNEL_CHUNK], broad_weight[KERNEL_CHUNK];
};

/* An octave in space. For the SLICE at hand, the lines in the two lattice slices around it are
 * folded into one: lines as in a plane, along and across. */
struct space_scratch {
    struct narrow_octave narrow;
    const struct space_octave *octave;
    struct narrow_slice slice;
    struct slots folded;
    KERNEL_ALIGNED float fold[2 * KERNEL_SLOTS][KERNEL_CHUNK];
};

/* An octave in a noise, in a warp, or in space. */
union octave_scratch {
    struct octave_source source; /* the other members begin with it */
    struct narrow_octave narrow;
    struct broad_octave broad;
    struct space_scratch space;
};

/* Memory that noises share, because a noise needs this for one band only. */
struct noise_work {
    struct sums sums[KERNEL_BAND_ROWS];
    struct displacement displacement[KERNEL_BAND_ROWS][2]; /* along x and y */
    struct line_work line;
    struct {
        struct narrow_set narrow[KERNEL_SETS];
        struct broad_set broad[KERNEL_SETS];
    } sets;
};

/* One noise over a chunk. */
struct noise_run {
    const struct noise *noise;
    struct noise_work *work;
    union octave_scratch *octave; /* the noise's, then the warp's */
    enum octave_use use;
    bool moved; /* by other fields, besides its warp */
    bool light; /* in float in pictures: see octave_is_narrow_in_pictures */
    bool begun; /* a chunk, see steps.c */
    int band;   /* rows that may be evaluated at once */
    int broad;  /* octaves computed in double, the first ones */
    int n;      /* the chunk's columns, in whole KERNEL_STEPs */
    double band_limit[FARLANDS_MAX_OCTAVES]; /* weights 1 .. 0 */
    double bias; /* added to the sum: the mean of all that the band limit removes */
};

/* The octaves for displacements along x and y. */
static inline union octave_scratch *warp_octaves(const struct noise_run *run)
{
    return run->octave + run->noise->octaves;
}

/* A chunk's columns within a patch: sample i lies between the patch's columns FIRST[i] to FIRST[i]
 * + 3, which count by WEIGHT. */
struct patch_columns {
    KERNEL_ALIGNED uint32_t first[KERNEL_CHUNK];
    KERNEL_ALIGNED float weight[4][KERNEL_CHUNK];
    KERNEL_ALIGNED float slope[4][KERNEL_CHUNK]; /* for the derivative along x, per block */
};

/* The ledges in a row of columns: the parts of their density that are the same at all altitudes. */
struct shelf {
    KERNEL_ALIGNED float level[KERNEL_CHUNK];
    KERNEL_ALIGNED float middle[KERNEL_CHUNK];
    KERNEL_ALIGNED float bend[KERNEL_CHUNK];
};

enum { SCRATCH_EVALUATIONS = 2 };

struct farlands_scratch {
    struct noise_work work;
    struct noise_run run;
    /* For the programs evaluated last, the latest first; NULL: none yet. More than one, because a
     * thread changes worlds every few milliseconds, and finding rivers again would take longer. See
     * evaluation.c. */
    struct evaluation *evaluation[SCRATCH_EVALUATIONS];
    struct drainage_cache *drainage_cache; /* perhaps shared with other scratches */
    struct {
        KERNEL_ALIGNED float heights[KERNEL_BOX_ROWS][KERNEL_CHUNK];
        struct ledge ledge[KERNEL_CHUNK]; /* in a row */
        struct shelf shelf[KERNEL_BOX_ROWS];
        KERNEL_ALIGNED float noise[DENSITY_NOISES][KERNEL_BAND_ROWS][KERNEL_CHUNK];
    } density;
    union octave_scratch octave[FARLANDS_MAX_OCTAVES + 2];
};

_Static_assert((int)KERNEL_STEP == (int)NOISE_LANES, "numbers of octaves fill whole vectors");
_Static_assert((int)FARLANDS_MAX_OCTAVES <= (int)KERNEL_POINTS,
               "the octaves of a noise at a single place are points");
_Static_assert(DENSITY_NOISES *FARLANDS_MAX_VOLUME_OCTAVES <= FARLANDS_MAX_OCTAVES,
               "the octaves of all density noises fit in struct farlands_scratch");

#endif
