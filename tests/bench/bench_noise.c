/*
 * Speed of the noise: one line for each kind of terrain and each kernel that this machine
 * supports. The ratio is to the plain form of the same work in plain_noise.c, timed in turns on
 * the same core, so that other load affects both alike:
 *
 *     noise/perlin-fbm8-256/avx512  31.2 us/tile  176x
 *
 * Perlin fbm of eight octaves is compared with one form for all, the published map of 256 x 256
 * with the published table; everything else with the textbook form of its own noise, hash
 * included. Before they are timed, plain forms and kernels are checked to compute the same. An
 * optional argument selects the lines whose names contain it.
 */
#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "noise/terrain/terrain.h"
#include "plain_noise.h"

#define BLOCKS(n) ((n)*FARLANDS_UNIT)
#define LENGTH(array) ((int)(sizeof(array) / sizeof *(array)))

enum { TILE_SIZE = 256, BOX_SIZE = 64, POINTS = 1000, ROUNDS = 400, FEW_ROUNDS = 9 };
enum { SAMPLES = BOX_SIZE * BOX_SIZE * BOX_SIZE }; /* the most in one piece of work */

/* Nanoseconds for all rounds of one subject, and minimum for one turn: short, so that all forms of
 * a round see the same machine, but long compared with reading the clock. */
static const uint64_t subject_time = 2200000000, turn_time = 1000000;
/* Other load can only make a turn slower, so the time reported is a low quantile. */
static const double quickest = 0.1;
/* Difference of noise in float and in double: a few roundings of numbers near 1 per octave. */
static const double tolerance = 0x1p-19;

enum shape { TILE, BOX, DENSITY, POINT };

static const char *const shape_unit[] = {
    [TILE] = "us/tile", [BOX] = "us/box", [DENSITY] = "us/box", [POINT] = "ns/point"};

struct subject {
    const char *name;
    enum shape shape;
    bool against_map;
    bool band_limit;
    int64_t step;
    int64_t depth; /* density: blocks from the height down to the middle of the first box */
    int rows;      /* density: rows of each part of the box; 0: the whole box at once */
    struct farlands_params params;
};

#define PARAMS(count)                                                                              \
    .seed = 1, .gradients = FARLANDS_UNIT256, .fade = FARLANDS_QUINTIC, .wavelength = BLOCKS(512), \
    .octaves = (count), .persistence = 0.5, .lacunarity = 2, .offset = 1, .gain = 2,               \
    .elevation = {{-2, -2}, {2, 2}}, .knots = 2

/* The world of the keys' defaults: tests/worlds/fractal.yaml. */
#define DEFAULT_WORLD                                                                            \
    .seed = 2, .gradients = FARLANDS_UNIT256, .fade = FARLANDS_QUINTIC, .fractal = FARLANDS_FBM, \
    .octaves = 21, .persistence = 0.55, .lacunarity = 2, .wavelength = BLOCKS(1048576),          \
    .elevation = {{-0.45f, -6500}, {-0.20f, -3800}, {-0.10f, -1400}, {-0.04f, -220},             \
                  {0, 0},          {0.02f, 70},     {0.07f, 300},    {0.14f, 800},               \
                  {0.21f, 1700},   {0.30f, 3300},   {0.45f, 6000}},                              \
    .knots = 11

#define DEFAULT_VOLUME                                               \
    .volume = {                                                      \
        .overhangs = {BLOCKS(40), 0.15, {BLOCKS(64), 3, 0.5, 2, 2}}, \
        .caverns = {0.7, BLOCKS(32), {BLOCKS(128), 3, 0.5, 2, 2}},   \
        .tunnels = {BLOCKS(6), 0, {BLOCKS(128), 2, 0.4, 2, 2}},      \
    }

/* The finest cells are 4 samples wide unless the name says otherwise; 8 in volumes. */
static const struct subject subjects[] = {
    {"perlin-fbm8-256", TILE, .against_map = true, .step = BLOCKS(1),
     .params = {PARAMS(8), .fractal = FARLANDS_FBM}},
    {"perlin-fbm8-cell8-256", TILE, .against_map = true, .step = BLOCKS(1) / 2,
     .params = {PARAMS(8), .fractal = FARLANDS_FBM}},
    {"perlin-fbm8-permutation-256", TILE, .against_map = true, .step = BLOCKS(1),
     .params = {PARAMS(8), .fractal = FARLANDS_FBM, .hash = FARLANDS_PERMUTATION}},
    /* All cells are finer than the samples. */
    {"perlin-fbm8-sparse-256", TILE, .against_map = true, .step = BLOCKS(4096),
     .params = {PARAMS(8), .fractal = FARLANDS_FBM}},
    {"value-fbm8-256", TILE, .step = BLOCKS(1),
     .params = {PARAMS(8), .fractal = FARLANDS_FBM, .basis = FARLANDS_VALUE}},
    {"cellular-fbm8-256", TILE, .step = BLOCKS(1),
     .params = {PARAMS(8), .fractal = FARLANDS_FBM, .basis = FARLANDS_CELLULAR}},
    {"simplex-fbm8-256", TILE, .step = BLOCKS(1),
     .params = {PARAMS(8), .fractal = FARLANDS_FBM, .basis = FARLANDS_SIMPLEX}},
    {"perlin-none-256", TILE, .step = BLOCKS(1), .params = {PARAMS(8), .fractal = FARLANDS_NONE}},
    {"perlin-billow8-256", TILE, .step = BLOCKS(1),
     .params = {PARAMS(8), .fractal = FARLANDS_BILLOW}},
    {"perlin-ridged8-256", TILE, .step = BLOCKS(1),
     .params = {PARAMS(8), .fractal = FARLANDS_RIDGED}},
    {"perlin-hybrid8-256", TILE, .step = BLOCKS(1),
     .params = {PARAMS(8), .fractal = FARLANDS_HYBRID}},
    {"warp-fbm8-256", TILE, .step = BLOCKS(1),
     .params = {PARAMS(8), .fractal = FARLANDS_FBM, .warp = {BLOCKS(100), BLOCKS(300)}}},
    {"default-z16-256", TILE, .band_limit = true, .step = BLOCKS(1), .params = {DEFAULT_WORLD}},
    {"default-z6-256", TILE, .band_limit = true, .step = BLOCKS(1024), .params = {DEFAULT_WORLD}},
    {"volume-fbm4-64", BOX, .step = BLOCKS(8), .params = {PARAMS(4), .fractal = FARLANDS_FBM}},
    {"density-surface-64", DENSITY, .step = BLOCKS(1), .params = {DEFAULT_WORLD, DEFAULT_VOLUME}},
    {"density-deep-64", DENSITY, .step = BLOCKS(1), .depth = 200,
     .params = {DEFAULT_WORLD, DEFAULT_VOLUME}},
    {"density-sky-64", DENSITY, .step = BLOCKS(1), .depth = -200,
     .params = {DEFAULT_WORLD, DEFAULT_VOLUME}},
    {"density-rows-64", DENSITY, .step = BLOCKS(1), .rows = 4,
     .params = {DEFAULT_WORLD, DEFAULT_VOLUME}},
    {"density-heights-64", DENSITY, .step = BLOCKS(1), .params = {DEFAULT_WORLD}},
    {"point", POINT, .step = BLOCKS(1), .params = {DEFAULT_WORLD}},
};

/* One form that is timed: a kernel's terrain, or the plain form if it has none. */
struct form {
    const struct subject *subject;
    const char *kernel;
    struct farlands_terrain *terrain;
    double times[ROUNDS];
};

enum { KERNELS = 4, FORMS = KERNELS + 1, NAME = 64 };
static const char *const kernels[KERNELS] = {"avx512", "avx2", "neon", "scalar"};

/* State shared by all forms. */
struct bench {
    struct farlands_scratch *scratch;
    struct plain_noise plain;
    float out[SAMPLES];
    double map[PLAIN_MAP][PLAIN_MAP];
};

static int sample_count(enum shape shape)
{
    switch (shape) {
    case TILE:
        return TILE_SIZE * TILE_SIZE;
    case BOX:
    case DENSITY:
        return SAMPLES;
    case POINT:
        break;
    }
    return POINTS;
}

/* --- The same work in two forms --- */

/* North-west corner of piece NUMBER of the work: side by side around the origin. */
struct place {
    int64_t x, y;
};

static struct place place_of(const struct subject *subject, int number)
{
    const int64_t size = subject->shape == TILE || subject->shape == POINT ? TILE_SIZE : BOX_SIZE;
    return (struct place){(number % 16 - 8) * size * subject->step,
                          (number / 16 % 16 - 8) * size * subject->step};
}

/* Scattered, so that no point is cheaper because of the one before. */
static struct place point_of(const struct subject *subject, int number, int point)
{
    const struct place tile = place_of(subject, number);
    return (struct place){tile.x + point * INT64_C(7919) % 100003 * subject->step,
                          tile.y + point * INT64_C(6007) % 100019 * subject->step};
}

/* Altitude at which a box of density begins, the same for all forms: from the plain form's heights.
 * */
static int64_t altitude_of(const struct plain_noise *plain, const struct subject *subject,
                           struct place at)
{
    const int64_t middle = BOX_SIZE / 2 * subject->step;
    const double height =
        plain_noise_height(plain, (double)(at.x + middle), (double)(at.y + middle));
    return ((int64_t)height - subject->depth) * FARLANDS_UNIT - middle;
}

static void density_plainly(const struct plain_noise *plain, const struct subject *subject,
                            struct place at, float *out)
{
    const int64_t z = altitude_of(plain, subject, at), step = subject->step;
    for (int j = 0; j < BOX_SIZE; j++)
        for (int i = 0; i < BOX_SIZE; i++) {
            const double x = (double)(at.x + i * step), y = (double)(at.y + j * step);
            const double height = plain_noise_height(plain, x, y);
            for (int k = 0; k < BOX_SIZE; k++)
                out[(k * BOX_SIZE + j) * BOX_SIZE + i] =
                    (float)plain_noise_density(plain, height, x, y, (double)(z + k * step));
        }
}

/* The whole box, or some rows at a time, as a server computes it that streams it in parts. */
static void density_on_kernel(struct bench *bench, const struct form *form, struct place at)
{
    const struct subject *subject = form->subject;
    const int rows = subject->rows ? subject->rows : BOX_SIZE;
    struct farlands_box box = {at.x,          at.y,     altitude_of(&bench->plain, subject, at),
                               subject->step, BOX_SIZE, rows,
                               BOX_SIZE};
    static float slab[SAMPLES];
    for (int j = 0; j < BOX_SIZE; j += rows, box.y += rows * box.step) {
        float *out = rows == BOX_SIZE ? bench->out : slab;
        terrain_density(form->terrain, bench->scratch, &box, out);
        for (int k = 0; out == slab && k < BOX_SIZE; k++)
            memcpy(bench->out + (k * BOX_SIZE + j) * BOX_SIZE, slab + k * rows * BOX_SIZE,
                   (size_t)(rows * BOX_SIZE) * sizeof *slab);
    }
}

static void work_plainly(struct bench *bench, const struct subject *subject, int number)
{
    const struct place at = place_of(subject, number);
    const struct plain_noise *plain = &bench->plain;
    const int64_t step = subject->step;
    float *out = bench->out;

    switch (subject->shape) {
    case TILE:
        for (int j = 0; j < TILE_SIZE; j++)
            for (int i = 0; i < TILE_SIZE; i++)
                *out++ = (float)plain_noise_height(plain, (double)(at.x + i * step),
                                                   (double)(at.y + j * step));
        break;
    case BOX:
        for (int k = 0; k < BOX_SIZE; k++)
            for (int j = 0; j < BOX_SIZE; j++)
                for (int i = 0; i < BOX_SIZE; i++)
                    *out++ = (float)plain_noise_3d(plain, (double)(at.x + i * step),
                                                   (double)(at.y + j * step), (double)(k * step));
        break;
    case DENSITY:
        density_plainly(plain, subject, at, out);
        break;
    case POINT:
        for (int i = 0; i < POINTS; i++) {
            const struct place point = point_of(subject, number, i);
            *out++ = (float)plain_noise_height(plain, (double)point.x, (double)point.y);
        }
        break;
    }
}

static void work_on_kernel(struct bench *bench, const struct form *form, int number)
{
    const struct subject *subject = form->subject;
    const struct place at = place_of(subject, number);
    const int64_t step = subject->step;

    switch (subject->shape) {
    case TILE: {
        const struct farlands_grid grid = {at.x,      at.y,      step,
                                           TILE_SIZE, TILE_SIZE, subject->band_limit};
        terrain_heights(form->terrain, bench->scratch, &grid, bench->out, TILE_SIZE);
        break;
    }
    case BOX: {
        const struct farlands_box box = {at.x, at.y, 0, step, BOX_SIZE, BOX_SIZE, BOX_SIZE};
        terrain_volume(form->terrain, bench->scratch, &box, bench->out);
        break;
    }
    case DENSITY:
        density_on_kernel(bench, form, at);
        break;
    case POINT:
        for (int i = 0; i < POINTS; i++) {
            const struct place point = point_of(subject, number, i);
            bench->out[i] = terrain_height(form->terrain, point.x, point.y);
        }
        break;
    }
}

static void work(struct bench *bench, const struct form *form, int number)
{
    if (form->terrain)
        work_on_kernel(bench, form, number);
    else if (form->subject->against_map)
        plain_noise_map(bench->map);
    else
        work_plainly(bench, form->subject, number);
}

/* --- Whether it is the same --- */

static bool is_near(const char *name, const char *kernel, int sample, double plain, double there,
                    double most)
{
    if (fabs(plain - there) <= most)
        return true;
    fprintf(stderr, "bench_noise: %s: sample %d is %.9g by %s, but %.9g in the plain form\n", name,
            sample, there, kernel, plain);
    return false;
}

/* Metres per noise at the steepest piece of the elevation curve. */
static double steepest(const struct farlands_params *params)
{
    double slope = 0;
    for (const struct farlands_knot *k = params->elevation;
         k < params->elevation + params->knots - 1; k++)
        slope = fmax(slope,
                     fabs(((double)k[1].metres - k[0].metres) / ((double)k[1].noise - k[0].noise)));
    return slope;
}

/* Compare the first piece of FORM's work, sample by sample, with the plain form. */
static bool agrees_with_plain(struct bench *bench, const struct form *form)
{
    static float plain[SAMPLES];
    const struct subject *subject = form->subject;
    const double most = tolerance * (subject->shape == BOX ? 1 : steepest(&subject->params));
    const int count = sample_count(subject->shape);

    work_plainly(bench, subject, 0);
    memcpy(plain, bench->out, (size_t)count * sizeof *plain);
    memset(bench->out, 0xff, sizeof bench->out); /* NANs: samples not written fail */
    work_on_kernel(bench, form, 0);
    for (int i = 0; i < count; i++)
        if (!is_near(subject->name, form->kernel, i, plain[i], bench->out[i], most))
            return false;
    return true;
}

/* The published map as a terrain. The map sums (1 + n) / 2; its amplitudes add up to nearly 2. */
static bool agrees_with_map(struct bench *bench, const char *kernel)
{
    const struct farlands_params params = {
        .gradients = FARLANDS_INTEGER8,
        .fade = FARLANDS_QUINTIC,
        .hash = FARLANDS_PERMUTATION,
        .octave_salt = true,
        .fractal = FARLANDS_FBM,
        .wavelength = BLOCKS(PLAIN_MAP / 2),
        .octaves = PLAIN_MAP_OCTAVES,
        .persistence = 0.5,
        .lacunarity = 2,
        .elevation = {{-2, -2}, {2, 2}},
        .knots = 2,
    };
    const struct farlands_grid grid = {0, 0, BLOCKS(1), PLAIN_MAP, PLAIN_MAP, false};
    const double amplitude = 2 - 1.0 / (1 << (PLAIN_MAP_OCTAVES - 1));
    struct farlands_terrain *terrain;

    setenv("FARLANDS_KERNEL", kernel, 1);
    if (terrain_new_noise(&terrain, &params)) {
        fprintf(stderr, "bench_noise: the published map is refused\n");
        return false;
    }
    memset(bench->out, 0xff, sizeof bench->out);
    terrain_heights(terrain, bench->scratch, &grid, bench->out, PLAIN_MAP);
    terrain_free(terrain);
    plain_noise_map(bench->map);
    for (int i = 0; i < PLAIN_MAP * PLAIN_MAP; i++) {
        const double noise = 2 * bench->map[i / PLAIN_MAP][i % PLAIN_MAP] / amplitude - 1;
        if (!is_near("the published map", kernel, i, noise, bench->out[i], tolerance))
            return false;
    }
    return true;
}

/* With the permutation hash the map is the only plain form. */
static bool agrees(struct bench *bench, const struct form *form)
{
    const struct subject *subject = form->subject;
    return (!subject->against_map || agrees_with_map(bench, form->kernel)) &&
           (subject->params.hash != FARLANDS_MIX64 || agrees_with_plain(bench, form));
}

/* --- Timing --- */

/* Nanoseconds per piece of work, from number FIRST on. */
static double take_turn(struct bench *bench, const struct form *form, int first)
{
    const uint64_t start = now();
    uint64_t taken;
    int count = 0;
    do {
        work(bench, form, first + count++);
        taken = now() - start;
    } while (taken < turn_time);
    return (double)taken / count;
}

/* Time form after form, round after round. Returns the number of rounds. */
static int take_turns(struct bench *bench, struct form *forms, int count)
{
    const uint64_t start = now();
    int round = 0;
    while (round < FEW_ROUNDS || (round < ROUNDS && now() - start < subject_time)) {
        for (int i = 0; i < count; i++)
            forms[i].times[round] = take_turn(bench, &forms[i], round);
        round++;
    }
    return round;
}

static void line_name(char name[NAME], const struct subject *subject, const char *kernel)
{
    snprintf(name, NAME, "noise/%s/%s", subject->name, kernel);
}

/* At least two digits, unless the ratio is tiny. */
static int decimals(double ratio)
{
    return ratio < 1 ? 2 : ratio < 10 ? 1 : 0;
}

static void print_lines(struct form *forms, int count, int rounds)
{
    const double plain = quantile(forms[0].times, rounds, quickest);
    for (int i = 1; i < count; i++) {
        const enum shape shape = forms[i].subject->shape;
        const double time = quantile(forms[i].times, rounds, quickest), ratio = plain / time;
        char name[NAME];
        line_name(name, forms[i].subject, forms[i].kernel);
        printf("%s  %.1f %s  %.*fx\n", name, time / (shape == POINT ? POINTS : 1000),
               shape_unit[shape], decimals(ratio), ratio);
    }
    fflush(stdout);
}

/* Make the plain form of SUBJECT, then those on WANTED kernels that this machine supports. */
static int make_forms(const struct subject *subject, const char *wanted, struct form forms[FORMS],
                      int *count)
{
    *count = 0;
    forms[(*count)++] = (struct form){.subject = subject};
    for (int i = 0; i < KERNELS; i++) {
        struct form form = {.subject = subject, .kernel = kernels[i]};
        char name[NAME];
        line_name(name, subject, kernels[i]);
        if (!strstr(name, wanted))
            continue;
        setenv("FARLANDS_KERNEL", kernels[i], 1);
        if (terrain_kernel_fault()) /* not on this machine */
            continue;
        const int err = terrain_new_noise(&form.terrain, &subject->params);
        if (err)
            return err;
        forms[(*count)++] = form;
    }
    return 0;
}

/* Returns false on errors. */
static bool bench_subject(struct bench *bench, const struct subject *subject, const char *wanted)
{
    struct form forms[FORMS];
    int count;
    const int err = make_forms(subject, wanted, forms, &count);
    bool good = !err;

    if (err)
        fprintf(stderr, "bench_noise: %s: %s\n", subject->name, strerror(-err));
    if (good && count > 1) {
        plain_noise_make(&bench->plain, &subject->params, subject->band_limit ? subject->step : 0);
        for (int i = 1; good && i < count; i++)
            good = agrees(bench, &forms[i]);
        if (good)
            print_lines(forms, count, take_turns(bench, forms, count));
    }
    while (--count > 0)
        terrain_free(forms[count].terrain);
    return good;
}

/* Another core would have cold caches and perhaps another clock. */
static void stay_on_this_core(void)
{
    cpu_set_t cores;
    CPU_ZERO(&cores);
    CPU_SET((size_t)sched_getcpu(), &cores);
    sched_setaffinity(0, sizeof cores, &cores);
}

int main(int argc, char **argv)
{
    static struct bench bench;
    const char *wanted = argc > 1 ? argv[1] : "";
    bool good = true;

    if (farlands_scratch_new(&bench.scratch)) {
        fprintf(stderr, "bench_noise: out of memory\n");
        return 1;
    }
    stay_on_this_core();
    for (int i = 0; good && i < LENGTH(subjects); i++)
        good = bench_subject(&bench, &subjects[i], wanted);
    farlands_scratch_free(bench.scratch);
    return good ? 0 : 1;
}
