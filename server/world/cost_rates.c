#include "cost_rates.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "noise/terrain.h"
#include "server/core/clock.h"

/*
 * A set of probes, small grids, boxes and points, is timed. Each takes the sum of its work times
 * the unknown rates: these are fitted by least squares of the relative errors, none below zero.
 */
enum {
    REPEATS = 2,        /* of each probe, after the first, with cold caches; the fastest counts */
    SHORTEST_NS = 4000, /* of a repeat: ten times what reading the clock takes */
    SWEEPS = 100,       /* of the fit */
    OCTAVES = 6,        /* of a probe: two in double, four in float */
    SAMPLES_MAX = 2048, /* of a probe */
};

enum probe_terrain {
    PROBE_OCTAVES, /* octaves of all sizes */
    PROBE_SINGLE,  /* one octave, in float */
    PROBE_BROAD,   /* one octave, in double */
    PROBE_HOLLOW,  /* one octave and caverns below a level surface */
    PROBE_TERRAINS,
};

struct probe {
    enum probe_terrain terrain;
    int width, height, depth; /* depth > 0: a box; width 0: a point */
    int step;                 /* units, a power of 2: its logarithm */
    bool band_limit;
    int z; /* blocks, of a box */
};

enum { SURFACE = 1000 }; /* of PROBE_HOLLOW, metres */

#define SHAPES(terrain, step)                                                   \
    {terrain, 256, 1, 0, step, false, 0}, {terrain, 16, 24, 0, step, false, 0}, \
    {                                                                           \
        terrain, 64, 16, 0, step, false, 0                                      \
    }
#define BOXES(step, z)                                                                   \
    {PROBE_HOLLOW, 64, 8, 4, step, false, z}, {PROBE_HOLLOW, 16, 4, 12, step, false, z}, \
        {PROBE_HOLLOW, 16, 20, 3, step, false, z},                                       \
    {                                                                                    \
        PROBE_HOLLOW, 112, 1, 6, step, false, z                                          \
    }

static const struct probe probes[] = {
    SHAPES(PROBE_OCTAVES, 0),
    SHAPES(PROBE_OCTAVES, 17),
    SHAPES(PROBE_OCTAVES, 20),
    SHAPES(PROBE_OCTAVES, 23),
    SHAPES(PROBE_OCTAVES, 26),
    SHAPES(PROBE_OCTAVES, 30),
    SHAPES(PROBE_SINGLE, 0),
    SHAPES(PROBE_SINGLE, 20),
    {PROBE_OCTAVES, 64, 16, 0, 20, true, 0},
    {PROBE_OCTAVES, 64, 16, 0, 29, true, 0},
    {PROBE_OCTAVES, 0, 0, 0, 0, false, 0},
    {PROBE_SINGLE, 0, 0, 0, 0, false, 0},
    {PROBE_BROAD, 0, 0, 0, 0, false, 0},
    BOXES(4, 0),
    BOXES(12, 0),
    BOXES(16, 0),
    BOXES(20, 0),
    BOXES(4, 2 * SURFACE), /* in the air */
};

enum { PROBES = sizeof probes / sizeof probes[0] };

struct measured {
    unsigned kind; /* see kind_of */
    struct cost_rates rates;
    struct measured *next;
};

struct cost_table {
    struct measured *first;
    struct layer_rates layers[CONFIG_LAYERS_MAX];
    struct webp_config webp; /* with which they were measured */
    bool has_fields;
    struct field_rates fields;
};

/* --- Probes --- */

struct probing {
    struct farlands_params params[PROBE_TERRAINS];
    struct farlands_terrain *terrain[PROBE_TERRAINS];
    struct farlands_scratch *scratch;
    double clock; /* see clock_reading_ns */
    float out[SAMPLES_MAX];
    /* Of each probe: its work divided by its time. */
    double row[PROBES][WORK_KINDS];
};

/* All properties that rates depend on, as one number. */
static unsigned kind_of(const struct farlands_params *params)
{
    const bool sum = params->fractal == FARLANDS_NONE || params->fractal == FARLANDS_FBM;
    unsigned kind = params->basis;

    kind = kind * FARLANDS_HASHES + params->hash;
    kind = kind * FARLANDS_FRACTALS + (sum ? FARLANDS_FBM : params->fractal);
    kind = kind * 2 + (params->warp.amplitude != 0);
    kind = kind * 2 + (params->period != 0);
    kind *= FARLANDS_MAX_KNOTS;
    for (int pieces = 1; pieces < params->knots - 1; pieces *= 2) /* of the elevation curve */
        kind++;
    return kind;
}

/* Terrains of the kind of PARAMS with octaves that all probes share. */
static void make_params(struct farlands_params out[PROBE_TERRAINS],
                        const struct farlands_params *params)
{
    struct farlands_params p = *params;

    p.fractal = p.fractal == FARLANDS_NONE ? FARLANDS_FBM : p.fractal;
    p.wavelength = INT64_C(1) << 30;
    p.octaves = OCTAVES;
    p.persistence = 0.5;
    p.lacunarity = 8;
    p.period = p.period ? INT64_C(1) << 40 : 0;
    p.warp.wavelength = INT64_C(1) << 20;
    if (p.warp.amplitude)
        p.warp.amplitude = INT64_C(1) << 18;
    p.volume = (struct farlands_volume_params){0};
    out[PROBE_OCTAVES] = out[PROBE_SINGLE] = out[PROBE_BROAD] = out[PROBE_HOLLOW] = p;
    out[PROBE_SINGLE].octaves = out[PROBE_BROAD].octaves = out[PROBE_HOLLOW].octaves = 1;
    out[PROBE_SINGLE].wavelength = out[PROBE_HOLLOW].wavelength = INT64_C(1) << 18;
    struct farlands_params *hollow = &out[PROBE_HOLLOW];
    for (int i = 0; i < hollow->knots; i++)
        hollow->elevation[i].metres = SURFACE;
    hollow->volume.caverns.size = 0.5;
    hollow->volume.caverns.cover = FARLANDS_UNIT;
    hollow->volume.caverns.noise = (struct farlands_space_noise){
        .wavelength = 1 << 20, .octaves = 3, .persistence = 0.5, .lacunarity = 4, .squash = 2};
}

static struct farlands_grid grid_of(const struct probe *probe)
{
    return (struct farlands_grid){.x = 12345,
                                  .y = -54321,
                                  .step = INT64_C(1) << probe->step,
                                  .width = probe->width,
                                  .height = probe->height,
                                  .band_limit = probe->band_limit};
}

static struct farlands_box box_of(const struct probe *probe)
{
    const struct farlands_grid grid = grid_of(probe);
    return (struct farlands_box){.x = grid.x,
                                 .y = grid.y,
                                 .z = probe->z * FARLANDS_UNIT - (probe->z ? 0 : 16) * grid.step,
                                 .step = grid.step,
                                 .width = grid.width,
                                 .height = grid.height,
                                 .depth = probe->depth};
}

static void run(struct probing *probing, const struct probe *probe)
{
    const struct farlands_terrain *terrain = probing->terrain[probe->terrain];
    if (probe->depth) {
        const struct farlands_box box = box_of(probe);
        terrain_density(terrain, probing->scratch, &box, probing->out);
    } else if (probe->width) {
        const struct farlands_grid grid = grid_of(probe);
        terrain_heights(terrain, probing->scratch, &grid, probing->out, (size_t)grid.width);
    } else {
        probing->out[0] = terrain_height(terrain, 12345, -54321);
    }
}

/* What reading the clock adds to a time. */
static double clock_reading_ns(void)
{
    double best = INFINITY;
    for (int i = 0; i < 8; i++) {
        const double start = clock_thread_ns();
        best = fmin(best, clock_thread_ns() - start);
    }
    return best;
}

/* The time of one run. */
static double time_probe(struct probing *probing, const struct probe *probe)
{
    double best = INFINITY;
    int times = 1; /* the first run tells how many are long enough */
    for (int repeat = 0; repeat <= REPEATS; repeat++) {
        const double start = clock_thread_ns();
        for (int i = 0; i < times; i++)
            run(probing, probe);
        const double took = fmax(clock_thread_ns() - start - probing->clock, 1);
        best = fmin(best, took / times);
        if (repeat == 0)
            times = took < SHORTEST_NS ? (int)(SHORTEST_NS / took) + 1 : 1;
    }
    return best;
}

static struct work work_of(const struct probing *probing, const struct probe *probe)
{
    const struct farlands_params *params = &probing->params[probe->terrain];
    struct work work = {0};
    if (probe->depth) {
        const struct farlands_box box = box_of(probe);
        work_add_box(&work, params, &box, SURFACE, SURFACE);
    } else if (probe->width) {
        const struct farlands_grid grid = grid_of(probe);
        work_add_grid(&work, params, &grid);
    } else {
        work_add_points(&work, params, 1);
    }
    return work;
}

/* --- The fit --- */

/*
 * Least squares with no negative rate, by coordinate descent: each sweep sets every rate in turn to
 * its best value, the others being as they are (Franc, Hlavac, Navara, "Sequential coordinate-wise
 * algorithm for the non-negative least squares problem", 2005).
 */
static void fit(double (*row)[WORK_KINDS], double rate[WORK_KINDS])
{
    double gram[WORK_KINDS][WORK_KINDS], wanted[WORK_KINDS];

    for (int i = 0; i < WORK_KINDS; i++) {
        wanted[i] = rate[i] = 0;
        for (int p = 0; p < PROBES; p++)
            wanted[i] += row[p][i];
        for (int k = 0; k < WORK_KINDS; k++) {
            gram[i][k] = 0;
            for (int p = 0; p < PROBES; p++)
                gram[i][k] += row[p][i] * row[p][k];
        }
    }
    for (int sweep = 0; sweep < SWEEPS; sweep++)
        for (int i = 0; i < WORK_KINDS; i++) {
            double rest = wanted[i];
            if (gram[i][i] == 0)
                continue;
            for (int k = 0; k < WORK_KINDS; k++)
                rest -= gram[i][k] * rate[k];
            rate[i] = fmax(0, rate[i] + rest / gram[i][i]);
        }
}

static int measure(struct cost_rates *rates, const struct farlands_params *params)
{
    struct probing *probing = calloc(1, sizeof *probing);
    int err = probing ? farlands_scratch_new(&probing->scratch) : -ENOMEM;

    if (!err)
        make_params(probing->params, params);
    for (int t = 0; t < PROBE_TERRAINS && !err; t++)
        err = terrain_new_noise(&probing->terrain[t], &probing->params[t]);
    if (!err)
        probing->clock = clock_reading_ns();
    for (int p = 0; p < PROBES && !err; p++) {
        const double ns = time_probe(probing, &probes[p]);
        const struct work work = work_of(probing, &probes[p]);
        for (int kind = 0; kind < WORK_KINDS; kind++)
            probing->row[p][kind] = work.count[kind] / ns;
    }
    if (!err)
        fit(probing->row, rates->ns);
    for (int t = 0; probing && t < PROBE_TERRAINS; t++)
        terrain_free(probing->terrain[t]);
    if (probing)
        farlands_scratch_free(probing->scratch);
    free(probing);
    return err;
}

/* --- Tables --- */

/* Returns NULL if out of memory. */
static struct measured *add(struct cost_table *table, unsigned kind, const double ns[WORK_KINDS])
{
    struct measured *measured = calloc(1, sizeof *measured);
    if (!measured)
        return NULL;
    measured->kind = kind;
    memcpy(measured->rates.ns, ns, sizeof measured->rates.ns);
    measured->rates.layers = table->layers;
    measured->next = table->first;
    table->first = measured;
    return measured;
}

const struct cost_rates *cost_table_add(struct cost_table *table,
                                        const struct farlands_params *params)
{
    const unsigned kind = kind_of(params);
    struct measured *measured = table->first;
    struct cost_rates rates = {0};

    while (measured && measured->kind != kind)
        measured = measured->next;
    if (!measured && measure(&rates, params) == 0)
        measured = add(table, kind, rates.ns);
    return measured ? &measured->rates : NULL;
}

static int copy_rates(struct cost_table *table, const struct cost_table *known)
{
    memcpy(table->layers, known->layers, sizeof table->layers);
    table->has_fields = known->has_fields;
    table->fields = known->fields;
    for (const struct measured *next = known->first; next; next = next->next)
        if (!add(table, next->kind, next->rates.ns))
            return -ENOMEM;
    return 0;
}

int cost_table_new(struct cost_table **out, const struct cost_table *known,
                   const struct webp_config *webp)
{
    struct cost_table *table = calloc(1, sizeof *table);
    if (!table)
        return -ENOMEM;
    int err = known ? copy_rates(table, known) : layer_rates_measure(table->layers);
    const bool same =
        known && known->webp.quality == webp->quality && known->webp.method == webp->method;
    table->webp = *webp;
    if (!err && !same)
        err = layer_rates_measure_webp(table->layers, webp);
    if (err) {
        cost_table_free(table);
        return err;
    }
    *out = table;
    return 0;
}

const struct field_rates *cost_table_fields(struct cost_table *table)
{
    if (!table->has_fields && field_rates_measure(&table->fields))
        return NULL;
    table->has_fields = true;
    return &table->fields;
}

void cost_table_free(struct cost_table *table)
{
    if (!table)
        return;
    for (struct measured *measured = table->first, *next; measured; measured = next) {
        next = measured->next;
        free(measured);
    }
    free(table);
}
