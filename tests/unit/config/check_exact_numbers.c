/* Numbers as text: exact in both directions, canonical, never read beyond the end. */
#include "config/values/exact_numbers.h"

#include <errno.h>
#include <inttypes.h>
#include <regex.h>

#include "noise/farlands.h"
#include "tests/unit/support/fixtures.h"

static struct guarded memory;

static void set_up(void)
{
    guarded_new(&memory, 128);
}

static void tear_down(void)
{
    guarded_free(&memory);
}

static const char *text_at_guard(const char *text)
{
    return (const char *)guarded_copy(&memory, text, strlen(text));
}

#define UNITS(blocks) (INT64_C(blocks) * FARLANDS_UNIT)

static const struct {
    const char *text;
    int err;
    int64_t units;
} blocks_table[] = {
    {"0", 0, 0},
    {"1", 0, UNITS(1)},
    {"-1", 0, UNITS(-1)},
    {"10", 0, UNITS(10)},
    {"0.5", 0, 512},
    {"-0.5", 0, -512},
    {"-1.25", 0, -1280},
    {"0.0009765625", 0, 1},
    {"-0.0009765625", 0, -1},
    {"0.9990234375", 0, 1023},
    {"-8388608.75", 0, -(UNITS(8388608) + 768)},
    {"4503599627370496", 0, FARLANDS_LIMIT},
    {"-4503599627370496", 0, -FARLANDS_LIMIT},
    {"4503599627370496.0009765625", 0, FARLANDS_LIMIT + 1},
    {"9007199254740991", 0, UNITS(9007199254740991)},
    {"9007199254740991.9990234375", 0, INT64_MAX},
    {"-9007199254740991.9990234375", 0, -INT64_MAX},
    /* Trailing zeros are ignored. */
    {"0.0", 0, 0},
    {"1.50", 0, 1536},
    {"-1.00", 0, UNITS(-1)},
    {"0.00097656250", 0, 1},
    {"0.000976562500000000000000000000", 0, 1},
    /* Between two units. */
    {"0.1", -EINVAL, 0},
    {"0.3", -EINVAL, 0},
    {"0.00048828125", -EINVAL, 0},
    {"0.0009765624", -EINVAL, 0},
    {"0.0009765626", -EINVAL, 0},
    {"0.00097656251", -EINVAL, 0},
    {"1.99999999999", -EINVAL, 0},
    {"9007199254740991.9999999999", -EINVAL, 0},
    /* Malformed. */
    {"", -EINVAL, 0},
    {"-", -EINVAL, 0},
    {"+", -EINVAL, 0},
    {".", -EINVAL, 0},
    {"-.", -EINVAL, 0},
    {"-0", -EINVAL, 0},
    {"-0.0", -EINVAL, 0},
    {"-0.00000000000", -EINVAL, 0},
    {"+0", -EINVAL, 0},
    {"+1", -EINVAL, 0},
    {"01", -EINVAL, 0},
    {"-01", -EINVAL, 0},
    {"00", -EINVAL, 0},
    {"00.5", -EINVAL, 0},
    {"1.", -EINVAL, 0},
    {"-1.", -EINVAL, 0},
    {".5", -EINVAL, 0},
    {"-.5", -EINVAL, 0},
    {"--1", -EINVAL, 0},
    {"1-", -EINVAL, 0},
    {"1-1", -EINVAL, 0},
    {"1..5", -EINVAL, 0},
    {"1.5.5", -EINVAL, 0},
    {"1.-5", -EINVAL, 0},
    {"1.+5", -EINVAL, 0},
    {"1e3", -EINVAL, 0},
    {"1E3", -EINVAL, 0},
    {"1.5e0", -EINVAL, 0},
    {"0x10", -EINVAL, 0},
    {"1,5", -EINVAL, 0},
    {"1_000", -EINVAL, 0},
    {" 1", -EINVAL, 0},
    {"1 ", -EINVAL, 0},
    {"1. 5", -EINVAL, 0},
    {"- 1", -EINVAL, 0},
    {"\t1", -EINVAL, 0},
    {"1\n", -EINVAL, 0},
    {"nan", -EINVAL, 0},
    {"inf", -EINVAL, 0},
    {"-inf", -EINVAL, 0},
    {"\xd9\xa1", -EINVAL, 0},
    /* 2^53 blocks and more. */
    {"9007199254740992", -ERANGE, 0}, /* 2^63 units */
    {"9007199254740992.0", -ERANGE, 0},
    {"9007199254740992.5", -ERANGE, 0},
    {"-9007199254740992", -ERANGE, 0},
    {"-9007199254740992.0009765625", -ERANGE, 0},
    {"9007199254740993", -ERANGE, 0},
    {"-9007199254740993", -ERANGE, 0},
    {"9223372036854775807", -ERANGE, 0},
    {"-9223372036854775808", -ERANGE, 0},
    {"18446744073709551616", -ERANGE, 0},
    {"18446744073709551617", -ERANGE, 0},
    {"-340282366920938463463374607431768211457", -ERANGE, 0},
    {"100000000000000000000000000000000000000000000000000000000000", -ERANGE, 0},
};

START_TEST(test_blocks)
{
    const char *text = blocks_table[_i].text;
    int64_t units = 4711;
    int err = blocks_parse(text_at_guard(text), strlen(text), &units);
    ck_assert_msg(err == blocks_table[_i].err, "\"%s\": %d, not %d", text, err,
                  blocks_table[_i].err);
    int64_t expected = err ? 4711 : blocks_table[_i].units;
    ck_assert_msg(units == expected, "\"%s\": %" PRId64 ", not %" PRId64, text, units, expected);
}
END_TEST

/* Bytes after LENGTH are ignored. */
START_TEST(test_length)
{
    int64_t units;
    uint64_t number;
    ck_assert_int_eq(blocks_parse("12.5e9", 4, &units), 0);
    ck_assert_int_eq(units, 12800);
    ck_assert_int_eq(blocks_parse("1\0002", 3, &units), -EINVAL);
    ck_assert_int_eq(integer_parse("-123", 3, &units), 0);
    ck_assert_int_eq(units, -12);
    ck_assert_int_eq(unsigned_parse("123", 2, &number), 0);
    ck_assert_uint_eq(number, 12);
}
END_TEST

static void round_trip(int64_t units)
{
    char buffer[BLOCKS_TEXT + 1];
    int64_t back;
    memset(buffer, 'x', sizeof buffer);
    must(blocks_format(units, buffer) == buffer, "not its buffer");
    must(memchr(buffer, 0, BLOCKS_TEXT) != NULL, "%" PRId64 " is not terminated", units);
    must(buffer[BLOCKS_TEXT] == 'x', "%" PRId64 " overruns its buffer", units);
    int err = blocks_parse(text_at_guard(buffer), strlen(buffer), &back);
    must(err == 0 && back == units, "%" PRId64 " as \"%s\": %d, %" PRId64, units, buffer, err,
         back);
    must(!strchr(buffer, '.') || buffer[strlen(buffer) - 1] != '0', "\"%s\" could be shorter",
         buffer);
}

START_TEST(test_round_trip)
{
    uint64_t state = 1;
    for (int64_t units = -4096; units <= 4096; units++)
        round_trip(units);
    for (int i = 0; i < 100000; i++) {
        /* Every magnitude equally often. */
        int64_t units = (int64_t)(chance(&state) >> 1 >> chance_below(&state, 63));
        round_trip(units);
        round_trip(-units);
        round_trip(units & ~(FARLANDS_UNIT - 1));
    }
    round_trip(FARLANDS_LIMIT);
    round_trip(-FARLANDS_LIMIT);
    round_trip(INT64_MAX);
    round_trip(-INT64_MAX);
}
END_TEST

static const struct {
    int64_t units;
    const char *text;
} formats[] = {
    {0, "0"},
    {1, "0.0009765625"},
    {-1, "-0.0009765625"},
    {512, "0.5"},
    {-512, "-0.5"},
    {1024, "1"},
    {-1024, "-1"},
    {-1536, "-1.5"},
    {UNITS(10), "10"},
    {FARLANDS_LIMIT, "4503599627370496"},
    {-FARLANDS_LIMIT, "-4503599627370496"},
    {INT64_MAX, "9007199254740991.9990234375"},
    {INT64_MIN, "-9007199254740992"},
};

START_TEST(test_format)
{
    char buffer[BLOCKS_TEXT];
    ck_assert_str_eq(blocks_format(formats[_i].units, buffer), formats[_i].text);
}
END_TEST

/* The value of well-formed TEXT in units, by wide integers; *EXACT if it is a whole number. */
static __int128 units_of(const char *text, bool *exact)
{
    bool negative = *text == '-';
    __int128 scaled = 0; /* units * 10^16 */
    int decimals = -1;
    for (text += negative; *text; text++) {
        if (*text == '.') {
            decimals = 0;
            continue;
        }
        scaled = scaled * 10 + (*text - '0');
        decimals += decimals >= 0;
    }
    for (scaled *= FARLANDS_UNIT; decimals < 16; decimals += decimals < 0 ? 2 : 1)
        scaled *= 10;
    __int128 power = INT64_C(10000000000000000);
    *exact = scaled % power == 0;
    return negative ? -(scaled / power) : scaled / power;
}

/* Random texts of digits, points and signs, against a regular expression and wide integers. */
START_TEST(test_grammar)
{
    static const char alphabet[] = "--..00001234567899+e ";
    regex_t grammar;
    uint64_t state = 2;
    int good = 0;
    ck_assert_int_eq(regcomp(&grammar, "^-?(0|[1-9][0-9]*)(\\.[0-9]+)?$", REG_EXTENDED | REG_NOSUB),
                     0);
    for (int i = 0; i < 300000; i++) {
        char text[16];
        int length = chance_below(&state, 11);
        for (int j = 0; j < length; j++)
            text[j] = alphabet[chance_below(&state, sizeof alphabet - 1)];
        text[length] = 0;
        if (chance_below(&state, 4) == 0) /* more exact ones */
            length = snprintf(text, sizeof text, "%d.%s", chance_below(&state, 9),
                              (const char *[]){"5", "25", "125", "0625", "75"}[i % 5]);
        int64_t units = 0;
        int err = blocks_parse(text_at_guard(text), (size_t)length, &units);
        bool exact = false;
        __int128 expected = 0;
        if (regexec(&grammar, text, 0, NULL, 0) == 0)
            expected = units_of(text, &exact);
        if (expected == 0 && text[0] == '-') /* minus zero */
            exact = false;
        must(err == (exact ? 0 : -EINVAL), "\"%s\": %d", text, err);
        must(err || units == expected, "\"%s\": %" PRId64, text, units);
        good += !err;
    }
    regfree(&grammar);
    ck_assert_int_gt(good, 1000);
}
END_TEST

static const struct {
    const char *text;
    int err;
    int64_t value;
} integers[] = {
    {"0", 0, 0},
    {"1", 0, 1},
    {"-1", 0, -1},
    {"9223372036854775807", 0, INT64_MAX},
    {"-9223372036854775808", 0, INT64_MIN},
    {"9223372036854775808", -ERANGE, 0},
    {"-9223372036854775809", -ERANGE, 0},
    {"9223372036854775810", -ERANGE, 0},
    {"18446744073709551616", -ERANGE, 0},
    {"-18446744073709551617", -ERANGE, 0},
    {"99999999999999999999999999999999999999999", -ERANGE, 0},
    {"", -EINVAL, 0},
    {"-", -EINVAL, 0},
    {"-0", -EINVAL, 0},
    {"+1", -EINVAL, 0},
    {"01", -EINVAL, 0},
    {"00", -EINVAL, 0},
    {"-01", -EINVAL, 0},
    {"1.0", -EINVAL, 0},
    {"1.", -EINVAL, 0},
    {"1e3", -EINVAL, 0},
    {"0x1", -EINVAL, 0},
    {" 1", -EINVAL, 0},
    {"1 ", -EINVAL, 0},
    {"--1", -EINVAL, 0},
    {"a", -EINVAL, 0},
    {"1a", -EINVAL, 0},
};

START_TEST(test_integer)
{
    const char *text = integers[_i].text;
    int64_t value = 4711;
    int err = integer_parse(text_at_guard(text), strlen(text), &value);
    ck_assert_msg(err == integers[_i].err, "\"%s\": %d", text, err);
    if (!err)
        ck_assert_msg(value == integers[_i].value, "\"%s\": %" PRId64, text, value);
}
END_TEST

static const struct {
    const char *text;
    int err;
    uint64_t value;
} unsigneds[] = {
    {"0", 0, 0},
    {"1", 0, 1},
    {"9223372036854775808", 0, UINT64_C(9223372036854775808)},
    {"18446744073709551615", 0, UINT64_MAX},
    {"18446744073709551616", -ERANGE, 0},
    {"18446744073709551620", -ERANGE, 0},
    {"28446744073709551615", -ERANGE, 0},
    {"184467440737095516150", -ERANGE, 0},
    {"99999999999999999999999999999999999999999", -ERANGE, 0},
    {"", -EINVAL, 0},
    {"-", -EINVAL, 0},
    {"-0", -EINVAL, 0},
    {"-1", -EINVAL, 0},
    {"+1", -EINVAL, 0},
    {"01", -EINVAL, 0},
    {"00", -EINVAL, 0},
    {"1.0", -EINVAL, 0},
    {"1e3", -EINVAL, 0},
    {" 1", -EINVAL, 0},
    {"1 ", -EINVAL, 0},
    {"a", -EINVAL, 0},
};

START_TEST(test_unsigned)
{
    const char *text = unsigneds[_i].text;
    uint64_t value = 4711;
    int err = unsigned_parse(text_at_guard(text), strlen(text), &value);
    ck_assert_msg(err == unsigneds[_i].err, "\"%s\": %d", text, err);
    if (!err)
        ck_assert_msg(value == unsigneds[_i].value, "\"%s\": %" PRIu64, text, value);
}
END_TEST

/* Exponents, as canonical text; NULL: refused. */
static const struct {
    const char *text, *plain;
} exponents[] = {
    {"1e3", "1000"},
    {"1E+3", "1000"},
    {"2.5e-1", "0.25"},
    {"-2.5e1", "-25"},
    {"1.50e1", "15"},
    {"0e5", "0"},
    {"0.001e3", "1"},
    {"123.456e2", "12345.6"},
    {"9e-3", "0.009"},
    {"1e03", "1000"},
    {"1e40", "10000000000000000000000000000000000000000"},
    {"1e-40", "0.0000000000000000000000000000000000000001"},
    {"1e41", NULL},
    {"1e-41", NULL},
    {"1", NULL},
    {"", NULL},
    {"e", NULL},
    {"e3", NULL},
    {"-e3", NULL},
    {"1e", NULL},
    {"1e+", NULL},
    {"1e--1", NULL},
    {"1e1.5", NULL},
    {"1e3x", NULL},
    {".5e1", NULL},
    {"5.e1", NULL},
    {"01e1", NULL},
    {"+1e1", NULL},
    {"1e1e1", NULL},
    {"11111111111111111111111111111111111111111e1", NULL},
    {"1e18446744073709551617", NULL},
};

START_TEST(test_exponents)
{
    const char *text = exponents[_i].text, *expected = exponents[_i].plain;
    char out[EXPANDED_TEXT] = "untouched";
    const int err = exponent_expand(text_at_guard(text), strlen(text), out);
    ck_assert_str_eq(out, expected ? expected : "untouched");
    ck_assert_int_eq(err, expected ? 0 : -EINVAL);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("blocks");
    TCase *tcase = suite_case(suite, "text");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_loop_test(tcase, test_blocks, 0, ROWS(blocks_table));
    tcase_add_loop_test(tcase, test_format, 0, ROWS(formats));
    tcase_add_loop_test(tcase, test_exponents, 0, ROWS(exponents));
    tcase_add_loop_test(tcase, test_integer, 0, ROWS(integers));
    tcase_add_loop_test(tcase, test_unsigned, 0, ROWS(unsigneds));
    tcase_add_test(tcase, test_length);
    tcase_add_test(tcase, test_round_trip);
    tcase_add_test(tcase, test_grammar);
    return suite_run(suite);
}
