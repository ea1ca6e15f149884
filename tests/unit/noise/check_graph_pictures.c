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
#include "tests/unit/support/sample_graphs.h"

enum { SIDE = 96, BORDER = 3, MARGIN = 9, FINE = 2 * SIDE + 2 * BORDER, ZOOMS = 14, PLACES = 2 };

static const struct row {
    const char *graph;
    double bound; /* of the worst zoom's difference */
    int zooms;    /* ZOOMS: the last is flat; fewer for slopes, which have no band limit */
} rows[] = {
    {"noise, fbm", 0.45, ZOOMS},
    {"noise, billow", 0.36, ZOOMS},
    {"noise, ridged", 0.36, ZOOMS},
    {"noise, hybrid", 0.40, ZOOMS},
    {"noise, simplex", 0.25, ZOOMS},
    {"noise, cellular", 0.38, ZOOMS},
    {"noise, value", 0.68, ZOOMS},
    {"noise, moved", 0.43, ZOOMS},
    {"noise, moved by fine noise", 0.43, ZOOMS},
    {"subtract", 0.45, ZOOMS},
    {"multiply", 0.62, ZOOMS},
    {"min", 0.48, ZOOMS},
    {"max", 0.46, ZOOMS},
    {"smooth_min", 0.45, ZOOMS},
    {"smooth_max", 0.44, ZOOMS},
    {"abs", 0.68, ZOOMS},
    {"clamp", 0.45, ZOOMS},
    {"mix", 0.48, ZOOMS},
    {"spline, linear", 0.44, ZOOMS},
    {"spline, cubic", 0.44, ZOOMS},
    {"step", 0.50, ZOOMS},
    {"ridge", 0.75, ZOOMS},
    {"terrace", 0.50, ZOOMS},
    {"lattice", 0.43, ZOOMS},
    {"lattice of fine noise", 0.43, ZOOMS},
    {"slope_x", 0.45, 10}, /* where samples are coarser than the lattice, a coarser one smooths */
    {"damped", 0.39, ZOOMS},
    {"gullies", 0.30, ZOOMS},
    {"erode", 0.43, ZOOMS},
    {"erode of fine hills", 0.43, ZOOMS},
    {"mountains", 0.39, ZOOMS},
    {"erode, lacunarity 1.5", 0.43, ZOOMS},
};

/* A picture, and its sums of squares of what changes and of what there is. */
struct picture_of_graph {
    double at[SIDE][SIDE];
};

struct squares {
    double difference, band, relief;
};

/* The half-band filter around a value, whose neighbors are STRIDE apart and rows WIDTH apart. */
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
    struct program *program = sample_program(row->graph);
    struct farlands_scratch *scratch = reference_scratch();
    double worst = 0;
    bool flat = false;
    if (print)
        printf("%-28s", row->graph);
    for (int zoom = 0; zoom < row->zooms; zoom++) {
        const double difference = difference_at(program, scratch, zoom, &flat);
        worst = difference > worst ? difference : worst;
        if (print)
            printf(flat ? "     -" : " %5.3f", difference);
    }
    if (print)
        printf("  worst %.3f\n", worst);
    must(worst <= row->bound, "%s: worst %.3f, more than %.3f", row->graph, worst, row->bound);
    must(flat == (row->zooms == ZOOMS), "%s: relief that is finer than the samples", row->graph);
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
