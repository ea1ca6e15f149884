#include "field_costs.h"

#include <errno.h>
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "noise/terrain.h"
#include "server/core/clock.h"

/* --- Rates --- */

enum { REPEATS = 9, COLUMNS = 256, ROWS = 64, PROBE_NODES = 16 };
enum { PASSES = 2 }; /* the first takes 1 for the factors of classes that come later */

/* A graph most of whose time is spent in one class; the factors of others are known about. */
struct probe {
    enum estimate_class class;
    int columns, rows;
    int64_t step;
    struct graph_node node[PROBE_NODES]; /* those that are set */
};

#define NOISE(basis_, hash_, octaves_)                                                          \
    {                                                                                           \
        .basis = (basis_), .gradients = FARLANDS_UNIT256, .fade = FARLANDS_QUINTIC,             \
        .hash = (hash_), .fractal = FARLANDS_FBM, .wavelength = 1 << 20, .octaves = (octaves_), \
        .persistence = 0.5, .lacunarity = 2, .offset = 1, .gain = 2                             \
    }
static const struct farlands_params noise[] = {NOISE(FARLANDS_PERLIN, FARLANDS_MIX64, 4),
                                               NOISE(FARLANDS_CELLULAR, FARLANDS_MIX64, 2),
                                               NOISE(FARLANDS_PERLIN, FARLANDS_PERMUTATION, 4)};

static const struct curve_params curve[] = {
    {.knots = 4, .knot = {{-1, 1}, {-0.2F, 0}, {0.2F, 2}, {1, 0}}, .cubic = true},
    {.knots = 12,
     .knot = {{-1, 1},
              {-0.8F, 0},
              {-0.6F, 2},
              {-0.4F, 1},
              {-0.3F, 0},
              {-0.1F, 1},
              {0, 0},
              {0.2F, 2},
              {0.3F, 1},
              {0.5F, 0},
              {0.7F, 2},
              {1, 0}},
     .cubic = true},
};

#define NODE(kind, a, b, c, p, q)                                                                 \
    {                                                                                             \
        kind, {a, b, c}, .number = {p, q}, .noise = &noise[(kind) == GRAPH_ERODE], .curve = curve \
    }
#define LEAF(kind, p, q) NODE(kind, -1, -1, -1, p, q)
#define OF(kind, input) NODE(kind, input, -1, -1, -0.7, 0.7)
#define NOISE_OF(number_)                                                    \
    {                                                                        \
        GRAPH_NOISE, {-1, -1, -1}, .number = {0}, .noise = &noise[(number_)] \
    }
#define LONG_CURVE(input)                                                                \
    {                                                                                    \
        GRAPH_SPLINE, {input, -1, -1}, .number = {0}, .noise = noise, .curve = &curve[1] \
    }
#define FINE FARLANDS_UNIT
#define COARSE (FARLANDS_UNIT << 6)
#define CONSTANT LEAF(GRAPH_CONSTANT, 0.5, 0)
#define LATTICE(spacing) NODE(GRAPH_LATTICE, 0, -1, -1, (double)(spacing), 0)

/* clang-format off */
static const struct probe probes[] = {
    {ESTIMATE_OVERHEAD, 16, ROWS, FINE,
     {CONSTANT, LATTICE(1 << 16),
      OF(GRAPH_ABS, 1), OF(GRAPH_ABS, 2), OF(GRAPH_ABS, 3), OF(GRAPH_ABS, 4), OF(GRAPH_ABS, 5),
      OF(GRAPH_ABS, 6), OF(GRAPH_ABS, 7), OF(GRAPH_ABS, 8), OF(GRAPH_ABS, 9), OF(GRAPH_ABS, 10),
      OF(GRAPH_ABS, 11), OF(GRAPH_ABS, 12), OF(GRAPH_ABS, 13), OF(GRAPH_ABS, 14)}},
    {ESTIMATE_LATTICES, COLUMNS, ROWS, FINE, {CONSTANT, LATTICE(1 << 16)}},
    {ESTIMATE_ARITHMETIC, COLUMNS, ROWS, FINE,
     {CONSTANT, LATTICE(1 << 16), OF(GRAPH_STEP, 1), OF(GRAPH_STEP, 2), OF(GRAPH_STEP, 3),
      OF(GRAPH_STEP, 4), OF(GRAPH_STEP, 5)}},
    {ESTIMATE_SUMS, COLUMNS, ROWS, FINE, {LEAF(GRAPH_NOISE, 0, 0)}},
    {ESTIMATE_LINES, COLUMNS, ROWS, COARSE, {LEAF(GRAPH_NOISE, 0, 0)}},
    {ESTIMATE_HASHES, COLUMNS, 16, COARSE << 10, {LEAF(GRAPH_NOISE, 0, 0)}},
    {ESTIMATE_TABLES, COLUMNS, 16, COARSE << 10, {NOISE_OF(2)}},
    {ESTIMATE_CELLS, COLUMNS, 16, FINE, {NOISE_OF(1)}},
    {ESTIMATE_POINTS, COLUMNS, 16, COARSE << 2, {CONSTANT, NODE(GRAPH_NOISE, 0, 0, -1, 100, 0)}},
    {ESTIMATE_FEW, 4, 4, COARSE, {CONSTANT, NODE(GRAPH_NOISE, 0, 0, -1, 100, 0)}},
    {ESTIMATE_SLOPES, COLUMNS, 16, FINE, {LEAF(GRAPH_DAMPED, 0.5, 0)}},
    {ESTIMATE_GULLIES, COLUMNS, 16, FINE, {CONSTANT, NODE(GRAPH_ERODE, 0, 0, 0, 0.1, 0.3)}},
    {ESTIMATE_CURVES, COLUMNS, ROWS, FINE,
     {LEAF(GRAPH_NOISE, 0, 0), OF(GRAPH_SPLINE, 0), OF(GRAPH_SPLINE, 1), OF(GRAPH_SPLINE, 2)}},
    {ESTIMATE_LONG_CURVES, COLUMNS, ROWS, FINE,
     {LEAF(GRAPH_NOISE, 0, 0), LONG_CURVE(0), LONG_CURVE(1), LONG_CURVE(2)}},
};
/* clang-format on */

static struct farlands_grid probe_grid(const struct probe *probe)
{
    return (struct farlands_grid){.x = 12345,
                                  .y = -54321,
                                  .step = probe->step,
                                  .width = probe->columns,
                                  .height = probe->rows};
}

static int new_terrain(struct farlands_terrain **out, const struct probe *probe)
{
    int count = 0;
    while (count < PROBE_NODES && probe->node[count].noise)
        count++;
    const struct graph_field field = {"height", count - 1};
    const struct graph graph = {probe->node, count, &field, 1, 0};
    struct graph_fault fault;
    return terrain_new(out, &graph, &noise[0], &fault);
}

/* The fastest of some runs over places of their own. */
static double time_of(const struct farlands_terrain *terrain, struct farlands_scratch *scratch,
                      struct farlands_grid grid, float out[ROWS * COLUMNS])
{
    double best = INFINITY;
    for (int i = 0; i <= REPEATS; i++) {
        grid.x += INT64_C(1) << 30;
        const double start = clock_thread_ns();
        if (terrain_heights(terrain, scratch, &grid, out, COLUMNS))
            return INFINITY;
        best = fmin(best, clock_thread_ns() - start);
    }
    return best;
}

/* The factor of the probe's class, those before it being known. */
static int measure(struct field_rates *rates, const struct probe *probe,
                   struct farlands_scratch *scratch)
{
    float out[ROWS * COLUMNS];
    const struct farlands_grid grid = probe_grid(probe);
    struct farlands_terrain *terrain;
    struct evaluation *kept = NULL;
    struct estimate guess;
    int err = new_terrain(&terrain, probe);
    if (err)
        return err;
    err = estimate_field(&guess, terrain, 0, &grid, NULL, &kept);
    evaluation_free(kept);
    if (!err) {
        const double ns = time_of(terrain, scratch, grid, out);
        rates->factor[probe->class] = 0;
        const double rest = ns - field_rates_ns(rates, &guess);
        rates->factor[probe->class] = fmax(rest / guess.class_ns[probe->class], 0.05);
        err = isfinite(ns) ? 0 : -ENOMEM;
    }
    terrain_free(terrain);
    return err;
}

int field_rates_measure(struct field_rates *rates)
{
    struct farlands_scratch *scratch;
    int err = farlands_scratch_new(&scratch);
    if (err)
        return err;
    for (int class = 0; class < ESTIMATE_CLASSES; class ++)
        rates->factor[class] = 1;
    for (int pass = 0; pass < PASSES; pass++)
        for (size_t i = 0; i < sizeof probes / sizeof probes[0] && !err; i++)
            err = measure(rates, &probes[i], scratch);
    farlands_scratch_free(scratch);
    return err;
}

double field_rates_ns(const struct field_rates *rates, const struct estimate *estimate)
{
    double ns = 0;
    for (int class = 0; class < ESTIMATE_CLASSES; class ++)
        ns += rates->factor[class] * estimate->class_ns[class];
    return ns;
}

/* --- The table --- */

enum { SIZES = 4, STEPS = 53 };
static const int sizes[SIZES] = {1, 16, 64, 272};

/* The times of grids of sizes[j] rows of sizes[i] samples. */
struct entry {
    double ns[SIZES][SIZES];
};

/* The times of a place 4^i blocks from the one before it. */
enum { DISTANCES = 13 };
struct place_times {
    double ns[DISTANCES];
};

struct field_costs {
    const struct field_rates *rates;
    int fields;
    _Atomic(struct place_times *) *places; /* [field] */
    _Atomic(struct entry *) entry[];       /* [field][band limit][step] */
};

struct field_costs *field_costs_new(const struct farlands_terrain *terrain,
                                    const struct field_rates *rates)
{
    const int fields = terrain_field_count(terrain);
    struct field_costs *costs =
        calloc(1, sizeof *costs + (size_t)fields * 2 * STEPS * sizeof costs->entry[0]);
    if (!costs)
        return NULL;
    costs->rates = rates;
    costs->fields = fields;
    costs->places = calloc((size_t)fields, sizeof costs->places[0]);
    if (costs->places)
        return costs;
    free(costs);
    return NULL;
}

void field_costs_free(struct field_costs *costs)
{
    for (int i = 0; costs && i < costs->fields * 2 * STEPS; i++)
        free(costs->entry[i]);
    for (int i = 0; costs && i < costs->fields; i++)
        free(costs->places[i]);
    if (costs)
        free((void *)costs->places);
    free(costs);
}

static int fill(struct entry *entry, const struct field_costs *costs,
                const struct farlands_terrain *terrain, int field, struct farlands_grid grid)
{
    struct evaluation *kept = NULL;
    int err = 0;
    for (int i = 0; i < SIZES * SIZES && !err; i++) {
        struct estimate guess;
        grid.width = sizes[i % SIZES];
        grid.height = sizes[i / SIZES];
        err = estimate_field(&guess, terrain, field, &grid, NULL, &kept);
        if (!err)
            entry->ns[i / SIZES][i % SIZES] = field_rates_ns(costs->rates, &guess);
    }
    evaluation_free(kept);
    return err;
}

/* The entry for GRID, whose step is a power of two. NULL if out of memory. */
static const struct entry *entry_of(struct field_costs *costs,
                                    const struct farlands_terrain *terrain, int field,
                                    const struct farlands_grid *grid)
{
    const int bits = __builtin_ctzll((uint64_t)grid->step);
    _Atomic(struct entry *) *at = &costs->entry[(field * 2 + grid->band_limit) * STEPS + bits];
    struct entry *known = *at, *made;
    if (known)
        return known;
    made = malloc(sizeof *made);
    if (!made || fill(made, costs, terrain, field, *grid)) {
        free(made);
        return NULL;
    }
    /* Another thread may have been first. */
    if (atomic_compare_exchange_strong(at, &known, made))
        return made;
    free(made);
    return known;
}

/* N within sizes: the lower neighbour, and the part of the way to the upper one; above them more
 * than 1. */
static int place(double n, double *part)
{
    int i = 0;
    while (i < SIZES - 2 && n > sizes[i + 1])
        i++;
    *part = (n - sizes[i]) / (sizes[i + 1] - sizes[i]);
    return i;
}

static double mix(double a, double b, double part)
{
    return a + part * (b - a);
}

double field_costs_of_grid(struct field_costs *costs, const struct farlands_terrain *terrain,
                           int field, const struct farlands_grid *grid)
{
    const int most = sizes[SIZES - 1];
    const double width = fmin(grid->width, most), height = fmin(grid->height, most);
    /* Wider grids are cut in chunks, each of which costs about the same. */
    const double times = grid->width / width * (grid->height / height);
    const int log = (int)lround(log2((double)grid->step));
    const struct farlands_grid rounded = {
        .x = 12345, .y = -54321, .step = INT64_C(1) << log, .band_limit = grid->band_limit};
    const struct entry *entry = entry_of(costs, terrain, field, &rounded);
    double across, down;
    if (!entry)
        return 0;
    const int i = place(width, &across), j = place(height, &down);
    return times * mix(mix(entry->ns[j][i], entry->ns[j][i + 1], across),
                       mix(entry->ns[j + 1][i], entry->ns[j + 1][i + 1], across), down);
}

/* The times of FIELD at places. NULL if out of memory. */
static const struct place_times *place_times_of(struct field_costs *costs,
                                                const struct farlands_terrain *terrain, int field)
{
    struct place_times *known = costs->places[field], *made;
    struct evaluation *kept = NULL;
    int err = 0;
    if (known)
        return known;
    made = malloc(sizeof *made);
    for (int i = 0; made && i < DISTANCES && !err; i++) {
        struct estimate guess;
        err = estimate_place(&guess, terrain, field, ldexp(FARLANDS_UNIT, 2 * i), &kept);
        if (!err)
            made->ns[i] = field_rates_ns(costs->rates, &guess);
    }
    evaluation_free(kept);
    if (made && !err && atomic_compare_exchange_strong(&costs->places[field], &known, made))
        return made;
    free(made);
    return known;
}

double field_costs_of_place(struct field_costs *costs, const struct farlands_terrain *terrain,
                            int field, double apart)
{
    const struct place_times *places = place_times_of(costs, terrain, field);
    const double at = fmin(log2(fmax(apart / FARLANDS_UNIT, 1)) / 2, DISTANCES - 1);
    const int i = at < DISTANCES - 1 ? (int)at : DISTANCES - 2;
    return places ? mix(places->ns[i], places->ns[i + 1], at - i) : 0;
}
