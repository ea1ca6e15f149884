/* From the chunks that an evaluation goes through to its time. */
#include "estimate.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "drain.h"
#include "terrain_parts.h"

/* Distances of neighbours along an axis: of the nodes of a lattice around samples that are far
 * apart, some are next to each other. */
struct gaps {
    double close, closes; /* samples, and how many gaps */
    double apart, aparts; /* units: the mean of the others */
    double span;          /* units, of all */
};

struct extent {
    double columns, rows; /* in whole steps of the loops, and as they are */
    double row_starts;    /* in whole steps */
    double step;          /* the widest gap */
    bool few;             /* chunk_is_few: samples are points ... */
    double points, sides; /* in whole vectors, and their coordinates along both axes */
    struct gaps x, y;
};

static struct gaps gaps_of(struct coordinates along, int n)
{
    struct gaps gaps = {.close = (double)along.step, .closes = n - 1};
    gaps.span = gaps.close * gaps.closes;
    if (!along.at || n < 2)
        return gaps;
    gaps.close = (double)(along.at[1] - along.at[0]); /* TAPS nodes are neighbours */
    gaps.closes = 0;
    gaps.span = (double)(along.at[n - 1] - along.at[0]);
    for (int i = 1; i < n; i++)
        gaps.closes += (double)(along.at[i] - along.at[i - 1]) == gaps.close;
    gaps.aparts = n - 1 - gaps.closes;
    if (gaps.aparts > 0)
        gaps.apart = (gaps.span - gaps.closes * gaps.close) / gaps.aparts;
    return gaps;
}

/* LANES: floats in a vector. */
static struct extent extent_of(const struct chunk *chunk, bool band_limit, int lanes)
{
    const int vectors = (chunk->width * chunk->height + lanes - 1) / lanes;
    return (struct extent){
        .few = chunk_is_few(chunk, band_limit),
        .points = vectors * lanes,
        .sides = chunk->width + chunk->height,
        .columns = whole_steps(chunk->width),
        .rows = chunk->height,
        .row_starts = whole_steps(chunk->height),
        .step = (double)chunk->x.step,
        .x = gaps_of(chunk->x, chunk->width),
        .y = gaps_of(chunk->y, chunk->height),
    };
}

/* Lattice rows that samples lie between, CORNERS each, in an octave of WAVELENGTH. */
static double lines_of(const struct gaps *gaps, double corners, double wavelength)
{
    return corners + gaps->closes * fmin(gaps->close / wavelength, corners) +
           gaps->aparts * fmin(gaps->apart / wavelength, corners);
}

/* --- Rates, in ns --- */

/* Of an octave by rows, narrow or broad. */
struct line_rates {
    double column, row_start, hash;   /* at the start of a chunk */
    double line, corner, line_sample; /* of a lattice row */
    double row, sample;
};

static const struct line_rates line_rates[FARLANDS_BASES][2] = {
    [FARLANDS_PERLIN] = {{2.3, 0.9, 0.72, 19, 0.55, 0.42, 3.6, 0.06},
                         {2.9, 18, 0.54, 34, 0.58, 0.32, 7.2, 0.08}},
    [FARLANDS_CELLULAR] = {{4.1, 0.9, 0.18, 31, 0.1, 0.5, 11, 0.6},
                           {2.9, 31, 0.18, 25, 0.12, 0.31, 29, 0.85}},
    [FARLANDS_VALUE] = {{3.6, 0.9, 0.18, 26, 0.05, 0.17, 1.8, 0.055},
                        {2.5, 17, 0.18, 14, 0.1, 0.12, 5.4, 0.055}},
};

static const struct line_rates slope_rates = {4.6, 7.2, 0.72, 54, 0.6, 1.4, 29, 0.36};
static const struct line_rates broad_slope_rates = {4.6, 18, 0.72, 72, 0.6, 1.4, 32, 0.55};
static const struct line_rates gully_rates = {4.1, 0.9, 0.18, 31, 0.1, 0.5, 110, 2.1};

/* Of an octave whose samples have cells of their own. */
static const double point_sample[FARLANDS_BASES] = {
    [FARLANDS_PERLIN] = 5.3,
    [FARLANDS_SIMPLEX] = 5.9,
    [FARLANDS_CELLULAR] = 5.8,
    [FARLANDS_VALUE] = 3.2,
};
static const double point_row = 38, coordinate = 6;
static const double table_corner = 0.16;
enum { SHORT_CURVE = 8 }; /* pieces: kernels of 8 lanes look them up in a register */

/* Of operations on values, and of what comes after a noise. */
static const double operation_sample[GRAPH_KINDS] = {
    [GRAPH_CONSTANT] = 0.02,   [GRAPH_ADD] = 0.06,        [GRAPH_SUBTRACT] = 0.06,
    [GRAPH_MULTIPLY] = 0.06,   [GRAPH_MIN] = 0.06,        [GRAPH_MAX] = 0.06,
    [GRAPH_SMOOTH_MIN] = 0.12, [GRAPH_SMOOTH_MAX] = 0.15, [GRAPH_ABS] = 0.04,
    [GRAPH_CLAMP] = 0.04,      [GRAPH_MIX] = 0.1,         [GRAPH_STEP] = 0.16,
    [GRAPH_RIDGE] = 0.17,      [GRAPH_TERRACE] = 0.25,    [GRAPH_DRAIN] = 15,
    [GRAPH_BASE_LEVEL] = 1,    [GRAPH_BANK] = 1,          [GRAPH_WATER] = 5,
    [GRAPH_RIVER] = 1,         [GRAPH_CHANNEL] = 5,
};
/* Of a node of a drainage with its ground, measured with ground of 17 octaves, and how many nodes
 * along an axis a place needs on each level: within a factor of 3. */
static const double river_node = 2300;
enum { RIVER_NODES = 24, RIVER_SAMPLES = 8 /* that show a level of nodes: see rivers.c */ };
/* Of GRAPH_BIOME, if no row of its table is far from all samples: a row, and one of its ranges. */
static const double biome_sample = 0.3, biome_limit_sample = 0.3;
static const double operation_row = 2, band = 13, noise_start = 80, chunk_start = 60;

/* --- Operations --- */

/* The operation that is estimated, and where its time goes. */
struct tally {
    struct estimate *estimate;
    double times;
    int operation;
};

static void add(struct tally *t, enum estimate_class class, double ns)
{
    ns *= t->times;
    t->estimate->ns += ns;
    t->estimate->class_ns[class] += ns;
    t->estimate->operation_ns[t->operation] += ns;
}

static void add_tables(struct tally *t, const struct noise *noise, double corners)
{
    if (noise->hash == FARLANDS_PERMUTATION)
        add(t, ESTIMATE_TABLES, corners * table_corner);
}

/* The start of an octave in a chunk. Returns the corners that each of its lines hashes. */
static double add_start(struct tally *t, const struct extent *e, const struct line_rates *rates,
                        double corners, double wavelength)
{
    const double dense = e->x.span / wavelength + corners + (double)KERNEL_STEP;
    const double hashes = e->step < 0.86 * wavelength ? dense : e->columns * corners;
    add(t, ESTIMATE_OVERHEAD,
        e->columns * rates->column + e->row_starts * rates->row_start + hashes * rates->hash);
    return hashes;
}

static void add_lined_octave(struct tally *t, const struct extent *e, const struct noise *noise,
                             const struct line_rates *rates, enum estimate_class class,
                             double corners, double wavelength)
{
    const double hashes = add_start(t, e, rates, corners, wavelength);
    const double lines = lines_of(&e->y, corners, wavelength);
    add(t, ESTIMATE_OVERHEAD, lines * rates->line);
    add(t, class == ESTIMATE_SLOPES ? ESTIMATE_OVERHEAD : ESTIMATE_HASHES,
        lines * hashes * rates->corner);
    add_tables(t, noise, lines * hashes);
    add(t, ESTIMATE_LINES, lines * e->columns * rates->line_sample);
    add(t, ESTIMATE_OVERHEAD, e->rows * rates->row);
    add(t, class, e->rows * e->columns * rates->sample);
}

/* SAMPLES of an octave that have cells of their own. */
static void add_points(struct tally *t, const struct noise *noise, enum farlands_basis basis,
                       enum estimate_class class, double samples)
{
    const double corners = basis_of(basis).corners;
    add(t, class, samples * point_sample[basis] * (class == ESTIMATE_FEW ? 2 : 1));
    add_tables(t, noise, samples * corners * corners);
}

static void add_scattered_octave(struct tally *t, const struct extent *e, const struct noise *noise,
                                 const struct octave *octave)
{
    const struct line_rates *start = &line_rates[FARLANDS_PERLIN][octave_is_broad(octave)];
    add_start(t, e, start, basis_of(noise->basis).corners, (double)octave->wavelength);
    add(t, ESTIMATE_OVERHEAD, e->rows * point_row);
    add_points(t, noise, noise->basis, ESTIMATE_POINTS, e->rows * e->columns);
}

static void add_few_octave(struct tally *t, const struct extent *e, const struct noise *noise,
                           enum farlands_basis basis)
{
    add(t, ESTIMATE_OVERHEAD, point_row + coordinate * e->sides);
    add_points(t, noise, basis, ESTIMATE_FEW, e->points);
}

/* All octaves at a single place: as many at once as a vector has lanes, which POINTS are. */
static void add_place(struct tally *t, const struct extent *e, const struct noise *noise)
{
    const double vectors = ceil(noise->octaves / e->points);
    add(t, ESTIMATE_OVERHEAD, point_row + coordinate * e->sides * noise->octaves);
    add_points(t, noise, noise->basis, ESTIMATE_FEW, vectors * e->points);
}

static void add_warp(struct tally *t, const struct extent *e, const struct noise *noise)
{
    for (int axis = 0; axis < 2; axis++) {
        const struct octave *octave = &noise->warp_octave[axis];
        if (e->few) {
            add_few_octave(t, e, noise, FARLANDS_PERLIN);
            continue;
        }
        add_lined_octave(t, e, noise, &line_rates[FARLANDS_PERLIN][octave_is_broad(octave)],
                         ESTIMATE_SUMS, 2, (double)octave->wavelength);
        add(t, ESTIMATE_SUMS, e->rows * e->columns * 0.6);
    }
}

static void add_curve(struct tally *t, const struct curve *curve, double ns)
{
    const bool is_short = curve->pieces <= SHORT_CURVE;
    add(t, is_short ? ESTIMATE_CURVES : ESTIMATE_LONG_CURVES, is_short ? 0.15 * ns : ns);
}

static void add_noise(struct tally *t, const struct operation *o, const struct extent *e,
                      const struct domain *domain)
{
    const int64_t band_limit = domain->band_limit;
    const struct noise *noise = o->noise;
    const struct basis basis = basis_of(noise->basis);
    const bool scattered = basis.method == BASIS_POINTS || noise->warp != 0 || o->inputs > 0;
    const bool sum = noise->fractal == FARLANDS_NONE || noise->fractal == FARLANDS_FBM;
    const double samples = e->few ? e->points : e->rows * e->columns;
    const bool single = e->few && e->sides == 2;

    for (int k = 0; k < noise->octaves; k++) {
        const struct octave *octave = &noise->octave[k];
        const double wavelength = (double)octave->wavelength;
        const bool broad = octave_is_broad(octave);
        const bool silent = band_limit && octave_band_limit(octave, band_limit) == 0;
        if (!sum)
            add(t, ESTIMATE_CURVES, samples * (silent ? 0.2 : 0.4));
        if (silent || single)
            continue;
        if (e->few)
            add_few_octave(t, e, noise, noise->basis);
        else if (scattered)
            add_scattered_octave(t, e, noise, octave);
        else
            add_lined_octave(t, e, noise, &line_rates[noise->basis][broad],
                             basis.method == BASIS_ROWS ? ESTIMATE_CELLS : ESTIMATE_SUMS,
                             basis.corners, wavelength);
    }
    if (single)
        add_place(t, e, noise);
    if (noise->warp != 0)
        add_warp(t, e, noise);
    if (domain->inputs[t->operation] > 0)
        add(t, ESTIMATE_POINTS, samples);
    add(t, ESTIMATE_OVERHEAD, noise_start + 15 * (e->few ? 1 : e->rows));
    add(t, ESTIMATE_ARITHMETIC, samples * (noise->broad > 0 ? 0.6 : 0.1));
    if (o->curve)
        add_curve(t, o->curve, samples * (o->curve->pieces > 2 ? 1.6 : 0.9));
}

static void add_steered(struct tally *t, const struct operation *o, const struct extent *e,
                        int64_t band_limit)
{
    const bool damped = o->kind == GRAPH_DAMPED;
    for (int k = 0; k < o->noise->octaves; k++) {
        const struct octave *octave = &o->noise->octave[k];
        if (band_limit &&
            (damped ? octave_band_limit : octave_gully_limit)(octave, band_limit) == 0)
            break;
        const struct line_rates *rates = !damped                   ? &gully_rates
                                         : octave_is_broad(octave) ? &broad_slope_rates
                                                                   : &slope_rates;
        add_lined_octave(t, e, o->noise, rates, damped ? ESTIMATE_SLOPES : ESTIMATE_GULLIES,
                         damped ? 2 : 3, (double)octave->wavelength);
    }
    add(t, ESTIMATE_OVERHEAD, noise_start + 15 * e->rows);
}

/* COLUMNS of the patch are mixed for each row. */
static void add_lattice(struct tally *t, const struct extent *e, double columns)
{
    add(t, ESTIMATE_OVERHEAD, 15 * e->rows);
    add(t, ESTIMATE_LATTICES, e->rows * (0.3 * e->columns + 0.1 * columns));
}

static void add_operation(struct tally *t, const struct operation *o, const struct extent *e)
{
    const double rows = e->few ? 1 : e->rows, samples = e->few ? e->points : rows * e->columns;
    add(t, ESTIMATE_OVERHEAD, operation_row * rows + band * ceil(rows / (double)PLAN_BAND_ROWS));
    if (o->kind == GRAPH_BIOME)
        add(t, ESTIMATE_ARITHMETIC,
            samples * (e->few ? 0.3 : 1) *
                (o->biomes->count * biome_sample + o->biomes->limits * biome_limit_sample));
    if (o->kind == GRAPH_SPLINE)
        add_curve(t, o->curve, samples * (o->curve->cubic ? 2 : 1.6));
    else
        add(t, ESTIMATE_ARITHMETIC, samples * operation_sample[o->kind]);
}

/* --- Chunks --- */

struct estimator {
    struct surveyor surveyor; /* first */
    const struct program *program;
    struct estimate *estimate;
    double most;
    int lanes;
};

/* Nodes between the first and the last sample of a chunk along an axis, about, if a place needs
 * TAPS of them. */
static double nodes_within(const struct gaps *gaps, double taps, double spacing)
{
    return gaps->closes * fmin(gaps->close / spacing, taps) +
           gaps->aparts * fmin(gaps->apart / spacing, taps);
}

/* All that it needs. */
static double nodes_of(const struct gaps *gaps, double taps, double spacing)
{
    return taps + nodes_within(gaps, taps, spacing);
}

/* The nodes of RIVERS that a chunk of DOMAIN needs, APART units from the last one. Chunks beside
 * each other share those around them. */
static void add_river_nodes(struct tally *t, const struct rivers_params *rivers,
                            const struct extent *e, const struct domain *domain, double apart)
{
    double spacing = (double)rivers->spacing;
    /* Chunks of lattices are counted as often as they are needed. */
    apart = fmax(apart, (double)domain->direct_below);
    for (int k = 0; k < rivers->levels; k++, spacing /= (double)DRAIN_RATIO) {
        if (k > 0 && spacing < (double)RIVER_SAMPLES * (double)domain->band_limit)
            break;
        const double all =
            nodes_of(&e->x, RIVER_NODES, spacing) * nodes_of(&e->y, RIVER_NODES, spacing);
        const double own =
            nodes_within(&e->x, RIVER_NODES, spacing) * nodes_within(&e->y, RIVER_NODES, spacing);
        const double nodes = t->times > 1 ? own + (all - own) / t->times : all;
        add(t, ESTIMATE_OVERHEAD,
            river_node * fmin(1, apart / ((double)RIVER_NODES * spacing)) * nodes);
    }
}

static int see(struct surveyor *surveyor, const struct domain *domain, const struct chunk *chunk)
{
    const struct estimator *estimator = (const struct estimator *)surveyor;
    const struct program *program = estimator->program;
    const struct extent all = extent_of(chunk, domain->band_limit, estimator->lanes);
    struct extent extent = all;
    bool found[GRAPH_MAX_NODES] = {false}; /* rivers */

    add(&(struct tally){estimator->estimate, surveyor->times, domain->step[0].operation},
        ESTIMATE_OVERHEAD, chunk_start);
    extent.rows = fmin(all.rows, PLAN_BAND_ROWS);
    for (int s = 0; s < domain->steps; s++) {
        if (s == domain->constants)
            extent = all;
        const int operation = domain->step[s].operation;
        const struct operation *o = &program->operation[operation];
        struct tally tally = {estimator->estimate, surveyor->times, operation};
        const int lattice = operation_is_slope(o) ? o->input[0] : operation;
        const bool rivers = o->river_source >= 0 && !plan_hides_rivers(program, domain, o);
        if (rivers && !found[o->river_source])
            add_river_nodes(&tally, program->operation[o->river_source].rivers, &extent, domain,
                            surveyor->apart);
        if (rivers)
            found[o->river_source] = true;
        if (o->river_source >= 0 && !rivers)
            continue;
        if (operation_is_patched(o))
            add_lattice(
                &tally, &extent,
                nodes_of(&extent.x, TAPS, (double)lattice_spacing(&program->operation[lattice])));
        else if (o->kind == GRAPH_NOISE)
            add_noise(&tally, o, &extent, domain);
        else if (o->noise)
            add_steered(&tally, o, &extent, domain->band_limit);
        else
            add_operation(&tally, o, &extent);
    }
    /* Values go out, also those that are the same everywhere. */
    add(&(struct tally){estimator->estimate, surveyor->times, domain->output[0]},
        ESTIMATE_ARITHMETIC, 0.13 * domain->outputs * all.rows * all.columns);
    for (int i = 0; i < domain->lattices; i++)
        add(&(struct tally){estimator->estimate, surveyor->times, domain->lattice[i]},
            ESTIMATE_OVERHEAD, 60 + 6 * extent.columns);
    return estimator->estimate->ns > estimator->most ? -E2BIG : 0;
}

static int survey(struct estimate *out, const struct program *program, int operation,
                  const struct farlands_grid *grid, double most, double apart, int lanes,
                  struct evaluation **kept)
{
    memset(out, 0, sizeof *out);
    struct estimator estimator = {{1, apart, see}, program, out, most, lanes};
    const int err = evaluate_survey(program, grid, &operation, 1, &estimator.surveyor, kept);
    return err == -E2BIG ? 0 : err;
}

int estimate(struct estimate *out, const struct program *program, int operation,
             const struct farlands_grid *grid, double most, struct evaluation **kept)
{
    return survey(out, program, operation, grid, most, INFINITY, KERNEL_STEP, kept);
}

int estimate_place(struct estimate *out, const struct farlands_terrain *terrain, int field,
                   double apart, struct evaluation **kept)
{
    const struct farlands_grid place = {
        .x = 12345, .y = -54321, .step = 1, .width = 1, .height = 1};
    return survey(out, terrain->program, terrain->field[field].operation, &place, INFINITY, apart,
                  terrain->kernel->lanes, kept);
}

/* --- Fields --- */

/* The field that each operation belongs to: the one in whose expression it stands. */
static void find_owners(const struct program *program, const int *field, int fields,
                        int owner[GRAPH_MAX_NODES])
{
    for (int k = 0; k < GRAPH_MAX_NODES; k++)
        owner[k] = -1;
    for (int i = fields - 1; i >= 0; i--)
        owner[field[i]] = i;
    for (int k = program->count - 1; k >= 0; k--)
        for (int i = 0; i < program->operation[k].inputs; i++)
            if (owner[program->operation[k].input[i]] < 0)
                owner[program->operation[k].input[i]] = owner[k];
}

static void share_out(const struct estimate *guess, const struct program *program, const int *field,
                      int fields, double *field_ns)
{
    int owner[GRAPH_MAX_NODES];
    find_owners(program, field, fields, owner);
    for (int i = 0; i < fields; i++)
        field_ns[i] = 0;
    for (int k = 0; k < program->count; k++)
        if (owner[k] >= 0)
            field_ns[owner[k]] += guess->operation_ns[k];
}

int estimate_field(struct estimate *out, const struct farlands_terrain *terrain, int field,
                   const struct farlands_grid *grid, double *field_ns, struct evaluation **kept)
{
    int operation[GRAPH_MAX_NODES];
    for (int i = 0; i < terrain->fields; i++)
        operation[i] = terrain->field[i].operation;
    const int err = estimate(out, terrain->program, operation[field], grid, INFINITY, kept);
    if (!err && field_ns)
        share_out(out, terrain->program, operation, terrain->fields, field_ns);
    return err;
}
