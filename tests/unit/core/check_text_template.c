/* A template filled with the values of its example is the example. */
#include "server/core/text_template.h"

#include "tests/unit/support/fixtures.h"

static const struct {
    const char *example, *values[TEXT_TEMPLATE_VALUES];
    const char *others[TEXT_TEMPLATE_VALUES], *expected;
} rows[] = {
    {"", {NULL, NULL, NULL}, {NULL, NULL, NULL}, ""},
    {"abc", {NULL, NULL, NULL}, {NULL, NULL, NULL}, "abc"},
    {"abc", {"x", "y", "z"}, {"1", "2", "3"}, "abc"},
    {"x", {"x", NULL, NULL}, {"", NULL, NULL}, ""},
    {"x", {NULL, "x", NULL}, {NULL, "long value", NULL}, "long value"},
    {"xyzzy", {"x", "y", "z"}, {"1", "22", "333"}, "12233333322"},
    {"yes, y=x y=y", {"x", "y=", NULL}, {"A", "B", NULL}, "yes, BA By"},
    {"end with x", {"x", NULL, NULL}, {"x", NULL, NULL}, "end with x"},
    {"one two one", {"one", "two", NULL}, {"two", "one", NULL}, "two one two"},
};

static void check_fill(const struct text_template *template, const char *const *values,
                       const char *expected)
{
    struct blob *text = text_template_fill(template, values);
    ck_assert_uint_eq(text->length, strlen(expected));
    ck_assert_mem_eq(text->bytes, expected, text->length);
    blob_release(text);
}

START_TEST(fills)
{
    struct blob *example = blob_copy(rows[_i].example, strlen(rows[_i].example));
    struct text_template *template = text_template_new(example, rows[_i].values);
    blob_release(example);
    check_fill(template, rows[_i].values, rows[_i].example);
    check_fill(template, rows[_i].others, rows[_i].expected);
    text_template_free(template);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("text template");
    TCase *tcase = suite_case(suite, "fill");
    tcase_add_loop_test(tcase, fills, 0, ROWS(rows));
    return suite_run(suite);
}
