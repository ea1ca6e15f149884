/* The nearest doubles and floats are those of strtod and strtof, at the edges of their ranges and
 * in the middle between two of them, too. */
#include "config/values/nearest.h"

#include <errno.h>
#include <math.h>

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

static void must_be_nearest(const char *text)
{
    const size_t length = strlen(text);
    const char *copy = (const char *)guarded_copy(&memory, text, length);
    const double wide = strtod(text, NULL);
    const float narrow = strtof(text, NULL);
    double number;
    float less;
    must(nearest_double(copy, length, &number) == 0 && nearest_float(copy, length, &less) == 0,
         "%s: refused", text);
    must(memcmp(&number, &wide, sizeof wide) == 0, "%s: %a, not %a", text, number, wide);
    must(memcmp(&less, &narrow, sizeof narrow) == 0, "%s: float %a, not %a", text, (double)less,
         (double)narrow);
}

static const char *const edges[] = {
    "0", "-0", "1", "0.1", ".5", "5.", "+1e+3", "-2.5E-1", "007", "0e999999999", "0.000e5",
    /* Ties, and beside them. */
    "9007199254740993", "9007199254740992.5", "9007199254740993.000000000000000000000000000001",
    "16777217", "16777217.00000000000000000000000000001", "8388608.5", "1e22", "1e23",
    /* Least and greatest numbers. */
    "5e-324", "2.4703282292062327e-324", "2.4703282292062328e-324", "2.2250738585072011e-308",
    "2.2250738585072014e-308", "1.7976931348623157e308", "1.7976931348623158e308",
    "1.7976931348623159e308", "1e309", "1e-400", "1e4000", "-1e4000", "1e-4000", "1e-999999999999",
    "1e999999999999", "3.4028235677973366e38", "3.4028235677973365e38", "1.1754943508222875e-38",
    "1.401298464324817e-45", "0.7006492321624085e-45", "7.0064923216240854e-46",
    /* 63 characters. */
    "000000000000000000000000000000000000000000000000000000000000.1",
    "12345678901234567890123456789012345678901234567890123456789e-60",
    "99999999999999999999999999999999999999999999999999999999999e308"};

START_TEST(test_edges)
{
    must_be_nearest(edges[_i]);
}
END_TEST

START_TEST(test_random)
{
    uint64_t state = 23;
    char text[128];
    for (int i = 0; i < 30000; i++) {
        const uint64_t wide = chance(&state);
        const uint32_t narrow = (uint32_t)chance(&state);
        double number;
        float less;
        memcpy(&number, &wide, sizeof number);
        memcpy(&less, &narrow, sizeof less);
        snprintf(text, sizeof text, "%.*e", (int)(chance(&state) % 20), number);
        if (isfinite(number))
            must_be_nearest(text);
        const double middle = ((double)less + (double)nextafterf(less, INFINITY)) / 2;
        snprintf(text, sizeof text, "%.48e", middle);
        if (isfinite(middle))
            must_be_nearest(text);
        snprintf(text, sizeof text, "%llue%d", (unsigned long long)chance(&state),
                 (int)(chance(&state) % 700) - 350);
        must_be_nearest(text);
    }
}
END_TEST

static const char *const refused[] = {
    "",      "-",        "+",
    ".",     "-.",       "e5",
    "1e",    "1e+",      "1e-",
    "1e1.5", "--1",      "+-1",
    "1 ",    " 1",       "0x1",
    "inf",   "nan",      "1,5",
    "1e5e",  "1..2",     "1.2.3",
    "1_0",   "\xD9\xA1", "0000000000000000000000000000000000000000000000000000000000000000"};

START_TEST(test_refused)
{
    const char *text = refused[_i], *copy = (const char *)guarded_copy(&memory, text, strlen(text));
    double number = 5;
    float less = 5;
    ck_assert_int_eq(nearest_double(copy, strlen(text), &number), -EINVAL);
    ck_assert_int_eq(nearest_float(copy, strlen(text), &less), -EINVAL);
    ck_assert(number == 5 && less == 5);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("nearest numbers");
    TCase *tcase = suite_case(suite, "text");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_loop_test(tcase, test_edges, 0, ROWS(edges));
    tcase_add_test(tcase, test_random);
    tcase_add_loop_test(tcase, test_refused, 0, ROWS(refused));
    return suite_run(suite);
}
