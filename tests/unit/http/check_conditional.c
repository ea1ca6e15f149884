/* If-Match, If-None-Match, If-Range, Range and Accept-Encoding: as in RFC 9110
 * (8.8.3, 12.5.3, 13.1, 14.1), and malformed. */
#include "server/http/conditional.h"

#include "tests/unit/support/fixtures.h"

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
    /* Everything between quotes belongs to the tag: commas, blanks, W/ and stars. */
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
    /* Different tags. */
    {"\"A\"", "\"a\"", false},
    {"\"ab\"", "\"a\"", false},
    {"\"a\"", "\"ab\"", false},
    {"\"\"", "\"a\"", false},
    /* Empty and malformed values. */
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
    bool holds = conditional_if_none_match(copy, etag);
    ck_assert_msg(holds == rows[_i].holds, "%s for %s: %d", value ? value : "NULL", etag, holds);
    guarded_free(&memory);
    guarded_free(&other);
}
END_TEST

/* Random tags in random well-formed lists match exactly if they are listed. */
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
            must(conditional_if_none_match(list, tags[tag]) == there[tag], "%s in %s: not %d",
                 tags[tag], list, there[tag]);
    }
}
END_TEST

/* Random text is never read beyond its end. */
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
            must(!conditional_if_none_match(value, "\"never\""), "%s", text);
        if (!strchr(text, '*') && !strstr(text, "\"a\""))
            must(!conditional_if_none_match(value, "\"a\""), "%s", text);
    }
    guarded_free(&memory);
}
END_TEST

/* The same lists in If-Match: weak tags do not match, and no value matches anything. */
START_TEST(test_match)
{
    const char *value = rows[_i].value;
    const bool weak = value && strstr(value, "W/" ETAG);
    ck_assert_msg(conditional_if_match(value, rows[_i].etag) ==
                      (!value || (rows[_i].holds && !weak)),
                  "%s", value ? value : "NULL");
}
END_TEST

static const struct {
    const char *value;
    bool holds;
} conditions[] = {
    {NULL, true},          {ETAG, true},
    {" " ETAG "\t", true}, {OTHER, false},
    {"W/" ETAG, false},    {"*", false},
    {"", false},           {ETAG "," ETAG, false},
    {ETAG "x", false},     {"Sat, 29 Oct 1994 19:43:31 GMT", false},
};

START_TEST(test_if_range)
{
    const char *value = conditions[_i].value;
    ck_assert_msg(conditional_if_range(value, ETAG) == conditions[_i].holds, "%s",
                  value ? value : "-");
}
END_TEST

#define WHOLE RANGE_WHOLE, 0, 0
#define BEYOND RANGE_UNSATISFIABLE, 0, 0
#define PART(first, length) RANGE_PART, first, length
#define MOST "18446744073709551615"
#define MORE "18446744073709551616"
#define HUGE_NUMBER "99999999999999999999999999999999999999999999"

static const struct {
    const char *value;
    uint64_t length;
    enum range_kind kind;
    uint64_t first, count;
} ranges[] = {
    {"bytes=0-0", 10, PART(0, 1)},
    {"bytes=0-9", 10, PART(0, 10)},
    {"bytes=9-9", 10, PART(9, 1)},
    {"bytes=2-5", 10, PART(2, 4)},
    {"bytes=2-", 10, PART(2, 8)},
    {"bytes=0-", 10, PART(0, 10)},
    {"bytes=002-05", 10, PART(2, 4)},
    {"bytes=5-99", 10, PART(5, 5)},
    {"BYTES=2-5", 10, PART(2, 4)},
    {"bytes=-1", 10, PART(9, 1)},
    {"bytes=-10", 10, PART(0, 10)},
    {"bytes=-11", 10, PART(0, 10)},
    /* Large. */
    {"bytes=1-" MOST, 10, PART(1, 9)},
    {"bytes=1-" MORE, 10, PART(1, 9)},
    {"bytes=1-" HUGE_NUMBER, 10, PART(1, 9)},
    {"bytes=-" HUGE_NUMBER, 10, PART(0, 10)},
    {"bytes=" MOST "-", 10, BEYOND},
    {"bytes=" MORE "-", 10, BEYOND},
    {"bytes=" HUGE_NUMBER "-", UINT64_MAX, BEYOND},
    {"bytes=0-" MOST, UINT64_MAX, PART(0, UINT64_MAX)},
    {"bytes=18446744073709551610-" MOST, UINT64_MAX, PART(UINT64_MAX - 5, 5)},
    /* Beyond the end. */
    {"bytes=10-", 10, BEYOND},
    {"bytes=10-10", 10, BEYOND},
    {"bytes=11-20", 10, BEYOND},
    {"bytes=-0", 10, BEYOND},
    {"bytes=-00", 10, BEYOND},
    /* Of an empty representation. */
    {"bytes=0-", 0, BEYOND},
    {"bytes=0-0", 0, BEYOND},
    {"bytes=-0", 0, BEYOND},
    {"bytes=-1", 0, WHOLE},
    /* Lists of one range. */
    {"bytes=2-5 ", 10, PART(2, 4)},
    {"bytes=2-5\t", 10, PART(2, 4)},
    {"bytes=2-5,", 10, PART(2, 4)},
    {"bytes=,2-5", 10, PART(2, 4)},
    {"bytes=, ,2-5 , ,", 10, PART(2, 4)},
    /* Several. */
    {"bytes=0-1,4-5", 10, WHOLE},
    {"bytes=0-1, 4-5", 10, WHOLE},
    {"bytes=0-0,-1", 10, WHOLE},
    {"bytes=20-,30-", 10, WHOLE},
    {"bytes=0-1,20-", 10, WHOLE},
    /* Other units, and malformed. */
    {NULL, 10, WHOLE},
    {"", 10, WHOLE},
    {"bytes", 10, WHOLE},
    {"bytes=", 10, WHOLE},
    {"bytes=,", 10, WHOLE},
    {"bytes=-", 10, WHOLE},
    {"bytes=--1", 10, WHOLE},
    {"bytes=5-4", 10, WHOLE},
    {"bytes=" MOST "-0", 10, WHOLE},
    {"bytes=5", 10, WHOLE},
    {"bytes=a-b", 10, WHOLE},
    {"bytes=1-b", 10, WHOLE},
    {"bytes=1-2b", 10, WHOLE},
    {"bytes=1-2-3", 10, WHOLE},
    {"bytes=+1-2", 10, WHOLE},
    {"bytes=1.0-2", 10, WHOLE},
    {"bytes=0x1-2", 10, WHOLE},
    {"bytes=1 -2", 10, WHOLE},
    {"bytes=1- 2", 10, WHOLE},
    {"bytes= 1-2", 10, WHOLE},
    {"bytes =1-2", 10, WHOLE},
    {" bytes=1-2", 10, WHOLE},
    {"bytes:1-2", 10, WHOLE},
    {"bytes=1-2;3-4", 10, WHOLE},
    {"bytes=1-2,x", 10, WHOLE},
    {"bytes=x,1-2", 10, WHOLE},
    {"bytes=1-2 3-4", 10, WHOLE},
    {"items=1-2", 10, WHOLE},
    {"none", 10, WHOLE},
    {"1-2", 10, WHOLE},
};

START_TEST(test_range)
{
    struct guarded memory;
    struct byte_range out = {77, 77};
    const char *value = ranges[_i].value;
    guarded_new(&memory, 256);
    if (value)
        value = (const char *)guarded_copy(&memory, value, strlen(value) + 1);
    enum range_kind kind = conditional_parse_range(value, ranges[_i].length, &out);
    ck_assert_msg(kind == ranges[_i].kind, "%s of %ju: %d", value ? value : "NULL",
                  (uintmax_t)ranges[_i].length, (int)kind);
    const bool part = kind == RANGE_PART;
    ck_assert_uint_eq(out.first, part ? ranges[_i].first : 77);
    ck_assert_uint_eq(out.length, part ? ranges[_i].count : 77);
    guarded_free(&memory);
}
END_TEST

/* Random text gives no part, or one within the representation. */
START_TEST(test_range_noise)
{
    static const char alphabet[] = "0123456789--,, =bx";
    struct guarded memory;
    uint64_t state = 16;
    guarded_new(&memory, 64);
    for (int i = 0; i < 50000; i++) {
        char text[48] = "bytes=";
        struct byte_range out = {0, 0};
        int length = 6 + chance_below(&state, 30);
        for (int j = 6; j < length; j++)
            text[j] = alphabet[chance_below(&state, sizeof alphabet - 1)];
        text[length] = 0;
        const uint64_t bytes = (uint64_t)chance_below(&state, 12);
        const char *value = (const char *)guarded_copy(&memory, text, (size_t)length + 1);
        if (conditional_parse_range(value, bytes, &out) == RANGE_PART)
            must(out.length > 0 && out.first < bytes && out.length <= bytes - out.first, "%s",
                 text);
    }
    guarded_free(&memory);
}
END_TEST

enum { NONE = CODING_IDENTITY, GZIP = CODING_GZIP, ZSTD = CODING_ZSTD };

static const struct {
    const char *value;
    int coding, without; /* if it is available, and without zstd */
} codings[] = {
    {NULL, NONE, NONE},
    {"", NONE, NONE},
    {"gzip", GZIP, GZIP},
    {"GZip", GZIP, GZIP},
    {"x-gzip", GZIP, GZIP},
    {"zstd", ZSTD, NONE},
    {"ZSTD;q=0.001", ZSTD, NONE},
    {"x-zstd", NONE, NONE},
    {"gzip, deflate, br, zstd", ZSTD, GZIP},
    {"zstd, gzip", ZSTD, GZIP},
    {"zstd;q=0.8, gzip;q=0.5", ZSTD, GZIP},
    {"gzip;q=0.5, zstd;q=0.8", ZSTD, GZIP},
    {"gzip;q=0.8, zstd;q=0.79", GZIP, GZIP},
    {"gzip;q=1.0, zstd;q=0.999", GZIP, GZIP},
    {"gzip;q=1, zstd;q=1.000", ZSTD, GZIP},
    {"gzip;q=0.5, zstd;q=0.5", ZSTD, GZIP},
    {"gzip;q=0.5, zstd;q=0.5009", ZSTD, GZIP},
    {"zstd;q=0, gzip", GZIP, GZIP},
    {"zstd;q=0, gzip;q=0", NONE, NONE},
    {"zstd;q=0, *", GZIP, GZIP},
    {"deflate,gzip", GZIP, GZIP},
    {"deflate ,\tgzip ", GZIP, GZIP},
    {"*", GZIP, GZIP},
    {"br, *;q=0.1", GZIP, GZIP},
    {"gzip;q=0.2, *;q=0.9", NONE, NONE},
    {"zstd;q=0.2, *;q=0.9", GZIP, GZIP},
    {"gzip;q=1", GZIP, GZIP},
    {"gzip;q=0.001", GZIP, GZIP},
    {"gzip ; q=0.5", GZIP, GZIP},
    {"gzip ; Q=0.5", GZIP, GZIP},
    {"identity", NONE, NONE},
    {"identity, gzip, zstd", ZSTD, GZIP},
    {"identity;q=1, gzip;q=0.9, zstd;q=0.9", NONE, NONE},
    {"identity;q=0.5, gzip;q=0.4, zstd;q=0.6", ZSTD, NONE},
    {"identity;q=0, zstd", ZSTD, NONE},
    {"identity;q=0, gzip;q=0.1", GZIP, GZIP},
    {"deflate, br", NONE, NONE},
    {"gzip;q=0", NONE, NONE},
    {"gzip;q=0.000", NONE, NONE},
    {"gzip; q=0 , br", NONE, NONE},
    {"*, gzip;q=0", NONE, NONE},
    {"gzip;q=0, *", NONE, NONE},
    {"*;q=0", NONE, NONE},
    {"*;q=0, zstd;q=0.1", ZSTD, NONE},
    {"gzip;q=0, gzip", NONE, NONE},
    {"gzipped", NONE, NONE},
    {"zip", NONE, NONE},
    {"br;gzip", NONE, NONE},
    {",,", NONE, NONE},
    {", ,gzip", GZIP, GZIP},
    {"gzip;q=", GZIP, GZIP},
    {"gzip;q=0.", NONE, NONE},
    {"gzip;q=x", GZIP, GZIP},
};

START_TEST(test_coding)
{
    struct guarded memory;
    const char *value = codings[_i].value;
    guarded_new(&memory, 64);
    if (value)
        value = (const char *)guarded_copy(&memory, value, strlen(value) + 1);
    must(conditional_coding(value, CODED_BY_ANY) == (enum coding)codings[_i].coding, "%s",
         value ? value : "NULL");
    must(conditional_coding(value, 1 << CODING_GZIP) == (enum coding)codings[_i].without, "%s",
         value ? value : "NULL");
    ck_assert_int_eq(conditional_coding(value, 1 << CODING_IDENTITY), CODING_IDENTITY);
    guarded_free(&memory);
}
END_TEST

static const struct {
    const char *if_none_match, *if_modified_since;
    bool same;
} dates[] = {
    {NULL, NULL, false},
    {NULL, "Sun, 06 Nov 1994 08:49:37 GMT", true},
    {NULL, "Sun, 06 Nov 1994 08:49:38 GMT", true},
    {NULL, "Mon, 06 Nov 2034 08:49:37 GMT", true},
    {NULL, "Sun, 06 Nov 1994 08:49:36 GMT", false},
    {NULL, "Thu, 01 Jan 1970 00:00:00 GMT", false},
    {NULL, " Sun, 06 Nov 1994 08:49:37 GMT\t", true},
    /* The obsolete forms. */
    {NULL, "Sunday, 06-Nov-94 08:49:37 GMT", true},
    {NULL, "Sunday, 06-Nov-94 08:49:36 GMT", false},
    {NULL, "Sun Nov  6 08:49:37 1994", true},
    {NULL, "Sun Nov  6 08:49:36 1994", false},
    /* If-None-Match counts alone. */
    {"\"a\"", "Thu, 01 Jan 1970 00:00:00 GMT", true},
    {"\"b\"", "Sun, 06 Nov 1994 08:49:37 GMT", false},
    {"", "Sun, 06 Nov 1994 08:49:37 GMT", false},
    /* No dates. */
    {NULL, "", false},
    {NULL, "*", false},
    {NULL, "784111777", false},
    {NULL, "Sun, 06 Nov 1994 08:49:37", false},
    {NULL, "Sun, 06 Nov 1994 08:49:37 GMT+1", false},
    {NULL, "Sun, 06 Nov 1994 08:49:37 GMT; length=3", false},
    {NULL, "Sun, 06 Nov 1994 25:49:37 GMT", false},
    {NULL, "Sun, 99 Nov 1994 08:49:37 GMT", false},
    {NULL, "Sun, 06 Foo 1994 08:49:37 GMT", false},
    {NULL, "Sun, 06 Nov 1994", false},
    {NULL, "1994-11-06T08:49:37Z", false},
    {NULL, "\xff\xfe", false},
};

START_TEST(test_date)
{
    const struct modification modified = conditional_modification(784111777);
    const struct modification unknown = {.second = 784111777};

    ck_assert_str_eq(modified.text, "Sun, 06 Nov 1994 08:49:37 GMT");
    const bool same = conditional_not_modified(dates[_i].if_none_match, dates[_i].if_modified_since,
                                               "\"a\"", &modified);
    must(same == dates[_i].same, "row %d: %d", _i, same);
    if (!dates[_i].if_none_match)
        ck_assert(!conditional_not_modified(NULL, dates[_i].if_modified_since, "\"a\"", &unknown));
}
END_TEST

/* The ETags of the same bytes, plain and compressed. */
START_TEST(test_etags)
{
    char plain[HASH_ETAG], gzip[HASH_ETAG];
    conditional_etag_hash("a", 1, plain);
    ck_assert_str_eq(plain, "\"d24ec4f1a98c6e5b\"");
    ck_assert_str_eq(conditional_etag_coded(plain, CODING_GZIP, gzip), "\"d24ec4f1a98c6e5b-gzip\"");
    ck_assert(!conditional_if_none_match(plain, gzip) && !conditional_if_none_match(gzip, plain));
    ck_assert(conditional_if_none_match(gzip, gzip) && conditional_if_match(gzip, gzip));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("conditional");
    TCase *tcase = suite_case(suite, "If-Match and If-None-Match");
    tcase_add_loop_test(tcase, test_rows, 0, ROWS(rows));
    tcase_add_loop_test(tcase, test_match, 0, ROWS(rows));
    tcase_add_test(tcase, test_lists);
    tcase_add_test(tcase, test_noise);
    tcase = suite_case(suite, "If-Modified-Since");
    tcase_add_loop_test(tcase, test_date, 0, ROWS(dates));
    tcase = suite_case(suite, "Range and If-Range");
    tcase_add_loop_test(tcase, test_if_range, 0, ROWS(conditions));
    tcase_add_loop_test(tcase, test_range, 0, ROWS(ranges));
    tcase_add_test(tcase, test_range_noise);
    tcase = suite_case(suite, "Accept-Encoding");
    tcase_add_test(tcase, test_etags);
    tcase_add_loop_test(tcase, test_coding, 0, ROWS(codings));
    return suite_run(suite);
}
