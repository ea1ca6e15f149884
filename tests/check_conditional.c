/* If-None-Match, as RFC 9110 (8.8.3, 13.1.2) has it and as it is got wrong. */
#include "server/conditional.h"

#include "tests/fixtures.h"

#define ETAG "\"0123456789abcdef/relief/1/2/3.png\""
#define OTHER "\"0123456789abcdef/relief/1/2/4.png\""

static const struct {
    const char *value, *etag;
    bool holds;
} rows[] = {
    {ETAG, ETAG, true},
    {OTHER, ETAG, false},
    {"*", ETAG, true},
    {" *", ETAG, true},
    {"*\t", ETAG, true},
    /* Weak comparison. */
    {"W/" ETAG, ETAG, true},
    {"W/" OTHER, ETAG, false},
    {"W/" OTHER ", W/" ETAG, ETAG, true},
    /* Lists. */
    {OTHER ", " ETAG, ETAG, true},
    {ETAG ", " OTHER, ETAG, true},
    {OTHER "," ETAG, ETAG, true},
    {OTHER " \t, \t" ETAG " ", ETAG, true},
    {"\t" ETAG "\t", ETAG, true},
    {OTHER ", " OTHER ", " OTHER, ETAG, false},
    {", " ETAG, ETAG, true},
    {ETAG ",", ETAG, true},
    {OTHER ",, ," ETAG, ETAG, true},
    {"\"\", " ETAG, ETAG, true},
    /* What is between quotes is the tag's: commas, blanks, W/ and stars. */
    {"\"a,b\"", "\"a,b\"", true},
    {"\"a,b\"", "\"a\"", false},
    {"\"a,b\"", "\"b\"", false},
    {"\"x, \"a\", y\"", "\"a\"", false},
    {"\"a b\"", "\"a\"", false},
    {"\"*\"", ETAG, false},
    {"\"*\"", "\"*\"", true},
    {"\"W/a\"", "\"a\"", false},
    {"\"\xe9\"", "\"\xe9\"", true},
    {"\"\"", "\"\"", true},
    {"\"a\\\"", "\"a\\\"", true},
    /* Not the same tag. */
    {"\"A\"", "\"a\"", false},
    {"\"ab\"", "\"a\"", false},
    {"\"a\"", "\"ab\"", false},
    {"\"\"", "\"a\"", false},
    /* Nothing, and what is malformed. */
    {NULL, ETAG, false},
    {"", ETAG, false},
    {" ", ETAG, false},
    {",", ETAG, false},
    {"a", "\"a\"", false},
    {"\"a", "\"a\"", false},
    {"a\"", "\"a\"", false},
    {"'a'", "\"a\"", false},
    {"\"", "\"\"", false},
    {"W", "\"a\"", false},
    {"W/", "\"a\"", false},
    {"W/a", "\"a\"", false},
    {"W/ \"a\"", "\"a\"", false},
    {"w/\"a\"", "\"a\"", false},
    {"W\"a\"", "\"a\"", false},
    {"/\"a\"", "\"a\"", false},
    {"W/W/\"a\"", "\"a\"", false},
    {"W/*", ETAG, false},
    {"**", ETAG, false},
    {", *", ETAG, false},
    {"*, \"b\"", "\"a\"", false},
    {"\"b\", *", "\"a\"", false},
    {"\"b\" \"a\"", "\"a\"", false},
    {"\"b\";\"a\"", "\"a\"", false},
    {"b, \"a", "\"a\"", false},
    {"\"b, \"a\"", "\"a\"", false},
    {"\"b\"\"a\"", "\"a\"", false},
    {"\"a\"x", "\"a\"", false},
    {"x\"a\"", "\"a\"", false},
};

START_TEST(test_rows)
{
    const char *value = rows[_i].value;
    struct guarded memory, other;
    guarded_new(&memory, 1024);
    guarded_new(&other, 1024);
    const char *copy = value;
    if (value)
        copy = (const char *)guarded_copy(&memory, value, strlen(value) + 1);
    const char *etag = rows[_i].etag;
    etag = (const char *)guarded_copy(&other, etag, strlen(etag) + 1);
    bool holds = none_match_holds(copy, etag);
    ck_assert_msg(holds == rows[_i].holds, "%s for %s: %d", value ? value : "NULL", etag, holds);
    guarded_free(&memory);
    guarded_free(&other);
}
END_TEST

/* Any tags in any well-formed list: exactly those that are in it. */
START_TEST(test_lists)
{
    static const char *const tags[] = {"\"a\"", "\"b\"", "\"a,b\"", "\"\"", "\"W/\"", "\"*\""};
    static const char *const gaps[] = {",", ", ", " ,", " , ", "\t,,\t"};
    uint64_t state = 14;
    for (int i = 0; i < 20000; i++) {
        char list[512] = "";
        bool there[ROWS(tags)] = {false};
        for (int j = chance_below(&state, 5); j >= 0; j--) {
            int tag = chance_below(&state, ROWS(tags));
            there[tag] = true;
            strcat(list, chance_below(&state, 2) ? "W/" : "");
            strcat(list, tags[tag]);
            if (j)
                strcat(list, gaps[chance_below(&state, ROWS(gaps))]);
        }
        for (int tag = 0; tag < ROWS(tags); tag++)
            must(none_match_holds(list, tags[tag]) == there[tag], "%s in %s: not %d", tags[tag],
                 list, there[tag]);
    }
}
END_TEST

/* Whatever is sent: an answer, within the text. */
START_TEST(test_noise)
{
    static const char alphabet[] = "\"\"\"a,, W/*\t\\\xff";
    struct guarded memory;
    uint64_t state = 15;
    guarded_new(&memory, 64);
    for (int i = 0; i < 50000; i++) {
        char text[32];
        int length = chance_below(&state, 31);
        for (int j = 0; j < length; j++)
            text[j] = alphabet[chance_below(&state, sizeof alphabet - 1)];
        text[length] = 0;
        const char *value = (const char *)guarded_copy(&memory, text, (size_t)length + 1);
        if (!strchr(text, '*'))
            must(!none_match_holds(value, "\"never\""), "%s", text);
        if (!strchr(text, '*') && !strstr(text, "\"a\""))
            must(!none_match_holds(value, "\"a\""), "%s", text);
    }
    guarded_free(&memory);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("conditional");
    TCase *tcase = suite_case(suite, "If-None-Match");
    tcase_add_loop_test(tcase, test_rows, 0, ROWS(rows));
    tcase_add_test(tcase, test_lists);
    tcase_add_test(tcase, test_noise);
    return suite_run(suite);
}
