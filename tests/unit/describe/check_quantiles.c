/* Quantiles of values with known ones. */
#include "server/describe/quantiles.h"

#include <math.h>

#include "tests/unit/support/fixtures.h"

enum { MOST = 101 };

static const struct {
    const char *name;
    int count;
    float values[5];
    double expected[QUANTILES];
} rows[] = {
    {"one value", 1, {7}, {7, 7, 7, 7, 7}},
    {"two", 2, {10, 0}, {1, 2.5, 5, 7.5, 9}},
    {"five, unsorted", 5, {30, 0, 20, 40, 10}, {4, 10, 20, 30, 36}},
    {"some never", 4, {INFINITY, 1, 2, INFINITY}, {1.3, 1.75, INFINITY, INFINITY, INFINITY}},
    {"all never", 2, {INFINITY, INFINITY}, {INFINITY, INFINITY, INFINITY, INFINITY, INFINITY}},
    {"below 0", 3, {-1, -3, -2}, {-2.8, -2.5, -2, -1.5, -1.2}},
};

START_TEST(test_rows)
{
    float values[5];
    memcpy(values, rows[_i].values, sizeof values);
    const struct quantiles quantiles = quantiles_of(values, rows[_i].count);
    for (int i = 0; i < QUANTILES; i++) {
        const double found = quantiles.value[i], expected = rows[_i].expected[i];
        must(found == expected || fabs(found - expected) < 1e-6, "%s: %g %%: %g, not %g",
             rows[_i].name, quantile_shares[i] * 100, found, expected);
    }
}
END_TEST

START_TEST(test_none)
{
    const struct quantiles quantiles = quantiles_of(NULL, 0);
    for (int i = 0; i < QUANTILES; i++)
        ck_assert(isnan(quantiles.value[i]));
    ck_assert(isnan(quantile_of(NULL, 0, 0.5)));
}
END_TEST

/* Of 0 .. 100 in any order, the quantile of a share is its percentage. */
START_TEST(test_percent)
{
    float values[MOST];
    for (int i = 0; i < MOST; i++)
        values[i * 37 % MOST] = (float)i;
    const struct quantiles quantiles = quantiles_of(values, MOST);
    for (int i = 0; i < QUANTILES; i++)
        ck_assert_double_eq_tol(quantiles.value[i], quantile_shares[i] * 100, 1e-9);
}
END_TEST

START_TEST(test_share)
{
    float values[] = {30, 0, 20, 40, 10};
    ck_assert_double_eq_tol(quantile_of(values, 5, 0.99), 39.6, 1e-6);
    ck_assert_double_eq(quantile_of(values, 5, 0), 0);
    ck_assert_double_eq(quantile_of(values, 5, 1), 40);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("quantiles");
    TCase *tcase = suite_case(suite, "values");
    tcase_add_loop_test(tcase, test_rows, 0, ROWS(rows));
    tcase_add_test(tcase, test_none);
    tcase_add_test(tcase, test_share);
    tcase_add_test(tcase, test_percent);
    return suite_run(suite);
}
