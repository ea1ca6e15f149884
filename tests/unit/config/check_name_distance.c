/* Misspelt names. */
#include "config/values/name_distance.h"

#include "tests/unit/support/fixtures.h"

enum { NONE = NAME_DISTANCE_NONE };

static const struct {
    const char *text, *name;
    unsigned distance;
} rows[] = {
    {"step", "step", 0},
    {"stp", "step", 1},
    {"sstep", "step", 1},
    {"steps", "step", 1},
    {"stap", "step", 1},
    {"setp", "step", 1},
    {"STEP", "step", 0},
    {"Stpe", "step", 1},
    {"sp", "step", NONE},
    {"stride", "step", NONE},
    {"hieght", "height", 1},
    {"heigth", "height", 1},
    {"hight", "height", 1},
    {"hieghts", "height", 2},
    {"ehigth", "height", 2},
    {"wdith", "width", 1},
    {"depth", "width", NONE},
    {"X", "x", 0},
    {"xx", "x", NONE},
    {"y", "x", NONE},
    {"", "x", NONE},
    {"x", "", NONE},
    {"a234567890b234567890c234567890d", "A234567890B234567890C234567890D", 0},
    {"a234567890b234567890c234567890d2", "A234567890B234567890C234567890D2", NONE},
};

START_TEST(test_distance)
{
    struct guarded memory;
    const size_t length = strlen(rows[_i].text);
    guarded_new(&memory, 64);
    const char *text = (const char *)guarded_copy(&memory, rows[_i].text, length);
    const unsigned distance = name_distance(text, length, rows[_i].name);
    ck_assert_msg(distance == rows[_i].distance, "%s, %s: %u", rows[_i].text, rows[_i].name,
                  distance);
    guarded_free(&memory);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("name distance");
    TCase *tcase = suite_case(suite, "names");
    tcase_add_loop_test(tcase, test_distance, 0, ROWS(rows));
    return suite_run(suite);
}
