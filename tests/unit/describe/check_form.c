/* Measures of form on ground whose right values are known: straight ridges, parabolas, a planted
 * hollow, channels of one law. */
#include "server/describe/form.h"

#include <math.h>

#include "server/describe/channels.h"
#include "server/describe/curvature.h"
#include "server/describe/depressions.h"
#include "server/describe/geomorphons.h"
#include "server/describe/patches.h"
#include "server/describe/resample.h"
#include "tests/unit/support/fixtures.h"

enum { WIDE = 8, HIGH = 4, TALL = 1024, NARROW = 65 };

static float heights[FORM_CELLS], banks[FORM_CELLS];
static struct form_memory memory;

/* --- Patches --- */

static const struct {
    const char *name, *map; /* HIGH rows of WIDE cells */
    double connectivity;
} patch_rows[] = {
    {"none", "................................", NAN},
    {"one cell", ".........x......................", 1},
    {"all", "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", 5.656854},
    {"two rows apart", "xxxxxxxx................xxxxxxxx", 2},
    {"corners touch", "x........x........x........x....", 2},
    {"alone", "x.x.x.x.................x.x.x.x.", 0.353553},
    {"row ends do not touch", ".......xx.......................", 0.707107},
    {"three and one", "xxx..x..........................", 1.25},
};

START_TEST(test_patches)
{
    uint8_t member[WIDE * HIGH];
    int size[WIDE * HIGH], stack[WIDE * HIGH];
    for (int i = 0; i < WIDE * HIGH; i++)
        member[i] = patch_rows[_i].map[i] == 'x';
    patches_measure(member, WIDE, HIGH, size, stack);
    const double found = patches_connectivity(size, WIDE * HIGH);
    const double expected = patch_rows[_i].connectivity;
    must(isnan(expected) ? isnan(found) : fabs(found - expected) < 1e-5, "%s: %g, not %g",
         patch_rows[_i].name, found, expected);
}
END_TEST

/* --- Curvature --- */

START_TEST(test_skewness)
{
    static const float values[] = {0, 0, 1, 0, 77}, equal[] = {5, 5, 5, 5, 5};
    static const float far[] = {-1, -1, -1, -1, 99};
    static const uint8_t four[] = {1, 1, 1, 1, 0}, all[] = {1, 1, 1, 1, 1}, none[5];
    /* One of four: (1 - 2 p) / sqrt(p (1 - p)). One of five: 1.5. */
    ck_assert_double_eq_tol(curvature_skewness(values, four, 5), 1.154701, 1e-6);
    ck_assert_double_eq_tol(curvature_skewness(far, all, 5), 1.5, 1e-6);
    ck_assert_double_eq(curvature_skewness(equal, all, 5), 0);
    ck_assert(isnan(curvature_skewness(values, none, 5)));
}
END_TEST

/* The Laplacian of a paraboloid is known, and a smoothing leaves it as it is. */
START_TEST(test_curvature)
{
    static float curvature[FORM_CELLS], floats[2 * FORM_CELLS];
    for (int i = 0; i < FORM_CELLS; i++) {
        const float x = (float)(i % FORM_SIDE - 100), y = (float)(i / FORM_SIDE - 80);
        heights[i] = 0.25f * x * x - 0.125f * y * y;
    }
    curvature_find(heights, FORM_SIDE, FORM_SIDE, curvature, floats);
    for (int i = 0; i < FORM_CELLS; i++) {
        const int x = i % FORM_SIDE, y = i / FORM_SIDE;
        if (x < 90 || x > 110 || y < 70 || y > 90)
            continue;
        must(fabsf(curvature[i] - 0.25f) < 0.01f, "%d, %d: %g", x, y, (double)curvature[i]);
    }
}
END_TEST

/* --- Ridges --- */

/* Straight ridges from north to south, EVERY cells apart; their sides rise 35 m per cell. */
static void lay_ridges(int every)
{
    for (int i = 0; i < FORM_CELLS; i++)
        heights[i] = (float)(2000 - 35 * abs(i % FORM_SIDE % every - every / 2));
}

static const struct {
    const char *name;
    int every;
    double ridges;
} ridge_rows[] = {
    {"straight", 16, 4},         /* 16 of 256: sqrt(256 / 16) */
    {"far apart", 32, 5.656854}, /* 8 of 256 */
};

START_TEST(test_ridges)
{
    double measure[FORM_MEASURES];
    lay_ridges(ridge_rows[_i].every);
    form_measure(heights, NULL, &memory, measure);
    must(fabs(measure[FORM_RIDGES] - ridge_rows[_i].ridges) < 1e-5, "%s: %g", ridge_rows[_i].name,
         measure[FORM_RIDGES]);
}
END_TEST

/* Passes 300 m deep cut each ridge into pieces: the ridges no longer go on. */
START_TEST(test_passes)
{
    double measure[FORM_MEASURES];
    lay_ridges(16);
    for (int i = 0; i < FORM_CELLS; i++)
        if (i / FORM_SIDE % 32 >= 28)
            heights[i] -= 300;
    form_measure(heights, NULL, &memory, measure);
    ck_assert_double_lt(measure[FORM_RIDGES], 1.5);
}
END_TEST

/* Sharp crests and round floors; then the same upside down. */
START_TEST(test_crests)
{
    double measure[FORM_MEASURES], upside_down[FORM_MEASURES];
    for (int i = 0; i < FORM_CELLS; i++) {
        const float off = (float)(i % FORM_SIDE % 32 - 16);
        heights[i] = 1000 + 3 * off * off;
    }
    form_measure(heights, NULL, &memory, measure);
    for (int i = 0; i < FORM_CELLS; i++)
        heights[i] = 4000 - heights[i];
    form_measure(heights, NULL, &memory, upside_down);
    ck_assert_double_lt(measure[FORM_CURVATURE], -2);
    ck_assert_double_eq_tol(upside_down[FORM_CURVATURE], -measure[FORM_CURVATURE], 1e-3);
}
END_TEST

/* --- Water --- */

/* A slope to the west with a pit DEPTH deep, 20 x 20 cells. */
static void lay_pit(float depth)
{
    for (int i = 0; i < FORM_CELLS; i++) {
        const int x = i % FORM_SIDE, y = i / FORM_SIDE;
        const bool inside = x >= 100 && x < 120 && y >= 50 && y < 70;
        heights[i] = (float)(500 + x) - (inside ? depth : 0);
    }
}

static const struct {
    float depth;
    int sunk; /* cells: the rim is a metre below the pit's first column outside */
} pit_rows[] = {{0, 0}, {2, 0}, {3, 20}, {20, 360}, {100, 400}};

START_TEST(test_hollow)
{
    double measure[FORM_MEASURES];
    lay_pit(pit_rows[_i].depth);
    form_measure(heights, NULL, &memory, measure);
    must(fabs(measure[FORM_SUNK] * (double)FORM_CELLS - pit_rows[_i].sunk) < 1e-6, "%g m: %g cells",
         (double)pit_rows[_i].depth, measure[FORM_SUNK] * (double)FORM_CELLS);
}
END_TEST

/* A valley from north to south, steep on both sides, in which the slope falls with the area above
 * by a power. */
static const double concavities[] = {0, 0.25, 0.45, 0.7};

START_TEST(test_concavity)
{
    static float ground[TALL * NARROW], levels[TALL * NARROW], area[TALL * NARROW];
    static float floats[2 * TALL * NARROW];
    static int order[TALL * NARROW], from[TALL * NARROW], receiver[TALL * NARROW];
    static uint64_t heap[TALL * NARROW];
    const struct channels_ground channels = {NARROW, TALL, FORM_SPACING, levels, order, from};
    double floor = 20000;
    for (int y = 0; y < TALL; y++) {
        floor -= (double)FORM_SPACING * 0.15 * pow(y + 1, -concavities[_i]);
        for (int x = 0; x < NARROW; x++)
            ground[y * NARROW + x] = (float)(floor + 96 * abs(x - NARROW / 2));
    }
    depressions_drain(ground, NARROW, TALL, levels, heap, order, from);
    channels_find(&channels, receiver, area);
    const float expected = (float)((TALL - 1) * (NARROW - 2)) * 0.009216f;
    ck_assert_float_eq_tol(area[(TALL - 1) * NARROW + NARROW / 2], expected, 1);
    const double found = channels_concavity(&channels, ground, receiver, area, floats);
    must(fabs(found - concavities[_i]) < 0.02, "%g: %g", concavities[_i], found);
    /* Below the sea there are no channels. */
    for (int i = 0; i < TALL * NARROW; i++)
        ground[i] = -1;
    ck_assert(isnan(channels_concavity(&channels, ground, receiver, area, floats)));
}
END_TEST

/* The same valley, with or without a river. */
START_TEST(test_valleys)
{
    static const struct {
        float bank;
        double share;
    } rows[] = {{-5, 1}, {199, 1}, {201, 0}};
    double measure[FORM_MEASURES];
    for (int i = 0; i < FORM_CELLS; i++)
        heights[i] = (float)(5000 - 9 * (i / FORM_SIDE) + 60 * abs(i % FORM_SIDE - FORM_SIDE / 2));
    form_measure(heights, NULL, &memory, measure);
    ck_assert(isnan(measure[FORM_VALLEYS]));
    for (int row = 0; row < ROWS(rows); row++) {
        for (int i = 0; i < FORM_CELLS; i++)
            banks[i] = rows[row].bank;
        form_measure(heights, banks, &memory, measure);
        must(measure[FORM_VALLEYS] == rows[row].share, "%g m: %g", (double)rows[row].bank,
             measure[FORM_VALLEYS]);
    }
}
END_TEST

/* A sea, and a sea with an island of fewer cells than a measure needs. */
START_TEST(test_sea)
{
    double measure[FORM_MEASURES];
    for (int island = 0; island < 2; island++) {
        for (int i = 0; i < FORM_CELLS; i++)
            heights[i] = island && i % FORM_SIDE < 60 && i / FORM_SIDE < 60 ? (float)i : 0;
        form_measure(heights, NULL, &memory, measure);
        for (int which = 0; which < FORM_MEASURES; which++)
            must(isnan(measure[which]), "measure %d is %g", which, measure[which]);
    }
}
END_TEST

/* --- Averages --- */

/* A plane stays a plane. A bump of one sample keeps its volume on average: a ninth in 3 x 3. */
START_TEST(test_resample)
{
    float *samples = malloc(RESAMPLE_SAMPLES * sizeof *samples);
    float *other = malloc(RESAMPLE_SAMPLES * sizeof *other);
    for (int i = 0; i < RESAMPLE_SAMPLES; i++)
        samples[i] = (float)(RESAMPLE_SPACING * (i % RESAMPLE_SIDE + 2 * (i / RESAMPLE_SIDE)));
    resample(samples, other, heights);
    for (int y = 1; y < FORM_SIDE - 1; y++)
        for (int x = 1; x < FORM_SIDE - 1; x++) {
            const float found = heights[y * FORM_SIDE + x];
            must(fabsf(found - (float)(FORM_SPACING * (x + 2 * y))) < 0.05f, "%d, %d: %g", x, y,
                 (double)found);
        }
    for (int i = 0; i < RESAMPLE_SAMPLES; i++)
        samples[i] = 0;
    samples[45 * 16 * RESAMPLE_SIDE + 45 * 16] = 9; /* where 32, 90 and 96 m meet */
    resample(samples, other, heights);
    ck_assert_float_eq_tol(heights[240 * FORM_SIDE + 240], 1, 1e-6F);
    ck_assert_float_eq(heights[238 * FORM_SIDE + 240], 0);
    free(samples);
    free(other);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("form");
    TCase *tcase = suite_case(suite, "measures");
    tcase_add_loop_test(tcase, test_patches, 0, ROWS(patch_rows));
    tcase_add_test(tcase, test_skewness);
    tcase_add_test(tcase, test_curvature);
    tcase_add_loop_test(tcase, test_ridges, 0, ROWS(ridge_rows));
    tcase_add_test(tcase, test_passes);
    tcase_add_test(tcase, test_crests);
    tcase_add_loop_test(tcase, test_hollow, 0, ROWS(pit_rows));
    tcase_add_loop_test(tcase, test_concavity, 0, ROWS(concavities));
    tcase_add_test(tcase, test_valleys);
    tcase_add_test(tcase, test_sea);
    tcase_add_test(tcase, test_resample);
    return suite_run(suite);
}
