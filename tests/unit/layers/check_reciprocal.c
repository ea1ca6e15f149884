/* Reciprocals from multiplications alone are as exact as their header says. */
#include "server/layers/reciprocal.h"

#include <math.h>

#include "tests/unit/support/fixtures.h"

static double relative(double got, double expected)
{
    return fabs(got / expected - 1);
}

START_TEST(test_exactness)
{
    for (double x = 1e-37; x < 1e37; x *= 1.00013) {
        const float value = (float)x;
        const double root = relative(reciprocal_root(value), 1 / sqrt(value));
        const double whole = relative(reciprocal(value), 1 / (double)value);
        must(root < 7e-4, "1 / sqrt(%g) is wrong by %g", x, root);
        must(whole < 7e-6, "1 / %g is wrong by %g", x, whole);
    }
}
END_TEST

/* So that the root of x, x times this, is 0. */
START_TEST(test_zero)
{
    ck_assert_float_gt(reciprocal_root(0), 1e19f);
    ck_assert(isfinite(reciprocal_root(0)));
    ck_assert_float_eq(0 * reciprocal_root(0), 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("reciprocal");
    TCase *tcase = suite_case(suite, "reciprocals");
    tcase_add_test(tcase, test_exactness);
    tcase_add_test(tcase, test_zero);
    return suite_run(suite);
}
