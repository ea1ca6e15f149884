/* Zooms against each other: heights whose means are known, and worlds that are level. */
#include "server/describe/zooms.h"

#include <math.h>

#include "server/world/worlds.h"
#include "tests/unit/support/fixtures.h"

enum { FINE_SIDE = 2 * ZOOMS_SIDE };

/* Heights over a tile's pixels: X and Y are those of the finer zoom. */
static float plane(int x, int y)
{
    return (float)(3 * x + 5 * y);
}

static float checkers(int x, int y)
{
    return (x + y) % 2 ? 10 : -10;
}

static float quarters(int x, int y)
{
    return x % 2 && y % 2 ? 8 : 0;
}

static const struct {
    const char *name;
    float (*height)(int x, int y);
    float apart; /* the mean of the four less the first of them, which the coarser zoom has */
} rows[] = {{"plane", plane, 4}, {"checkers", checkers, 10}, {"quarters", quarters, 2}};

START_TEST(test_compare)
{
    float heights[ZOOMS_PIXELS], finer[4 * ZOOMS_PIXELS], apart[ZOOMS_PIXELS];
    for (int i = 0; i < 4 * ZOOMS_PIXELS; i++)
        finer[i] = rows[_i].height(i % FINE_SIDE, i / FINE_SIDE);
    for (int i = 0; i < ZOOMS_PIXELS; i++)
        heights[i] = rows[_i].height(2 * (i % ZOOMS_SIDE), 2 * (i / ZOOMS_SIDE));
    zooms_compare(heights, finer, apart);
    for (int i = 0; i < ZOOMS_PIXELS; i++)
        must(apart[i] == rows[_i].apart, "%s: pixel %d: %g", rows[_i].name, i, (double)apart[i]);
}
END_TEST

/* Worlds without hills or rivers: all zooms agree. */
static const struct {
    const char *elevation;
    int places;
    double apart, water;
} level_rows[] = {
    {"[[-1, 42], [1, 42]]", 8, 0, 0},
    {"[[-1, -9], [1, -9]]", 1, 0, 1},
    {"[[-1, 42], [1, 42]]", 0, NAN, NAN},
};

static bool is(double found, double expected)
{
    return found == expected || (isnan(found) && isnan(expected));
}

START_TEST(test_level)
{
    static const int64_t place[8][2] = {{0, 0}, {-1, 5}, {1 << 30, -(1 << 30)}};
    char text[256];
    struct zooms zooms;
    snprintf(text, sizeof text, "worlds: [{ name: a, elevation: %s }]\n", level_rows[_i].elevation);
    struct worlds *worlds = worlds_of_text(text);
    ck_assert_int_eq(zooms_measure(&zooms, &worlds->world[0], 2, place, level_rows[_i].places), 0);
    for (int i = 0; i < ZOOMS; i++)
        must(is(zooms.apart[i], level_rows[_i].apart) &&
                 is(zooms.water[i][0], level_rows[_i].water) &&
                 is(zooms.water[i][1], level_rows[_i].water),
             "row %d, zoom %d: %g m, %g and %g", _i, ZOOMS_FIRST + i, zooms.apart[i],
             zooms.water[i][0], zooms.water[i][1]);
    worlds_release(worlds);
}
END_TEST

/* The same numbers from any number of threads, also at the ends of the world, where tiles of some
 * zooms are missing. */
START_TEST(test_threads)
{
    static const int64_t place[][2] = {
        {0, 0}, {-FARLANDS_LIMIT, FARLANDS_LIMIT - 1}, {123456789, -987654321}};
    struct worlds *worlds = worlds_of(FRACTAL_WORLD);
    struct zooms one, many;
    ck_assert_int_eq(zooms_measure(&one, &worlds->world[0], 1, place, 3), 0);
    ck_assert_int_eq(zooms_measure(&many, &worlds->world[0], 4, place, 3), 0);
    ck_assert_mem_eq(&one, &many, sizeof one);
    for (int i = 0; i < ZOOMS; i++)
        must(one.apart[i] > 0 && one.water[i][0] > 0 && one.water[i][0] < 1, "zoom %d: %g m, %g",
             ZOOMS_FIRST + i, one.apart[i], one.water[i][0]);
    worlds_release(worlds);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("zooms");
    TCase *tcase = suite_case(suite, "pairs");
    tcase_add_loop_test(tcase, test_compare, 0, ROWS(rows));
    tcase_add_loop_test(tcase, test_level, 0, ROWS(level_rows));
    tcase_add_test(tcase, test_threads);
    return suite_run(suite);
}
