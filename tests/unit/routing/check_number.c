/* Numbers as clients write them: nearest units and floats, never read beyond the end. */
#include "server/routing/number.h"

#include <errno.h>
#include <inttypes.h>

#include "noise/farlands.h"
#include "tests/unit/support/fixtures.h"

enum { LONGEST_NUMBER = 32767 }; /* bytes */

static struct guarded memory;

static void set_up(void)
{
    guarded_new(&memory, 65536);
}

static void tear_down(void)
{
    guarded_free(&memory);
}

static struct span span_at_guard(const char *text)
{
    const size_t length = strlen(text);
    return (struct span){(const char *)guarded_copy(&memory, text, length), length};
}

#define UNITS(blocks) (INT64_C(blocks) * FARLANDS_UNIT)
#define ZEROS "0000000000000000000000000000000000000000"

static const struct {
    const char *text;
    int err;
    int64_t units;
    bool exact;
} rows[] = {
    {"0", 0, 0, true},
    {"12", 0, UNITS(12), true},
    {"-3.5", 0, -3584, true},
    {"0.0009765625", 0, 1, true},
    {"4503599627370496", 0, FARLANDS_LIMIT, true},
    {"-4503599627370495.9990234375", 0, 1 - FARLANDS_LIMIT, true},
    /* Other spellings of the same numbers. */
    {"+5", 0, UNITS(5), true},
    {"+0", 0, 0, true},
    {"-0", 0, 0, true},
    {"-0.000", 0, 0, true},
    {"007", 0, UNITS(7), true},
    {"-007.50", 0, -7680, true},
    {".5", 0, 512, true},
    {"-.5", 0, -512, true},
    {"5.", 0, UNITS(5), true},
    {"1000.0", 0, UNITS(1000), true},
    {"1e3", 0, UNITS(1000), true},
    {"1E3", 0, UNITS(1000), true},
    {"1e+3", 0, UNITS(1000), true},
    {"+1.e03", 0, UNITS(1000), true},
    {"0.001e6", 0, UNITS(1000), true},
    {"1000000e-3", 0, UNITS(1000), true},
    {"-25e-2", 0, -256, true},
    {"9765625e-10", 0, 1, true},
    {"4.503599627370496e15", 0, FARLANDS_LIMIT, true},
    {"45035996273704959990234375E-10", 0, FARLANDS_LIMIT - 1, true},
    {"0e999999999999999999999", 0, 0, true},
    {"0e-999999999999999999999", 0, 0, true},
    {ZEROS ZEROS "1" ZEROS ZEROS "e-80", 0, UNITS(1), true},
    {"0." ZEROS ZEROS "1e81", 0, UNITS(1), true},
    {"1e00000000000000000000000000000000000000001", 0, UNITS(10), true},
    /* Between two units: the nearest. */
    {"0.1", 0, 102, false},
    {"1e-1", 0, 102, false},
    {"-0.1", 0, -102, false},
    {"0.3", 0, 307, false},
    {"-0.3", 0, -307, false},
    {"1.99999999999", 0, UNITS(2), false},
    {"-1.99999999999", 0, UNITS(-2), false},
    {"0.00097656249999", 0, 1, false},
    {"0.00097656250001", 0, 1, false},
    {"0.0009765625" ZEROS ZEROS "1", 0, 1, false},
    {"1e-400", 0, 0, false},
    {"-1e-400", 0, 0, false},
    {"-0.0001", 0, 0, false},
    {"1e-99999999999999999999999999", 0, 0, false},
    {"4503599627370495.99951171875", 0, FARLANDS_LIMIT, false},
    {"4503599627370495.99951171874", 0, FARLANDS_LIMIT - 1, false},
    {"-4503599627370495.99951171876", 0, -FARLANDS_LIMIT, false},
    {"4503599627370496.0004", 0, FARLANDS_LIMIT, false},
    {"123456789.123456789", 0, UNITS(123456789) + 126, false},
    /* Ties go up, to the east, the south and the sky. */
    {"0.00048828125", 0, 1, false},
    {"-0.00048828125", 0, 0, false},
    {"0.00146484375", 0, 2, false},
    {"-0.00146484375", 0, -1, false},
    {"-0.00146484375" ZEROS, 0, -1, false},
    {"48828125e-11", 0, 1, false},
    {"-4503599627370495.99951171875", 0, 1 - FARLANDS_LIMIT, false},
    {"0.00048828124999999999999999999999999", 0, 0, false},
    {"-0.00048828125" ZEROS ZEROS "1", 0, -1, false},
    /* Too large. */
    {"9007199254740991.9990234375", 0, INT64_MAX, true},
    {"-9007199254740991.9990234375", 0, -INT64_MAX, true},
    {"9007199254740991.9996", -ERANGE, 0, false},
    {"-9007199254740991.9996", -ERANGE, 0, false},
    {"9007199254740992", -ERANGE, 0, false},
    {"-9007199254740992", -ERANGE, 0, false},
    {"18446744073709551616", -ERANGE, 0, false},
    {"18014398509481984e3", -ERANGE, 0, false},
    {"1e16", -ERANGE, 0, false},
    {"1e400", -ERANGE, 0, false},
    {"-1e400", -ERANGE, 0, false},
    {"1e99999999999999999999999999", -ERANGE, 0, false},
    {"1" ZEROS ZEROS, -ERANGE, 0, false},
    /* Malformed. */
    {"", -EINVAL, 0, false},
    {"-", -EINVAL, 0, false},
    {"+", -EINVAL, 0, false},
    {".", -EINVAL, 0, false},
    {"-.", -EINVAL, 0, false},
    {"--1", -EINVAL, 0, false},
    {"+-1", -EINVAL, 0, false},
    {"1.5.5", -EINVAL, 0, false},
    {"1,5", -EINVAL, 0, false},
    {"1_000", -EINVAL, 0, false},
    {"e3", -EINVAL, 0, false},
    {".e3", -EINVAL, 0, false},
    {"1e", -EINVAL, 0, false},
    {"1e+", -EINVAL, 0, false},
    {"1e-", -EINVAL, 0, false},
    {"1e+-3", -EINVAL, 0, false},
    {"1e3.0", -EINVAL, 0, false},
    {"1e3e3", -EINVAL, 0, false},
    {"1e3 ", -EINVAL, 0, false},
    {"1%65", -EINVAL, 0, false},
    {" 1", -EINVAL, 0, false},
    {"1f", -EINVAL, 0, false},
    {"1d3", -EINVAL, 0, false},
    {"0x10", -EINVAL, 0, false},
    {"nan", -EINVAL, 0, false},
    {"inf", -EINVAL, 0, false},
    {"Infinity", -EINVAL, 0, false},
    {"99999999999999999999999x", -EINVAL, 0, false},
};

START_TEST(test_units)
{
    const char *text = rows[_i].text;
    int64_t units = 4711;
    struct number_reading reading = {.exact = false};
    const int err = number_to_units(span_at_guard(text), &units, &reading);
    ck_assert_msg(err == rows[_i].err, "\"%s\": %d; expected %d", text, err, rows[_i].err);
    ck_assert_msg(units == (err ? 4711 : rows[_i].units), "\"%s\": %" PRId64 "; expected %" PRId64,
                  text, units, err ? 4711 : rows[_i].units);
    ck_assert_msg(reading.exact == rows[_i].exact, "\"%s\": exact %d", text, reading.exact);
    ck_assert_int_eq(number_to_units(span_at_guard(text), &units, NULL), err);
}
END_TEST

/* Random multiples of 10^-20 blocks, in random spellings, against wide integers. */
START_TEST(test_rounding)
{
    const __int128 one = (__int128)INT64_C(10000000000) * INT64_C(10000000000);
    uint64_t state = 3;
    int ties = 0;
    for (int i = 0; i < 200000; i++) {
        const bool negative = i & 1;
        const uint64_t blocks = chance(&state) >> chance_below(&state, 50) >> 11;
        uint64_t high = chance(&state) % UINT64_C(10000000000);
        uint64_t low = chance(&state) % UINT64_C(10000000000);
        if (i % 4 == 0) { /* multiples of half a unit */
            const uint64_t halves = chance(&state) % 2048 * UINT64_C(48828125);
            high = halves / 10;
            low = halves % 10 * 1000000000;
        }
        char text[128];
        snprintf(text, sizeof text,
                 i % 8 < 4 ? "%s%" PRIu64 ".%010" PRIu64 "%010" PRIu64
                           : "%s00%" PRIu64 "%010" PRIu64 "%010" PRIu64 "e-20",
                 negative ? "-"
                 : i % 3  ? ""
                          : "+",
                 blocks, high, low);
        const __int128 fraction = (__int128)high * INT64_C(10000000000) + low;
        __int128 twice = fraction * 2048; /* half units, times 10^20 */
        const bool tie = twice % one == 0 && twice / one % 2 == 1;
        ties += tie;
        const __int128 rounded = (twice + one - (tie && negative)) / (2 * one);
        const __int128 expected = (__int128)blocks * FARLANDS_UNIT + rounded;
        int64_t units = 0;
        struct number_reading reading = {.exact = false};
        const int err = number_to_units(span_at_guard(text), &units, &reading);
        if (expected > INT64_MAX)
            must(err == -ERANGE, "%s: %d", text, err);
        else
            must(err == 0 && units == (negative ? -(int64_t)expected : (int64_t)expected) &&
                     reading.exact == (rounded * 2 * one == twice),
                 "%s: %d, %" PRId64 ", exact %d", text, err, units, reading.exact);
    }
    ck_assert_int_gt(ties, 1000);
}
END_TEST

static const struct {
    const char *text;
    int err;
    float value;
} floats[] = {
    {"0", 0, 0},
    {"1.5", 0, 1.5F},
    {"-3.25", 0, -3.25F},
    {"+5", 0, 5},
    {".5", 0, .5F},
    {"5.", 0, 5},
    {"1e3", 0, 1000},
    {"1e-3", 0, 0.001F},
    {"0.1", 0, 0.1F},
    {"1e-400", 0, 0},
    {"3.4028235e38", 0, 0x1.fffffep127F},
    {"1e39", -ERANGE, 0},
    {"-1e400", -ERANGE, 0},
    {ZEROS "00000000000000000000001", 0, 1},
    {ZEROS "000000000000000000000001", -ERANGE, 0},
    {"", -EINVAL, 0},
    {"nan", -EINVAL, 0},
    {"inf", -EINVAL, 0},
    {"0x1p3", -EINVAL, 0},
    {"1e", -EINVAL, 0},
    {"1 ", -EINVAL, 0},
    {" 1", -EINVAL, 0},
};

START_TEST(test_floats)
{
    const char *text = floats[_i].text;
    float value = 4711;
    const int err = number_to_float(span_at_guard(text), &value);
    ck_assert_msg(err == floats[_i].err, "\"%s\": %d", text, err);
    ck_assert_msg(value == (err ? 4711 : floats[_i].value), "\"%s\": %g", text, (double)value);
}
END_TEST

/* Numbers as long as a URL can be: HEAD, then as often as there is room FILL, then TAIL. */
static const struct {
    const char *head, *fill, *tail;
    int err;
    int64_t units;
    bool exact;
} long_numbers[] = {
    {"1", "0", "", -ERANGE, 0, false},
    {"1.", "0", "1", 0, FARLANDS_UNIT, false},
    {"1.", "0", "", 0, FARLANDS_UNIT, true},
    {"", "0", "", 0, 0, true},
    {"1e", "0", "1", 0, UNITS(10), true},
    {"1e9", "0", "1", -ERANGE, 0, false},
    {"0e", "9", "", 0, 0, true},
    {"1e-", "9", "", 0, 0, false},
    {"0.", "9", "e-9999999", 0, 0, false},
    {"0.", "9", "e9999999", -ERANGE, 0, false},
    {"-", "1", "x", -EINVAL, 0, false},
};

/* Read row I with LENGTH bytes. Returns the number of steps. */
static size_t read_long(int i, size_t length)
{
    static char text[LONGEST_NUMBER + 1];
    const char *tail = long_numbers[i].tail, *head = long_numbers[i].head;
    struct number_reading reading = {.exact = false};
    int64_t units = 0;
    memset(text, *long_numbers[i].fill, length);
    memcpy(text, head, strlen(head));
    strcpy(text + length - strlen(tail), tail);
    const int err = number_to_units(span_at_guard(text), &units, &reading);
    must(err == long_numbers[i].err, "%s%s...%s: %d, expected %d", head, long_numbers[i].fill, tail,
         err, long_numbers[i].err);
    must(units == long_numbers[i].units && reading.exact == long_numbers[i].exact,
         "%s%s...%s: %" PRId64 ", exact %d; expected %" PRId64 ", %d", head, long_numbers[i].fill,
         tail, units, reading.exact, long_numbers[i].units, long_numbers[i].exact);
    return reading.steps;
}

START_TEST(test_long)
{
    must_be_linear(read_long(_i, LONGEST_NUMBER / 2), read_long(_i, LONGEST_NUMBER),
                   3 * LONGEST_NUMBER, long_numbers[_i].head);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("number");
    TCase *tcase = suite_case(suite, "text");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_loop_test(tcase, test_units, 0, ROWS(rows));
    tcase_add_loop_test(tcase, test_floats, 0, ROWS(floats));
    tcase_add_test(tcase, test_rounding);
    tcase_add_loop_test(tcase, test_long, 0, ROWS(long_numbers));
    return suite_run(suite);
}
