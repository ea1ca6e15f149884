/* JSON as nodes: the same ones as libyaml's, and errors with their lines. */
#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "config/text/json_file.h"
#include "config/text/yaml_file.h"
#include "tests/unit/support/fixtures.h"

static struct text_node *parsed(const char *text)
{
    struct config_error error = {0};
    struct text_node *root;
    const int err = json_file_parse(&root, "a", (const unsigned char *)text, strlen(text), &error);
    must(err == 0, "%s: %s", text, error.text);
    return root;
}

static void assert_same(const struct text_node *a, const struct text_node *b, const char *text)
{
    must(a->kind == b->kind && a->length == b->length && a->line == b->line,
         "%s: kind %d, length %zu, line %zu; expected %d, %zu, %zu", text, (int)a->kind, a->length,
         a->line, (int)b->kind, b->length, b->line);
    if (a->kind == TEXT_SCALAR) {
        must(a->plain == b->plain && memcmp(a->text, b->text, a->length + 1) == 0,
             "%s: got %s, expected %s", text, a->text, b->text);
        return;
    }
    for (size_t i = 0; i < a->length; i++)
        assert_same(&a->items[i], &b->items[i], text);
}

static const char *const good[] = {
    "1",
    " -1.5e+3 ",
    "\"\"",
    "\"a b\"",
    "true",
    "null",
    "[]",
    "{}",
    "[1, 2,\n [3, [], {}],\r\n 4]",
    "{\"a\": 1, \"b\": {\"c\": [true, false]},\n\t\"\": \"x\"}",
    "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"",
    "\"\\u00e4\\u20ac\\u0041\"",
    "\"\xc3\xa4 \xf0\x9f\x8f\x94\"",
};

START_TEST(nodes_are_those_of_yaml)
{
    const char *text = good[_i];
    struct config_error error = {0};
    struct text_node *root = parsed(text), *yaml;
    ck_assert_int_eq(yaml_file_parse(&yaml, "a", (const unsigned char *)text, strlen(text), &error),
                     0);
    assert_same(root, yaml, text);
    text_nodes_free(root, 1);
    text_nodes_free(yaml, 1);
}
END_TEST

START_TEST(pairs_of_escapes_are_one_character)
{
    struct text_node *root = parsed("\"\\ud83c\\udfd4\\u0000z\"");
    ck_assert_uint_eq(root->length, 6);
    ck_assert_mem_eq(root->text, "\xf0\x9f\x8f\x94\0z", 7);
    text_nodes_free(root, 1);
}
END_TEST

static const struct {
    const char *text, *message;
} bad[] = {
    {"", "a:1: not JSON: expected a value"},
    {"[1,\n2", "a:2: not JSON: expected a comma, or the end of a list or mapping"},
    {"[1 2]", "a:1: not JSON: expected a comma, or the end of a list or mapping"},
    {"[1,]", "a:1: not JSON: expected a value"},
    {"[,1]", "a:1: not JSON: expected a value"},
    {"[1,,2]", "a:1: not JSON: expected a value"},
    {"[[1],]", "a:1: not JSON: expected a value"},
    {"[,", "a:1: not JSON: expected a value"},
    {"{\"a\" 1}", "a:1: not JSON: expected a colon after a key"},
    {"{a: 1}", "a:1: not JSON: expected a key in quotes"},
    {"{\"a\": 1,}", "a:1: not JSON: expected a key in quotes"},
    {"\"abc", "a:1: not JSON: a string does not end"},
    {"\"abc\\", "a:1: not JSON: an unknown escape in a string"},
    {"\"\\x\"", "a:1: not JSON: an unknown escape in a string"},
    {"\"\\u12g4\"", "a:1: not JSON: an unknown escape in a string"},
    {"\"\\ud83c\"", "a:1: not JSON: an unknown escape in a string"},
    {"\"\\udfd4\"", "a:1: not JSON: an unknown escape in a string"},
    {"\"a\nb\"", "a:1: a control character in a string; expected an escape"},
    {"1 2", "a:1: not JSON: expected nothing after the value"},
    {"{} {}", "a:1: not JSON: expected nothing after the value"},
    {"&a", "a:1: not JSON: expected a value"},
};

START_TEST(errors_name_line_and_cause)
{
    struct config_error error = {0};
    struct text_node *root;
    const char *text = bad[_i].text;
    ck_assert_int_eq(json_file_parse(&root, "a", (const unsigned char *)text, strlen(text), &error),
                     -EINVAL);
    ck_assert_str_eq(error.text, bad[_i].message);
}
END_TEST

START_TEST(a_nul_is_no_end)
{
    static const unsigned char text[] = "{} \0 {}";
    struct config_error error;
    struct text_node *root;
    ck_assert_int_eq(json_file_parse(&root, "a", text, sizeof text - 1, &error), -EINVAL);
    ck_assert_str_eq(error.text, "a:1: not JSON: expected nothing after the value");
}
END_TEST

/* Every text that ends early, and every one with a changed byte, is read or refused. */
START_TEST(no_text_is_read_beyond_its_end)
{
    static const char text[] =
        "{\"a\": [1, \"\\u20ac\\ud83c\\udfd4\", {\"b\": null}], \"c\": -1e5}";
    for (size_t length = 0; length < sizeof text; length++)
        for (int byte = 0; byte < 256; byte += 1 + byte % 7) {
            struct config_error error;
            struct text_node *root;
            unsigned char *copy = malloc(length + 1);
            ck_assert_ptr_nonnull(copy);
            memcpy(copy, text, length);
            if (length > 0)
                copy[length / 2] = (unsigned char)byte;
            unsigned char *exact = realloc(copy, length ? length : 1);
            ck_assert_ptr_nonnull(exact);
            if (json_file_parse(&root, "a", exact, length, &error) == 0)
                text_nodes_free(root, 1);
            free(exact);
        }
}
END_TEST

START_TEST(depth_and_length_are_bounded)
{
    struct config_error error;
    struct text_node *root;
    unsigned char deep[100];
    memset(deep, '[', sizeof deep);
    ck_assert_int_eq(json_file_parse(&root, "a", deep, sizeof deep, &error), -EINVAL);
    ck_assert_str_eq(error.text, "a:1: nested too deeply; expected at most 32 levels");
    ck_assert_int_eq(json_file_parse(&root, "a", deep, TEXT_BYTES_MAX + 1, &error), -EINVAL);
    ck_assert_str_eq(error.text, "a:1: too long; expected at most 1 MiB");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("json_file");
    TCase *tests = suite_case(suite, "JSON");
    tcase_add_loop_test(tests, nodes_are_those_of_yaml, 0, (int)(sizeof good / sizeof *good));
    tcase_add_test(tests, pairs_of_escapes_are_one_character);
    tcase_add_loop_test(tests, errors_name_line_and_cause, 0, (int)(sizeof bad / sizeof *bad));
    tcase_add_test(tests, a_nul_is_no_end);
    tcase_add_test(tests, no_text_is_read_beyond_its_end);
    tcase_add_test(tests, depth_and_length_are_bounded);
    return suite_run(suite);
}
