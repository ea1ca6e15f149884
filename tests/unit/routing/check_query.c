/* Query parameters: numbers, statuses, unknown and repeated keys, lists of places. */
#include "server/routing/query.h"

#include "tests/unit/support/fixtures.h"

struct arguments {
    int64_t x, step;
    int count, zoom;
    float least;
    struct query_places places;
    char v[QUERY_WORD], name[QUERY_WORD], code[3];
    float range[2];
    struct span list;
};

#define PARAMETER(member, type, ...)                                                             \
    {                                                                                            \
        .name = #member, .kind = type, .offset = offsetof(struct arguments, member), __VA_ARGS__ \
    }
#define PARAMETERS                                                                \
    {                                                                             \
        PARAMETER(x, QUERY_PLACE, .required = true),                              \
            PARAMETER(count, QUERY_WHOLE, .required = true, .min = 1, .max = 9,   \
                      .unit = "samples"),                                         \
            PARAMETER(step, QUERY_STEP), PARAMETER(least, QUERY_REAL, .min = -9), \
            PARAMETER(v, QUERY_TEXT), PARAMETER(name, QUERY_NAME),                \
            PARAMETER(code, QUERY_NAME, .max = 3), PARAMETER(range, QUERY_RANGE), \
            PARAMETER(list, QUERY_NAMES, .max = 3),                               \
            PARAMETER(zoom, QUERY_WHOLE, .min = -26, .max = 9),                   \
    }

static const struct query_table closed = {"box", false, PARAMETERS};
static const struct query_table others_too = {
    "a tile",
    true,
    {PARAMETER(v, QUERY_TEXT),
     {"border", QUERY_WHOLE, offsetof(struct arguments, count), .min = 1, .max = 1}}};

static const struct {
    const char *query;
    int64_t x, step;
    int count;
    float least;
    const char *v, *name;
} good[] = {
    {"count=9&x=-0.5", -512, 1024, 9, 7, "-", ""},
    {"&count=9&&x=-0.5&", -512, 1024, 9, 7, "-", ""},
    {"count=+9.0&x=1e3&step=2e0&least=+1e-1&v=a=b", 1024000, 2048, 9, 0.1F, "a=b", ""},
    {"count=900e-2&x=0.1&step=.5&least=-9&v", 102, 512, 9, -9, "", ""},
    {"count=001&x=+5.&step=1048576&least=1.5E1", 5120, INT64_C(1) << 30, 1, 15, "-", ""},
    {"count=1&x=-0&step=9765625e-10&least=-0", 0, 1, 1, 0, "-", ""},
    {"count=1&x=4503599627370496.0004&v=a%", INT64_C(1) << 62, 1024, 1, 7, "a%", ""},
    {"count=1&x=1&v=&name=b_c-d", 1024, 1024, 1, 7, "", "b_c-d"},
};

START_TEST(test_good)
{
    struct arguments arguments = {.least = 7, .v = "-"};
    char why[QUERY_WHY];
    bool others = true;
    const unsigned status = query_parse(&closed, good[_i].query, &arguments, &others, why);
    ck_assert_msg(status == 0, "%s: %s", good[_i].query, why);
    ck_assert(!others);
    ck_assert_int_eq(arguments.x, good[_i].x);
    ck_assert_int_eq(arguments.step, good[_i].step);
    ck_assert_int_eq(arguments.count, good[_i].count);
    ck_assert_float_eq(arguments.least, good[_i].least);
    ck_assert_str_eq(arguments.v, good[_i].v);
    ck_assert_str_eq(arguments.name, good[_i].name);
}
END_TEST

#define MANY_MORE "a&b&c&d&e&f&g&h&i&j&k&l&m&n&o&p&"
#define MANY "1111111111111111111111111111111111111111111111111111111111111111"

static const struct {
    const struct query_table *table;
    const char *query;
    unsigned status;
    const char *why;
} bad[] = {
    {&closed, "count=9&x=4503599627370497", 404,
     "x: \"4503599627370497\" is beyond the limit of 2^52 blocks"},
    {&closed, "count=9&x=1e400", 404, "x: \"1e400\" is beyond the limit of 2^52 blocks"},
    {&closed, "count=9&x=4503599627370496.0005", 404, "2^52"},
    {&closed, "count=9&x=1,5", 400, "x: \"1,5\" is not a number of blocks such as 12, -3.5 or 1e6"},
    {&closed, "x=1&count=10", 413, "count: 10 samples are too many; at most 9"},
    {&closed, "x=1&count=1e1", 413, "count: 1e1 samples are too many; at most 9"},
    {&closed, "x=1&count=1e400", 413, "count: 1e400 samples are too many; at most 9"},
    {&closed, "x=1&count=-1e400", 400, "count: \"-1e400\" is not a whole number from 1 to 9"},
    {&closed, "x=1&count=-1", 400, "whole number from 1 to 9"},
    {&closed, "x=1&count=0", 400, "whole number from 1 to 9"},
    {&closed, "x=1&count=1.5", 400, "whole number from 1 to 9"},
    {&closed, "x=1&count=1e-1", 400, "whole number from 1 to 9"},
    /* Places are rounded, counts and steps are not. */
    {&closed, "x=1&count=3.0001", 400, "whole number from 1 to 9"},
    {&closed, "x=1&count=0.9999", 400, "whole number from 1 to 9"},
    {&closed, "x=1&count=1&step=1.0001", 400, "step: \"1.0001\" is not a power of two"},
    {&closed, "x=1&count=1&step=0.0009", 400, "power of two"},
    {&closed, "x=1&count=1&step=1e400", 400, "power of two"},
    {&closed, "x=1&count=1&least=-9.5", 400, "least: \"-9.5\" is not a number such as -1.5"},
    {&closed, "x=1&count=1&least=1e39", 400, "least: \"1e39\" is beyond 3.4e38, or too long"},
    {&closed, "x=1&count=1&least=0." MANY, 400, "or too long"},
    {&closed, "x=1&count=1&zoom=-27", 400, "zoom: \"-27\" is not a whole number from -26 to 9"},
    {&closed, "x=1&count=1&zoom=10", 400, "zoom: \"10\" is not a whole number from -26 to 9"},
    {&closed, "x=1&count=1&zoom=1e400", 400, "zoom: \"1e400\" is not a whole number from -26"},
    {&closed, "x=1&count=1&zoom=-1e400", 400, "whole number from -26 to 9"},
    {&closed, "x=1&count=1&zoom=-4294967296", 400, "whole number from -26 to 9"},
    {&closed, "x=1&count=1&zoom=-0.5", 400, "whole number from -26 to 9"},
    {&closed, "x=1&count=1&zoom=-26.0001", 400, "whole number from -26 to 9"},
    {&closed, "x=1&count=1&zoom=--1", 400, "whole number from -26 to 9"},
    {&closed, "x=1&count=1&zoom=-", 400, "whole number from -26 to 9"},
    {&closed, "x=1&count=1&zoom=", 400, "zoom: \"\" is not a whole number from -26 to 9"},
    {&closed, "x=1&count=1&name=", 404, "name: expected a name of 1 to 63 characters"},
    {&closed, "x=1&count=1&name", 404, "name: expected a name of 1 to 63 characters"},
    {&closed, "x=1&count=1&name=" MANY, 404, "name: expected a name of 1 to 63 characters"},
    {&closed, "x=1&count=1&code=abc", 404, "code: expected a name of 1 to 2 characters"},
    {&closed, "x=1&count=1&range=", 400, "range: \"\" is not two numbers A,B such as -50,250.5"},
    {&closed, "x=1&count=1&range=1", 400, "is not two numbers"},
    {&closed, "x=1&count=1&range=1,", 400, "is not two numbers"},
    {&closed, "x=1&count=1&range=,1", 400, "is not two numbers"},
    {&closed, "x=1&count=1&range=,", 400, "is not two numbers"},
    {&closed, "x=1&count=1&range=1,2,", 400, "is not two numbers"},
    {&closed, "x=1&count=1&range=1,,2", 400, "is not two numbers"},
    {&closed, "x=1&count=1&range=1,2,3", 400, "is not two numbers"},
    {&closed, "x=1&count=1&range=1;2", 400, "is not two numbers"},
    {&closed, "x=1&count=1&range=0,nan", 400, "is not two numbers"},
    {&closed, "x=1&count=1&range=0,1e39", 400, "is not two numbers"},
    {&closed, "x=1&count=1&range=1,1", 400,
     "range: \"1,1\" is not A,B with A below B, by at most 3.4e38"},
    {&closed, "x=1&count=1&range=1,0", 400, "A below B"},
    {&closed, "x=1&count=1&range=16777216,16777217", 400, "A below B"},
    {&closed, "x=1&count=1&range=0,1e-31", 400, "A below B"},
    {&closed, "x=1&count=1&range=-3e38,3e38", 400, "by at most 3.4e38"},
    {&closed, "x=1&count=1&list=", 400, "list: expected 1 to 3 names, separated by commas"},
    {&closed, "x=1&count=1&list=a,b,c,d", 400, "list: expected 1 to 3 names"},
    {&closed, "x=1&count=1&list=a,", 400, "list: expected 1 to 3 names"},
    {&closed, "x=1&count=1&list=a,b,c,", 400, "list: expected 1 to 3 names"},
    {&closed, "x=1&count=1&list", 400, "list: expected 1 to 3 names"},
    {&closed, "x=1&count=1&list=a,,b", 400, "list: name 2: empty"},
    {&closed, "x=1&count=1&list=,a", 400, "list: name 1: empty"},
    {&closed, "x=1&count=1&list=,", 400, "list: name 1: empty"},
    {&closed, "x=1&count=1&list=a," MANY, 404, "is no name; expected names such as a,b"},
    {&closed, "x=1", 400, "count: missing; required: x= count="},
    {&closed, "", 400, "x: missing"},
    {&closed, "x&count=1", 400, "x: \"\" is not a number"},
    {&closed, "x=1&count=1&x=1", 400, "x: given twice; expected once"},
    {&closed, "v&x=1&count=1&v", 400, "v: given twice; expected once"},
    {&others_too, "v=1&v=2", 400, "v: given twice; expected once"},
    {&others_too, "&a&b&c&d&e&f&g&" MANY_MORE MANY_MORE MANY_MORE "&a&b&c&d&e&f&g&h&i", 400,
     "query: more than 64 parameters"},
    /* Unknown keys. */
    {&closed, "x=1&count=1&stp=4", 400, "'stp' is not a parameter of box; did you mean 'step'?"},
    {&closed, "X=1&count=1", 400, "'X' is not a parameter of box; did you mean 'x'?"},
    {&closed, "cuont&x=1", 400, "'cuont' is not a parameter of box; did you mean 'count'?"},
    {&closed, "x=1&count=1&leats=1", 400, "did you mean 'least'?"},
    {&closed, "x=1&count=1&stride=4", 400,
     "'stride' is not a parameter of box; expected x, count, step, least, v, name, "
     "code, range, list, zoom"},
    {&closed, "=1", 400, "'' is not a parameter of box; expected x,"},
    {&closed, "x=1&count=1&" MANY "=1", 400,
     "'1111111111111111111111111111111111111111' is not a parameter of box"},
    {&others_too, "Border=1", 400, "'Border' is not a parameter of a tile; did you mean 'border'?"},
    {&others_too, "v=1&bordr=1", 400,
     "'bordr' is not a parameter of a tile; did you mean 'border'?"},
};

START_TEST(test_bad)
{
    struct arguments arguments;
    char why[QUERY_WHY];
    bool others;
    const unsigned status = query_parse(bad[_i].table, bad[_i].query, &arguments, &others, why);
    ck_assert_msg(status == bad[_i].status, "%s: %u", bad[_i].query, status);
    ck_assert_msg(strstr(why, bad[_i].why) != NULL, "%s: \"%s\"", bad[_i].query, why);
}
END_TEST

START_TEST(test_names)
{
    struct arguments arguments = {0};
    struct span name;
    char why[QUERY_WHY];
    bool others;
    ck_assert_uint_eq(query_parse(&closed, "x=1&count=1&list=a,b-c,d", &arguments, &others, why),
                      0);
    for (int i = 0; i < 3; i++) {
        ck_assert(query_next_name(&arguments.list, &name));
        ck_assert(span_is(name, ((const char *[]){"a", "b-c", "d"})[i]));
    }
    ck_assert(!query_next_name(&arguments.list, &name));
}
END_TEST

/* Whole numbers of either sign, as clients write them. */
static const struct {
    const char *query;
    int zoom;
} whole[] = {
    {"zoom=-26", -26},    {"zoom=9", 9},        {"zoom=-0", 0},
    {"zoom=+3", 3},       {"zoom=-2.6e1", -26}, {"zoom=-3.0", -3},
    {"zoom=-700e-2", -7}, {"zoom=-007", -7},    {"step=2", 77},
};

START_TEST(test_whole)
{
    struct arguments arguments = {.zoom = 77};
    char query[64], why[QUERY_WHY];
    bool others;
    snprintf(query, sizeof query, "x=1&count=1&%s", whole[_i].query);
    ck_assert_msg(query_parse(&closed, query, &arguments, &others, why) == 0, "%s: %s", query, why);
    ck_assert_msg(arguments.zoom == whole[_i].zoom, "%s: %d", query, arguments.zoom);
}
END_TEST

START_TEST(test_range)
{
    struct arguments arguments = {.range = {7, 7}};
    char why[QUERY_WHY];
    bool others;
    ck_assert_uint_eq(
        query_parse(&closed, "x=1&count=1&range=-.5,+1e3&code=ab", &arguments, &others, why), 0);
    ck_assert_float_eq(arguments.range[0], -0.5F);
    ck_assert_float_eq(arguments.range[1], 1000);
    ck_assert_str_eq(arguments.code, "ab");
    arguments.range[0] = 7;
    ck_assert_uint_eq(query_parse(&closed, "x=1&count=1", &arguments, &others, why), 0);
    ck_assert_float_eq(arguments.range[0], 7);
}
END_TEST

static const struct {
    const char *query, *v;
    bool others;
} open_queries[] = {
    {"", "-", false},
    {"v=3", "3", false},
    {"&v=3&", "3", false},
    {"_=123", "-", true},
    {"_=123&v=3", "3", true},
    {"token=a&retina=true&w", "-", true},
    {"&a&b&c&d&e&f&g&" MANY_MORE MANY_MORE MANY_MORE "&a&b&c&d&e&v=3", "3", true},
    {"=&v=" MANY, "", true},
    {"V=3", "-", true},
    {"vv=3", "-", true},
    {"v=" MANY, "", false},
};

START_TEST(test_open)
{
    struct arguments arguments = {.v = "-"};
    char why[QUERY_WHY];
    bool others = !open_queries[_i].others;
    const char *query = open_queries[_i].query;
    static const struct query_table table = {"a tile", true, {PARAMETER(v, QUERY_TEXT)}};
    ck_assert_msg(query_parse(&table, query, &arguments, &others, why) == 0, "%s: %s", query, why);
    ck_assert_msg(others == open_queries[_i].others, "%s", query);
    ck_assert_str_eq(arguments.v, open_queries[_i].v);
}
END_TEST

static const struct query_table list_of_places = {
    "places", false, {{"at", QUERY_PLACES, offsetof(struct arguments, places), .required = true}}};

START_TEST(test_places)
{
    static const int64_t expected[][2] = {
        {0, 0}, {-512, 1024}, {INT64_C(1) << 62, -1}, {102400, 102}};
    struct arguments arguments;
    char why[QUERY_WHY];
    int64_t x, y;
    bool others;
    ck_assert_uint_eq(query_parse(&list_of_places,
                                  "at=0,0;-0.5,1;4503599627370496,-0.0009765625;1e2,0.1&",
                                  &arguments, &others, why),
                      0);
    ck_assert_uint_eq(arguments.places.count, ROWS(expected));
    for (int i = 0; i < ROWS(expected); i++) {
        ck_assert(query_next_place(&arguments.places, &x, &y));
        ck_assert_int_eq(x, expected[i][0]);
        ck_assert_int_eq(y, expected[i][1]);
    }
    ck_assert_uint_eq(arguments.places.count, 0);
    ck_assert(!query_next_place(&arguments.places, &x, &y));
}
END_TEST

/* The places that are counted, checked and read are the same: COUNT of them, or the list is
 * refused, because WHY. */
static const struct {
    const char *query;
    size_t count;
    const char *why;
} lists[] = {
    {"at=1,2", 1, NULL},
    {"at=1,2;3,4", 2, NULL},
    {"&at=1,2;3,4;5,6&", 3, NULL},
    {"at", 0, "at: place 1: empty"},
    {"at=", 0, "at: place 1: empty"},
    {"at=&", 0, "at: place 1: empty"},
    {"at=;", 0, "at: place 1: empty"},
    {"at=;;", 0, "at: place 1: empty"},
    {"at=;1,2", 0, "at: place 1: empty"},
    {"at=1,2;", 0, "at: place 2: empty"},
    {"at=1,2;&", 0, "at: place 2: empty"},
    {"at=1,2;3,4;", 0, "at: place 3: empty"},
    {"at=1,2;;3,4", 0, "at: place 2: empty"},
    {"at=1,2;3,4;;", 0, "at: place 3: empty"},
    {"at=1,2;x,4;", 0, "at: place 2: x: \"x\" is not a number of blocks such as 12, -3.5 or 1e6"},
    {"at=,", 0, "at: place 1: x: \"\" is not a number of blocks such as 12, -3.5 or 1e6"},
    {"at=1,", 0, "at: place 1: y: \"\" is not a number of blocks such as 12, -3.5 or 1e6"},
    {"at=1;2", 0, "at: place 1: y: \"\" is not a number of blocks such as 12, -3.5 or 1e6"},
    {"at=1,2,3", 0, "at: place 1: y: \"2,3\" is not a number of blocks such as 12, -3.5 or 1e6"},
};

START_TEST(test_lists)
{
    const char *query = lists[_i].query;
    struct arguments arguments;
    char why[QUERY_WHY] = "";
    int64_t x, y;
    bool others;
    size_t taken = 0;
    const unsigned status = query_parse(&list_of_places, query, &arguments, &others, why);
    ck_assert_msg(status == (lists[_i].why ? 400 : 0), "%s: %u", query, status);
    ck_assert_msg(strcmp(why, lists[_i].why ? lists[_i].why : "") == 0, "%s: \"%s\"", query, why);
    if (status)
        return;
    ck_assert_msg(arguments.places.count == lists[_i].count, "%s", query);
    while (query_next_place(&arguments.places, &x, &y)) {
        taken++;
        ck_assert_msg(x == (int64_t)(2 * taken - 1) * 1024 && y == (int64_t)(2 * taken) * 1024,
                      "%s: place %zu", query, taken);
    }
    ck_assert_msg(taken == lists[_i].count, "%s: %zu", query, taken);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("query");
    TCase *tcase = suite_case(suite, "parameters");
    tcase_add_loop_test(tcase, test_good, 0, ROWS(good));
    tcase_add_loop_test(tcase, test_whole, 0, ROWS(whole));
    tcase_add_test(tcase, test_range);
    tcase_add_test(tcase, test_names);
    tcase_add_loop_test(tcase, test_bad, 0, ROWS(bad));
    tcase_add_loop_test(tcase, test_open, 0, ROWS(open_queries));
    tcase_add_test(tcase, test_places);
    tcase_add_loop_test(tcase, test_lists, 0, ROWS(lists));
    return suite_run(suite);
}
