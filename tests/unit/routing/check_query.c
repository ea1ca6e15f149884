/* Query parameters: defaults, statuses and lists of places. */
#include "server/routing/query.h"

#include <math.h>

#include "tests/unit/support/fixtures.h"

struct arguments {
    int64_t x, step;
    int count;
    float least;
    struct span places;
};

static const struct query_parameter parameters[] = {
    {"x", QUERY_PLACE, offsetof(struct arguments, x), 0, 0},
    {"count", QUERY_COUNT, offsetof(struct arguments, count), 9, 0},
    {"step", QUERY_STEP, offsetof(struct arguments, step), 0, 0},
    {"least", QUERY_REAL, offsetof(struct arguments, least), 0, -INFINITY},
    {0},
};

START_TEST(test_defaults)
{
    struct arguments arguments = {.least = 7};
    char why[QUERY_WHY];
    ck_assert_uint_eq(query_parse(parameters, "count=9&x=-0.5&y=&=", 404, &arguments, why), 0);
    ck_assert_int_eq(arguments.x, -512);
    ck_assert_int_eq(arguments.count, 9);
    ck_assert_int_eq(arguments.step, 1024);
    ck_assert_float_eq(arguments.least, 7);
}
END_TEST

START_TEST(test_status)
{
    struct arguments arguments;
    char why[QUERY_WHY];
    ck_assert_uint_eq(query_parse(parameters, "count=9&x=4503599627370497", 404, &arguments, why),
                      404);
    ck_assert_uint_eq(query_parse(parameters, "count=9&x=4503599627370497", 400, &arguments, why),
                      400);
    ck_assert_uint_eq(query_parse(parameters, "x=1&count=10", 404, &arguments, why), 413);
    ck_assert_str_eq(why, "count: 10 samples are too many; at most 9");
    ck_assert_uint_eq(query_parse(parameters, "x=1", 404, &arguments, why), 400);
    ck_assert_str_eq(why, "count: missing; required once each: x= count=");
}
END_TEST

START_TEST(test_places)
{
    static const struct query_parameter list[] = {
        {"at", QUERY_PLACES, offsetof(struct arguments, places), 0, 0}, {0}};
    static const int64_t expected[][2] = {{0, 0}, {-512, 1024}, {INT64_C(1) << 62, -1}};
    struct arguments arguments;
    char why[QUERY_WHY];
    int64_t x, y;
    ck_assert_uint_eq(
        query_parse(list, "at=0,0;-0.5,1;4503599627370496,-0.0009765625;&z", 400, &arguments, why),
        0);
    for (int i = 0; i < 3; i++) {
        ck_assert(query_next_place(&arguments.places, &x, &y));
        ck_assert_int_eq(x, expected[i][0]);
        ck_assert_int_eq(y, expected[i][1]);
    }
    ck_assert(!query_next_place(&arguments.places, &x, &y));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("query");
    TCase *tcase = suite_case(suite, "parameters");
    tcase_add_test(tcase, test_defaults);
    tcase_add_test(tcase, test_status);
    tcase_add_test(tcase, test_places);
    return suite_run(suite);
}
