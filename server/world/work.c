#include "work.h"

#include <math.h>

/* As in noise/kernel/scratch.h, which is private to the library. */
enum {
    CHUNK = 272,   /* columns, and rows, that are prepared together */
    VECTOR = 16,   /* columns are evaluated in multiples of this */
    LANES = 8,     /* octaves of a single point in double that are evaluated at once, about */
    POINTS = 64,   /* points of a group; their hashes are shared if */
    NEAR = 30,     /* they lie within so many cells */
    BAND = 16,     /* rows that share lines */
    FINE_BAND = 4, /* the same if cells are smaller than 4 samples */
    SLOTS = 4,     /* lattice rows whose lines are kept from one slice to the next */
};

#define BROAD_WAVELENGTH 0x1p24 /* units; octaves above it are evaluated in double */

/* The samples of an axis, or of both. */
struct extent {
    double chunks;           /* of columns */
    double columns;          /* of all chunks, in whole vectors */
    double rows, row_starts; /* of one chunk; row_starts in whole vectors */
};

static int whole_vectors(int n)
{
    return (n + VECTOR - 1) / VECTOR * VECTOR;
}

static struct extent extent_of(int width, int height)
{
    const int chunks = (width - 1) / CHUNK + 1, even = (width - 1) / chunks + 1;
    return (struct extent){
        .chunks = chunks,
        .columns = (double)(chunks * whole_vectors(even)),
        .rows = height,
        .row_starts = (double)(height - height % CHUNK + whole_vectors(height % CHUNK)),
    };
}

static double *octave_work(struct work *work, enum octave_class class)
{
    return work->count + WORK_OCTAVES + (int)class * (int)OCTAVE_WORKS;
}

/* Lattice corners along an axis that a sample depends on. */
static double corners_of(enum farlands_basis basis)
{
    return basis == FARLANDS_CELLULAR ? 3 : 2;
}

/* Prepare the columns and rows of an octave. RATIO: cells from one sample to the next. */
static void add_start(double *octave, const struct extent *e, double ratio, double corners)
{
    const double dense = e->columns * ratio + e->chunks * (corners + VECTOR);
    octave[OCTAVE_COLUMNS] += e->columns;
    octave[OCTAVE_HASHES] += ratio < 0.9 ? dense : e->columns * corners;
    octave[OCTAVE_ROW_STARTS] += e->chunks * e->row_starts;
}

/* Make LINES lines per chunk of columns. */
static void add_lines(double *octave, const struct extent *e, double lines, double ratio,
                      double corners)
{
    const double dense = e->columns * ratio + e->chunks * (corners + VECTOR);
    octave[OCTAVE_LINES] += lines * e->chunks;
    octave[OCTAVE_LINE_SAMPLES] += lines * e->columns;
    octave[OCTAVE_CORNERS] += lines * (ratio < 0.9 ? dense : e->columns * corners);
}

/* An octave on a grid whose samples share lattice rows. */
static void add_lined_octave(double *octave, const struct extent *e, double ratio, double corners)
{
    add_start(octave, e, ratio, corners);
    add_lines(octave, e, corners + (e->rows - 1) * fmin(ratio, corners), ratio, corners);
    octave[OCTAVE_ROWS] += e->chunks * e->rows;
    octave[OCTAVE_SAMPLES] += e->columns * e->rows;
}

/* An octave whose samples lie in cells of their own; in groups, SPREAD cells wide. */
static void add_scattered_octave(double *octave, const struct extent *e, double ratio,
                                 double corners, double spread)
{
    add_start(octave, e, ratio, corners);
    octave[OCTAVE_LINES] += e->rows * e->chunks * ceil(e->columns / e->chunks / POINTS);
    octave[OCTAVE_CORNERS] += spread > NEAR ? e->rows * e->columns : 0;
    octave[OCTAVE_ROWS] += e->chunks * e->rows;
    octave[OCTAVE_SAMPLES] += e->columns * e->rows;
}

static bool is_sum(const struct farlands_params *params)
{
    return params->fractal == FARLANDS_NONE || params->fractal == FARLANDS_FBM;
}

static int octaves_of(const struct farlands_params *params)
{
    return params->fractal == FARLANDS_NONE ? 1 : params->octaves;
}

static void add_extent(struct work *work, const struct farlands_params *params,
                       const struct extent *e, double step, bool band_limit)
{
    const double samples = e->columns * e->rows, amplitude = (double)params->warp.amplitude;
    const double warp_ratio = amplitude != 0 ? step / (double)params->warp.wavelength : 0;
    const double corners = corners_of(params->basis);
    const bool scattered = params->basis == FARLANDS_SIMPLEX || amplitude != 0;
    double wavelength = (double)params->wavelength;

    work->count[WORK_GRIDS]++;
    work->count[WORK_ROWS] += e->rows * e->chunks;
    work->count[WORK_SAMPLES] += samples;
    work->count[WORK_BROAD_SAMPLES] += wavelength > BROAD_WAVELENGTH ? samples : 0;
    for (int k = 0; k < octaves_of(params); k++, wavelength /= params->lacunarity) {
        const double ratio = step / wavelength;
        double *octave =
            octave_work(work, wavelength > BROAD_WAVELENGTH ? OCTAVE_BROAD : OCTAVE_NARROW);
        if (band_limit && ratio >= 0.5) {
            work->count[WORK_FADED_SAMPLES] += is_sum(params) ? 0 : samples;
        } else if (scattered) {
            const double moved = 2 * amplitude / wavelength * fmin(1, POINTS * warp_ratio);
            add_scattered_octave(octave, e, ratio, corners, POINTS * ratio + moved);
        } else {
            add_lined_octave(octave, e, ratio, corners);
        }
    }
    for (int axis = 0; axis < 2 && amplitude != 0; axis++)
        add_lined_octave(octave_work(work, OCTAVE_WARP), e, warp_ratio, 2);
}

void work_add_grid(struct work *work, const struct farlands_params *params,
                   const struct farlands_grid *grid)
{
    const struct extent extent = extent_of(grid->width, grid->height);
    add_extent(work, params, &extent, (double)grid->step, grid->band_limit);
}

void work_add_points(struct work *work, const struct farlands_params *params, double count)
{
    const int octaves = octaves_of(params);
    double wavelength = (double)params->wavelength;
    int broad = 0;
    for (; broad < octaves && wavelength > BROAD_WAVELENGTH; wavelength /= params->lacunarity)
        broad++;
    work->count[WORK_POINTS] += count;
    work->count[WORK_POINT_OCTAVES] += octaves * count;
    work->count[WORK_POINT_BROAD] += ceil((double)broad / LANES) * count;
}

/* --- Boxes --- */

/* A box as a density is evaluated: blocks of rows, all slices of each. */
struct block {
    struct extent extent; /* of one block */
    double step, depth;
    double band, bands; /* rows of a band, and bands of the block */
};

/* One octave in the LAYERS slices that need it. Its cells are HEIGHT units high. */
static void add_space_octave(struct work *work, const struct block *block, double layers,
                             double wavelength, double height)
{
    const struct extent *e = &block->extent;
    const double ratio = block->step / wavelength, rise = block->step / height;
    const double band = fmin(block->band, e->rows);
    const double rows = fmin(2 * band, band * ratio + 2); /* of the lattice, in a band */
    const double slices = fmin(2 * layers, layers * rise + 2);
    const double folds = layers * rows * block->bands;
    const double lines = (rows <= SLOTS ? fmin(slices, 2 * layers) : 2 * layers) * rows;
    double *octave = octave_work(work, OCTAVE_SPACE);

    add_start(octave, e, ratio, 2);
    add_lines(octave, e, lines * block->bands, ratio, 2);
    octave[OCTAVE_ROWS] += layers * e->rows * e->chunks;
    octave[OCTAVE_SAMPLES] += layers * e->rows * e->columns;
    work->count[WORK_SLICES] += layers * block->bands * e->chunks;
    work->count[WORK_FOLDS] += folds * e->chunks;
    work->count[WORK_FOLD_SAMPLES] += folds * e->columns;
}

static void add_space_noise(struct work *work, const struct block *block, double layers,
                            const struct farlands_space_noise *noise)
{
    double wavelength = (double)noise->wavelength;
    if (layers <= 0)
        return;
    for (int k = 0; k < noise->octaves; k++, wavelength /= noise->lacunarity)
        add_space_octave(work, block, layers, wavelength, wavelength / noise->squash);
    work->count[WORK_NOISE_SAMPLES] += layers * block->extent.rows * block->extent.columns;
}

/* Slices of BOX between LOW and HIGH metres. */
static double layers_within(const struct farlands_box *box, double low, double high)
{
    const double step = (double)box->step / FARLANDS_UNIT, z = (double)box->z / FARLANDS_UNIT;
    const double first = fmax(0, ceil((low - z) / step));
    const double last = fmin(box->depth - 1, floor((high - z) / step));
    return fmax(0, last - first + 1);
}

static double finest_space(const struct farlands_volume_params *volume)
{
    const struct farlands_space_noise *noises[] = {
        volume->overhangs.amplitude > 0 ? &volume->overhangs.noise : NULL,
        volume->caverns.size > 0 ? &volume->caverns.noise : NULL,
        volume->tunnels.radius > 0 ? &volume->tunnels.noise : NULL,
    };
    double finest = (double)FARLANDS_MAX_VOLUME_WAVELENGTH;
    for (int i = 0; i < 3; i++)
        if (noises[i])
            finest = fmin(finest, (double)noises[i]->wavelength /
                                      pow(noises[i]->lacunarity, noises[i]->octaves - 1));
    return finest;
}

static void add_block(struct work *work, const struct farlands_params *params,
                      const struct block *block, const struct farlands_box *box, double lowest,
                      double highest)
{
    const struct farlands_volume_params *volume = &params->volume;
    const struct extent *e = &block->extent;
    const double bulge = (double)volume->overhangs.amplitude / FARLANDS_UNIT;
    const double reach = (double)volume->caverns.noise.wavelength * volume->caverns.size;
    /* Without a cover, caves reach this far above the surface. */
    const double cavern = volume->caverns.cover > 0 ? 0 : reach / FARLANDS_UNIT;
    const double tunnel =
        volume->tunnels.cover > 0 ? 0 : (double)volume->tunnels.radius / FARLANDS_UNIT;

    add_extent(work, params, e, block->step, false);
    if (volume->overhangs.amplitude > 0)
        add_space_noise(work, block, layers_within(box, lowest - bulge, highest + bulge),
                        &volume->overhangs.noise);
    if (volume->caverns.size > 0)
        add_space_noise(work, block, layers_within(box, -INFINITY, highest + fmax(bulge, cavern)),
                        &volume->caverns.noise);
    for (int i = 0; i < 2 && volume->tunnels.radius > 0; i++)
        add_space_noise(work, block, layers_within(box, -INFINITY, highest + fmax(bulge, tunnel)),
                        &volume->tunnels.noise);
    work->count[WORK_DENSITY_ROWS] += block->depth * e->rows * e->chunks;
    work->count[WORK_DENSITY_SAMPLES] += block->depth * e->rows * e->columns;
}

/* TIMES blocks of ROWS rows. */
static void add_blocks(struct work *work, const struct farlands_params *params,
                       const struct farlands_box *box, int rows, int times, double lowest,
                       double highest)
{
    const double step = (double)box->step;
    const int band = 4 * step <= finest_space(&params->volume) ? BAND : FINE_BAND;
    struct block block = {
        .extent = extent_of(box->width, rows),
        .step = step,
        .depth = box->depth,
        .band = band,
        .bands = ceil((double)rows / band),
    };
    struct work one = {0};

    /* Unlike those of a grid, chunks are not even. */
    const int rest = box->width % CHUNK;
    block.extent.columns = (double)(box->width - rest + whole_vectors(rest));
    add_block(&one, params, &block, box, lowest, highest);
    for (int kind = 0; kind < WORK_KINDS; kind++)
        work->count[kind] += times * one.count[kind];
}

void work_add_box(struct work *work, const struct farlands_params *params,
                  const struct farlands_box *box, double lowest, double highest)
{
    const int whole = box->height / WORK_BOX_ROWS, rest = box->height % WORK_BOX_ROWS;
    if (whole > 0)
        add_blocks(work, params, box, WORK_BOX_ROWS, whole, lowest, highest);
    if (rest > 0)
        add_blocks(work, params, box, rest, 1, lowest, highest);
}
