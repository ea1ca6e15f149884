/*
 * Pictures of graphs from zoom to zoom: the band limit leaves out what is finer than a picture's
 * samples and does not move what is left.
 *
 * A picture with samples s apart is compared with one whose samples are s / 2 apart and which is
 * then filtered: along both axes by (-1, 0, 9, 16, 9, 0, -1) / 32, which halves the bandwidth. Both
 * are compared in the octave band from 4 s to 8 s, the finest that the coarse picture shows in
 * full. The root mean square of their difference is divided by that of the band: 0 if they show the
 * same, 1 if the coarse picture lacks the band, 1.4 if its features are elsewhere. Of Perlin noise
 * 0.3 remains, because the octave with cells 2 s wide, which only the finer picture has, reaches
 * into the band. GRAPH_PICTURES=1 CK_FORK=no prints the table, a column for each s = 1, 2, 4 ...
 * blocks.
 */
#include <check.h>

#include "tests/unit/support/graph_values.h"

enum { SIDE = 96, BORDER = 3, MARGIN = 9, FINE = 2 * SIDE + 2 * BORDER, ZOOMS = 14, PLACES = 2 };

/* --- Graphs --- */

struct builder {
    int count;
    struct graph_node node[40];
    struct farlands_params noise[40];
    struct curve_params curve[2];
};

static int add(struct builder *b, enum graph_kind kind, int a, int c, int d, double p, double q)
{
    b->node[b->count] = (struct graph_node){kind, {a, c, d}, {p, q}, NULL, NULL};
    return b->count++;
}

static int add_noise(struct builder *b, enum graph_kind kind, double blocks, int octaves, double p,
                     double q)
{
    struct farlands_params *noise = &b->noise[b->count];
    *noise = reference_params();
    noise->seed = (uint64_t)b->count + 5;
    noise->wavelength = BLOCKS(blocks);
    noise->octaves = octaves;
    noise->knots = 0;
    if (kind == GRAPH_ERODE)
        noise->basis = FARLANDS_CELLULAR;
    const int at = add(b, kind, -1, -1, -1, p, q);
    b->node[at].noise = noise;
    return at;
}

/* Perlin noise of 4096 blocks and less, HEIGHT times. */
static int add_hills(struct builder *b, double height)
{
    const int noise = add_noise(b, GRAPH_NOISE, 4096, 12, 0, 0);
    return add(b, GRAPH_MULTIPLY, noise, add(b, GRAPH_CONSTANT, -1, -1, -1, height, 0), -1, 0, 0);
}

/* The same without octaves of less than 512 blocks. */
static int add_broad(struct builder *b, double height)
{
    const int noise = add_noise(b, GRAPH_NOISE, 4096, 4, 0, 0);
    return add(b, GRAPH_MULTIPLY, noise, add(b, GRAPH_CONSTANT, -1, -1, -1, height, 0), -1, 0, 0);
}

/* Gullies over FIELD, and the field. */
static int add_erosion(struct builder *b, int field, double blocks, int spacing)
{
    const int lattice = add(b, GRAPH_LATTICE, field, -1, -1, (double)BLOCKS(spacing), 0);
    const int dx = add(b, GRAPH_SLOPE_X, lattice, -1, -1, 0, 0);
    const int dy = add(b, GRAPH_SLOPE_Y, lattice, -1, -1, 0, 0);
    const int mask = add(b, GRAPH_CONSTANT, -1, -1, -1, 1, 0);
    const int gullies = add_noise(b, GRAPH_ERODE, blocks, 6, 0.1, 0.3);
    memcpy(b->node[gullies].input, (int[]){dx, dy, mask}, sizeof b->node[gullies].input);
    return add(b, GRAPH_ADD, field, gullies, -1, 0, 0);
}

static void noise_of(struct builder *b, enum farlands_basis basis, enum farlands_fractal fractal)
{
    const int at = add_noise(b, GRAPH_NOISE, 4096, 12, 0, 0);
    b->noise[at].basis = basis;
    b->noise[at].fractal = fractal;
}

static void fbm(struct builder *b)
{
    noise_of(b, FARLANDS_PERLIN, FARLANDS_FBM);
}

static void billow(struct builder *b)
{
    noise_of(b, FARLANDS_PERLIN, FARLANDS_BILLOW);
}

static void ridged(struct builder *b)
{
    noise_of(b, FARLANDS_PERLIN, FARLANDS_RIDGED);
}

static void hybrid(struct builder *b)
{
    noise_of(b, FARLANDS_PERLIN, FARLANDS_HYBRID);
}

static void simplex(struct builder *b)
{
    noise_of(b, FARLANDS_SIMPLEX, FARLANDS_FBM);
}

static void cellular(struct builder *b)
{
    noise_of(b, FARLANDS_CELLULAR, FARLANDS_FBM);
}

static void value(struct builder *b)
{
    noise_of(b, FARLANDS_VALUE, FARLANDS_FBM);
}

static void moved(struct builder *b)
{
    const int x = add_broad(b, 1), y = add_broad(b, 1);
    const int noise = add_noise(b, GRAPH_NOISE, 4096, 12, 300, 0);
    b->node[noise].input[0] = x;
    b->node[noise].input[1] = y;
}

static void moved_by_fine_noise(struct builder *b)
{
    const int x = add_hills(b, 1), y = add_hills(b, 1);
    const int noise = add_noise(b, GRAPH_NOISE, 4096, 12, 300, 0);
    b->node[noise].input[0] = x;
    b->node[noise].input[1] = y;
}

static void sum(struct builder *b)
{
    const int a = add_hills(b, 500);
    add(b, GRAPH_SUBTRACT, a, add_hills(b, 200), -1, 0, 0);
}

static void product(struct builder *b)
{
    const int a = add_hills(b, 1);
    add(b, GRAPH_MULTIPLY, a, add_hills(b, 1), -1, 0, 0);
}

static void least(struct builder *b)
{
    const int a = add_hills(b, 1);
    add(b, GRAPH_MIN, a, add_hills(b, 1), -1, 0, 0);
}

static void greatest(struct builder *b)
{
    const int a = add_hills(b, 1);
    add(b, GRAPH_MAX, a, add_hills(b, 1), -1, 0, 0);
}

static void smooth_least(struct builder *b)
{
    const int a = add_hills(b, 1);
    add(b, GRAPH_SMOOTH_MIN, a, add_hills(b, 1), -1, 0.2, 0);
}

static void smooth_greatest(struct builder *b)
{
    const int a = add_hills(b, 1);
    add(b, GRAPH_SMOOTH_MAX, a, add_hills(b, 1), -1, 0.2, 0);
}

static void absolute(struct builder *b)
{
    add(b, GRAPH_ABS, add_hills(b, 1), -1, -1, 0, 0);
}

static void clamped(struct builder *b)
{
    add(b, GRAPH_CLAMP, add_hills(b, 1), -1, -1, -0.1, 0.15);
}

static void mixed(struct builder *b)
{
    const int a = add_hills(b, 1), c = add_hills(b, 0.2);
    add(b, GRAPH_MIX, a, c, add(b, GRAPH_STEP, add_broad(b, 1), -1, -1, -0.1, 0.1), 0, 0);
}

static void curve_of(struct builder *b, bool cubic)
{
    const int a = add_hills(b, 1), spline = add(b, GRAPH_SPLINE, a, -1, -1, 0, 0);
    b->curve[0] =
        (struct curve_params){.knot = {{-0.4f, -5}, {-0.1f, -1}, {0, 0}, {0.1f, 3}, {0.4f, 6}},
                              .knots = 5,
                              .cubic = cubic};
    b->node[spline].curve = &b->curve[0];
}

static void linear_spline(struct builder *b)
{
    curve_of(b, false);
}

static void cubic_spline(struct builder *b)
{
    curve_of(b, true);
}

static void step(struct builder *b)
{
    add(b, GRAPH_STEP, add_hills(b, 1), -1, -1, -0.1, 0.1);
}

static void ridge(struct builder *b)
{
    add(b, GRAPH_RIDGE, add_hills(b, 1), -1, -1, 0.2, 0);
}

static void terrace(struct builder *b)
{
    add(b, GRAPH_TERRACE, add_broad(b, 200), -1, -1, 40, 0.3);
}

static void lattice(struct builder *b)
{
    add(b, GRAPH_LATTICE, add_broad(b, 1), -1, -1, (double)BLOCKS(32), 0);
}

static void lattice_of_fine_noise(struct builder *b)
{
    add(b, GRAPH_LATTICE, add_hills(b, 1), -1, -1, (double)BLOCKS(64), 0);
}

static void slope(struct builder *b)
{
    lattice(b);
    add(b, GRAPH_SLOPE_X, b->count - 1, -1, -1, 0, 0);
}

static void damped(struct builder *b)
{
    add_noise(b, GRAPH_DAMPED, 4096, 12, 1, 0);
}

static void gullies(struct builder *b)
{
    add_erosion(b, add_broad(b, 800), 512, 32);
    b->count--; /* without the field */
}

static void eroded(struct builder *b)
{
    add_erosion(b, add_broad(b, 800), 512, 32);
}

static void eroded_hills(struct builder *b)
{
    add_erosion(b, add_hills(b, 800), 512, 64);
}

/* Mountains of damped noise along the zeros of a slow one, eroded. */
static void mountains(struct builder *b)
{
    const int belts =
        add(b, GRAPH_RIDGE, add_noise(b, GRAPH_NOISE, 20000, 3, 0, 0), -1, -1, 0.3, 0);
    const int peaks = add_noise(b, GRAPH_DAMPED, 4096, 12, 1, 0);
    const int high = add(b, GRAPH_MULTIPLY, peaks, belts, -1, 0, 0);
    const int metres = add(b, GRAPH_CONSTANT, -1, -1, -1, 1500, 0);
    const int hills = add_hills(b, 60);
    add_erosion(b,
                add(b, GRAPH_ADD, add(b, GRAPH_MULTIPLY, high, metres, -1, 0, 0), hills, -1, 0, 0),
                512, 64);
}

/* --- Comparison --- */

static const struct row {
    const char *name;
    void (*build)(struct builder *b);
    double bound; /* of the worst zoom's difference */
    int zooms;    /* ZOOMS: the last is flat; fewer for slopes, which have no band limit */
} rows[] = {
    {"noise, fbm", fbm, 0.45, ZOOMS},
    {"noise, billow", billow, 0.36, ZOOMS},
    {"noise, ridged", ridged, 0.36, ZOOMS},
    {"noise, hybrid", hybrid, 0.40, ZOOMS},
    {"noise, simplex", simplex, 0.25, ZOOMS},
    {"noise, cellular", cellular, 0.38, ZOOMS},
    {"noise, value", value, 0.68, ZOOMS},
    {"noise, moved", moved, 0.43, ZOOMS},
    {"noise, moved by fine noise", moved_by_fine_noise, 0.43, ZOOMS},
    {"subtract", sum, 0.45, ZOOMS},
    {"multiply", product, 0.62, ZOOMS},
    {"min", least, 0.48, ZOOMS},
    {"max", greatest, 0.46, ZOOMS},
    {"smooth_min", smooth_least, 0.45, ZOOMS},
    {"smooth_max", smooth_greatest, 0.44, ZOOMS},
    {"abs", absolute, 0.68, ZOOMS},
    {"clamp", clamped, 0.45, ZOOMS},
    {"mix", mixed, 0.48, ZOOMS},
    {"spline, linear", linear_spline, 0.44, ZOOMS},
    {"spline, cubic", cubic_spline, 0.44, ZOOMS},
    {"step", step, 0.50, ZOOMS},
    {"ridge", ridge, 0.75, ZOOMS},
    {"terrace", terrace, 0.50, ZOOMS},
    {"lattice", lattice, 0.43, ZOOMS},
    {"lattice of fine noise", lattice_of_fine_noise, 0.43, ZOOMS},
    {"slope_x", slope, 0.37, 10},
    {"damped", damped, 0.39, ZOOMS},
    {"gullies", gullies, 0.30, ZOOMS},
    {"erode", eroded, 0.43, ZOOMS},
    {"erode of fine hills", eroded_hills, 0.43, ZOOMS},
    {"mountains", mountains, 0.39, ZOOMS},
};

/* A picture, and its sums of squares of what changes and of what there is. */
struct picture_of_graph {
    double at[SIDE][SIDE];
};

struct squares {
    double difference, band, relief;
};

/* The half-band filter around a value, whose neighbours are STRIDE apart and rows WIDTH apart. */
#define FILTERED(values, width, stride)                                \
    do {                                                               \
        double sum = 0;                                                \
        for (int j = -3; j <= 3; j++)                                  \
            for (int i = -3; i <= 3; i++)                              \
                sum += half_band[i + 3] * half_band[j + 3] *           \
                       (double)(values)[(stride) * (j * (width) + i)]; \
        return sum;                                                    \
    } while (0)

static const double half_band[] = {-1 / 32.0, 0, 9 / 32.0, 16 / 32.0, 9 / 32.0, 0, -1 / 32.0};

static double filtered_values(const float *values, int width)
{
    FILTERED(values, width, 1);
}

static double filtered_picture(const double *values, int stride)
{
    FILTERED(values, SIDE, stride);
}

/* What PICTURE has between 4 and 8 of its samples, except near its border. */
static void take_band(const struct picture_of_graph *picture, struct picture_of_graph *band)
{
    static struct picture_of_graph low;
    for (int y = 3; y < SIDE - 3; y++)
        for (int x = 3; x < SIDE - 3; x++)
            low.at[y][x] = filtered_picture(&picture->at[y][x], 1);
    for (int y = MARGIN; y < SIDE - MARGIN; y++)
        for (int x = MARGIN; x < SIDE - MARGIN; x++)
            band->at[y][x] = low.at[y][x] - filtered_picture(&low.at[y][x], 2);
}

/* Samples of the coarse picture are STEP apart. */
static void compare(const struct program *program, struct farlands_scratch *scratch,
                    const int64_t place[2], int64_t step, struct squares *sums)
{
    static struct picture_of_graph coarse, filtered, coarse_band, filtered_band;
    const int64_t half = step / 2;
    const struct farlands_grid grid = {place[0], place[1], step, SIDE, SIDE, true};
    const struct farlands_grid fine = {
        place[0] - BORDER * half, place[1] - BORDER * half, half, FINE, FINE, true};
    const int last = program->place[program->count - 1];
    float *a = graph_values(program, kernel_choose(), scratch, &grid, last);
    float *b = graph_values(program, kernel_choose(), scratch, &fine, last);
    for (int y = 0; y < SIDE; y++)
        for (int x = 0; x < SIDE; x++) {
            coarse.at[y][x] = (double)a[y * SIDE + x];
            filtered.at[y][x] = filtered_values(&b[(2 * y + BORDER) * FINE + 2 * x + BORDER], FINE);
        }
    take_band(&coarse, &coarse_band);
    take_band(&filtered, &filtered_band);
    for (int y = MARGIN; y < SIDE - MARGIN; y++)
        for (int x = MARGIN; x < SIDE - MARGIN; x++) {
            const double band = filtered_band.at[y][x];
            const double difference = coarse_band.at[y][x] - band;
            const double relief = coarse.at[y][x] - coarse.at[0][0];
            sums->difference += difference * difference;
            sums->band += band * band;
            sums->relief += relief * relief;
        }
    free(a);
    free(b);
}

/* The difference of the pictures with samples 2^ZOOM blocks apart, over some places. *FLAT: the
 * coarse ones show nothing. */
static double difference_at(const struct program *program, struct farlands_scratch *scratch,
                            int zoom, bool *flat)
{
    static const int64_t places[PLACES][2] = {{BLOCKS(20000), BLOCKS(-7000)},
                                              {BLOCKS(-3000000), BLOCKS(123456)}};
    struct squares sums = {0, 0, 0};
    for (int i = 0; i < PLACES; i++)
        compare(program, scratch, places[i], BLOCKS(1) << zoom, &sums);
    *flat = sums.relief == 0;
    /* A thousandth of the relief is the least that counts. */
    return *flat ? 0 : sqrt(sums.difference / (sums.band + 1e-6 * sums.relief));
}

START_TEST(pictures_agree_from_zoom_to_zoom)
{
    const struct row *row = &rows[_i];
    const bool print = getenv("GRAPH_PICTURES") != NULL;
    struct builder b = {0};
    struct graph_fault fault;
    struct program *program = NULL;
    struct farlands_scratch *scratch = reference_scratch();
    double worst = 0;
    bool flat = false;
    row->build(&b);
    ck_assert_int_eq(program_new(&program, b.node, b.count, &fault), 0);
    if (print)
        printf("%-28s", row->name);
    for (int zoom = 0; zoom < row->zooms; zoom++) {
        const double difference = difference_at(program, scratch, zoom, &flat);
        worst = difference > worst ? difference : worst;
        if (print)
            printf(flat ? "     -" : " %5.3f", difference);
    }
    if (print)
        printf("  worst %.3f\n", worst);
    must(worst <= row->bound, "%s: worst %.3f, more than %.3f", row->name, worst, row->bound);
    must(flat == (row->zooms == ZOOMS), "%s: relief that is finer than the samples", row->name);
    farlands_scratch_free(scratch);
    program_free(program);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("graph_pictures");
    TCase *tests = suite_case(suite, "pictures");
    tcase_add_loop_test(tests, pictures_agree_from_zoom_to_zoom, 0, LENGTH(rows));
    return suite_run(suite);
}
