/* Windows of form: which places have one, the same numbers from any number of threads, and the
 * ground of alps, which its rivers have built. */
#include "server/describe/windows.h"

#include <math.h>

#include "server/world/worlds.h"
#include "tests/unit/support/fixtures.h"

#define KM (1000 * FARLANDS_UNIT)

static const int64_t middle[][2] = {{0, 0}, {9 * KM, 9 * KM}, {60 * KM, 0}, {60 * KM, 24 * KM}};

/* Heights of one noise between two metres, with ridges 8 km apart. */
static struct worlds *world_of(int low, int high)
{
    char text[256];
    snprintf(
        text, sizeof text,
        "worlds: [{ name: a, noise: { wavelength: 8000 }, elevation: [[-0.6, %d], [0.6, %d]] }]\n",
        low, high);
    return worlds_of_text(text);
}

/* Worlds, and how many windows each class has at MIDDLE. Two pairs of places are too close. */
static const struct {
    const char *name;
    int low, high, mountains, hills;
} rows[] = {
    {"mountains", 1000, 4000, 2, 0}, {"hills", 1000, 1600, 0, 2},        {"plains", 100, 110, 0, 0},
    {"sea", -3000, -1000, 0, 0},     {"little land", -1400, 1000, 0, 0},
};

START_TEST(test_classes)
{
    struct worlds *worlds = world_of(rows[_i].low, rows[_i].high);
    struct windows windows;
    ck_assert_int_eq(windows_measure(&windows, &worlds->world[0], 2, middle, ROWS(middle)), 0);
    const int mountains = windows.count[WINDOW_MOUNTAINS], hills = windows.count[WINDOW_HILLS];
    must(mountains == rows[_i].mountains && hills == rows[_i].hills, "%s: %d and %d", rows[_i].name,
         mountains, hills);
    for (int class = 0; class < WINDOW_CLASSES; class ++) {
        ck_assert(isnan(windows.median[class][FORM_VALLEYS]));
        for (int which = 0; which < FORM_VALLEYS; which++)
            must(!isnan(windows.median[class][which]) == (windows.count[class] > 0),
                 "%s: measure %d of class %d: %g", rows[_i].name, which, class,
                 windows.median[class][which]);
    }
    worlds_release(worlds);
}
END_TEST

START_TEST(test_none)
{
    struct worlds *worlds = world_of(1000, 4000);
    struct windows windows;
    ck_assert_int_eq(windows_measure(&windows, &worlds->world[0], 2, NULL, 0), 0);
    for (int class = 0; class < WINDOW_CLASSES; class ++)
        ck_assert(windows.count[class] == 0 && isnan(windows.median[class][FORM_RIDGES]));
    worlds_release(worlds);
}
END_TEST

/* More places than are measured, also at the ends of the world. */
START_TEST(test_threads)
{
    enum { PLACES = 9 };
    int64_t place[PLACES][2];
    struct worlds *worlds = world_of(1000, 4000);
    struct windows one, many;
    for (int i = 0; i < PLACES; i++) {
        place[i][0] = i * 30 * KM - FARLANDS_LIMIT;
        place[i][1] = FARLANDS_LIMIT - 1;
    }
    ck_assert_int_eq(windows_measure(&one, &worlds->world[0], 1, place, PLACES), 0);
    ck_assert_int_eq(windows_measure(&many, &worlds->world[0], 3, place, PLACES), 0);
    ck_assert_int_eq(one.count[WINDOW_MOUNTAINS], WINDOWS_MOST);
    ck_assert_mem_eq(&one, &many, sizeof one);
    worlds_release(worlds);
}
END_TEST

/* The ground of alps at five places in its mountains. The bounds leave some margin around today's
 * 1.8, -0.84, 0.54, 0.2 % and 99.9 %, and hold on Earth, too (config/README.md, "describe"). */
static const struct {
    enum form_measure measure;
    double least, most;
} alps_rows[] = {
    {FORM_RIDGES, 1.3, 4}, {FORM_CURVATURE, -2, -0.5}, {FORM_CONCAVITY, 0.25, 0.9},
    {FORM_SUNK, 0, 0.01},  {FORM_VALLEYS, 0.97, 1},
};

START_TEST(test_alps)
{
    static const int64_t place[][2] = {
        {0, 0}, {100 * KM, 0}, {0, 100 * KM}, {200 * KM, 50 * KM}, {-150 * KM, 90 * KM}};
    struct worlds *worlds = worlds_of("config/worlds/alps.yaml");
    struct windows windows;
    ck_assert_int_eq(windows_measure(&windows, &worlds->world[0], 2, place, ROWS(place)), 0);
    ck_assert_int_ge(windows.count[WINDOW_MOUNTAINS], 3);
    for (int i = 0; i < ROWS(alps_rows); i++) {
        const double found = windows.median[WINDOW_MOUNTAINS][alps_rows[i].measure];
        must(found >= alps_rows[i].least && found <= alps_rows[i].most,
             "measure %d: %g, expected %g to %g", alps_rows[i].measure, found, alps_rows[i].least,
             alps_rows[i].most);
    }
    worlds_release(worlds);
    /* Ridges of noise end soon, and its hollows have no outlets. */
    worlds = world_of(1000, 4000);
    ck_assert_int_eq(windows_measure(&windows, &worlds->world[0], 2, place, ROWS(place)), 0);
    ck_assert_int_eq(windows.count[WINDOW_MOUNTAINS], ROWS(place));
    ck_assert_double_lt(windows.median[WINDOW_MOUNTAINS][FORM_RIDGES], 1);
    ck_assert_double_gt(windows.median[WINDOW_MOUNTAINS][FORM_SUNK], 0.02);
    worlds_release(worlds);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("windows");
    TCase *tcase = suite_case(suite, "places");
    tcase_add_loop_test(tcase, test_classes, 0, ROWS(rows));
    tcase_add_test(tcase, test_none);
    tcase_add_test(tcase, test_threads);
    tcase_add_test(tcase, test_alps);
    return suite_run(suite);
}
