/* Quantities, bars and lines: their texts and widths. */
#include "server/prerender/progress.h"

#include "server/prerender/human_units.h"
#include "tests/unit/support/fixtures.h"

static const struct {
    double bytes;
    const char *text;
} sizes[] = {
    {0, "0"},         {1, "1"},          {1023, "1023"},         {1024, "1.0K"},
    {1536, "1.5K"},   {1048575, "1.0M"}, {1e9, "953.7M"},        {10737418240.0, "10.0G"},
    {1e15, "909.5T"}, {1e27, "827.2Y"},  {1e33, "827180612.6Y"},
};

START_TEST(test_bytes)
{
    char text[HUMAN_UNITS_TEXT];
    ck_assert_str_eq(human_units_bytes(sizes[_i].bytes, text), sizes[_i].text);
}
END_TEST

static const struct {
    double seconds;
    const char *text;
} durations[] = {
    {0, "0.0 s"},
    {0.26, "0.3 s"},
    {9.9, "9.9 s"},
    {9.96, "10 s"},
    {59.5, "1:00 min"},
    {247, "4:07 min"},
    {3599.5, "1:00:00 h"},
    {3723, "1:02:03 h"},
    {86400, "24:00:00 h"},
    {1036800, "12 days"},
    {1e15, "11574074075 days"},
};

START_TEST(test_seconds)
{
    char text[HUMAN_UNITS_TEXT];
    ck_assert_str_eq(human_units_seconds(durations[_i].seconds, text), durations[_i].text);
}
END_TEST

static const struct {
    struct progress_state state;
    double rate;
    int width;
    const char *bar, *line;
} rows[] = {
    {{"done", 0, 10, 0, -1, false},
     0,
     40,
     "  0 % [...........................] 0/10",
     "farlands: 0 of 10 tiles done (0 %)"},
    {{"done", 5, 10, 5, 61, false},
     2.4,
     48,
     " 50 % [#######........] 5/10, 2/s, 1:01 min left",
     "farlands: 5 of 10 tiles done (50 %), 2/s, 1:01 min left"},
    {{"done", 5, 10, 5, 61, true},
     2.4,
     66,
     " 50 % [#####......] 5/10, 2/s, waiting for free space in the cache",
     "farlands: 5 of 10 tiles done (50 %), 2/s, waiting for free space in the cache"},
    {{"verified", 10, 10, 10, -1, false},
     1000,
     20,
     "100 % 10/10, 1000/s",
     "farlands: 10 of 10 tiles verified (100 %), 1000/s"},
    {{"done", 5, 10, 5, 61, false}, 2.4, 12, " 50 % 5/10, ", NULL},
    {{"done", 999999999, 1000000000, 5, -1, false}, 0, 30, " 99 % 999999999/1000000000", NULL},
    {{"done", 3, 4, 0, -1, false},
     0,
     400,
     " 75 % [#############################################...............] 3/4",
     NULL},
    {{"done", UINT64_MAX / 4, UINT64_MAX / 4, 0, 1e15, false},
     1e9,
     0,
     "100 % 4611686018427387903/4611686018427387903, 1000000000/s, 11574074075 days left",
     NULL},
};

START_TEST(test_rows)
{
    char text[PROGRESS_TEXT];
    progress_bar(&rows[_i].state, rows[_i].rate, rows[_i].width, text);
    ck_assert_str_eq(text, rows[_i].bar);
    if (rows[_i].line)
        ck_assert_str_eq(progress_line(&rows[_i].state, rows[_i].rate, text), rows[_i].line);
}
END_TEST

START_TEST(test_widths)
{
    char text[PROGRESS_TEXT];
    for (size_t i = 0; i < ROWS(rows); i++)
        for (int width = 1; width < 300; width++) {
            progress_bar(&rows[i].state, rows[i].rate, width, text);
            must(strlen(text) <= (size_t)width, "%d wide: %s", width, text);
        }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("progress");
    TCase *tcase = suite_case(suite, "progress");
    tcase_add_loop_test(tcase, test_bytes, 0, ROWS(sizes));
    tcase_add_loop_test(tcase, test_seconds, 0, ROWS(durations));
    tcase_add_loop_test(tcase, test_rows, 0, ROWS(rows));
    tcase_add_test(tcase, test_widths);
    return suite_run(suite);
}
