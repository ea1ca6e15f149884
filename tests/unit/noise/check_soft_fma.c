/* The fused multiply-add in software, compared with the C library's. */
#include "noise/exact/soft_fma.h"

#include <inttypes.h>
#include <math.h>

#include "tests/unit/support/fixtures.h"

static void must_be_fma(double a, double b, double c)
{
    const double expected = fma(a, b, c), sum = soft_fma(a, b, c);
    must(memcmp(&sum, &expected, sizeof sum) == 0 || (isnan(sum) && isnan(expected)),
         "fma(%a, %a, %a) = %a, not %a", a, b, c, expected, sum);
}

static void must_be_fmaf(float a, float b, float c)
{
    const float expected = fmaf(a, b, c), sum = soft_fmaf(a, b, c);
    const double twice = (double)a * (double)b + (double)c;
    must(memcmp(&sum, &expected, sizeof sum) == 0 || (isnan(sum) && isnan(expected)),
         "fmaf(%a, %a, %a) = %a, not %a", (double)a, (double)b, (double)c, (double)expected,
         (double)sum);
    must(!(bits_of(twice) & FMAF_MIDDLE) || (float)twice == expected || isnan(expected),
         "fmaf(%a, %a, %a) is %a, rounded twice %a", (double)a, (double)b, (double)c,
         (double)expected, (double)(float)twice);
}

static const double edges[] = {
    0,
    0x1p-1074,
    0x1p-1073,
    0x1.8p-1073,
    0x1.fffffffffffffp-1023,
    0x1p-1022,
    0x1.0000000000001p-1022,
    0x1p-969,
    0x1.921fb54442d18p-538,
    0x1p-537,
    0x1p-511,
    0x1p-149,
    0x1p-126,
    0x1.fffffcp-127,
    0x1p-53,
    0.1,
    0x1p-1,
    0x1.fffffep-1,
    0x1.fffffffffffffp-1,
    1,
    0x1.000002p0,
    0x1.0000000000001p0,
    1.5,
    3,
    0x1p53,
    0x1.fffffep127,
    0x1p511,
    0x1p899,
    0x1p900,
    0x1.fffffffffffffp1023,
    INFINITY,
    NAN,
};

START_TEST(test_edges)
{
    for (int i = 0; i < ROWS(edges); i++)
        for (int j = 0; j < ROWS(edges); j++)
            for (int k = 0; k < ROWS(edges); k++)
                for (int signs = 0; signs < 8; signs++) {
                    const double a = signs & 1 ? -edges[i] : edges[i];
                    const double b = signs & 2 ? -edges[j] : edges[j];
                    const double c = signs & 4 ? -edges[k] : edges[k];
                    must_be_fma(a, b, c);
                    must_be_fmaf((float)a, (float)b, (float)c);
                }
}
END_TEST

/* A random double with an exponent near EXPONENT. */
static double near_exponent(uint64_t *state, int exponent, int spread)
{
    const uint64_t bits = chance(state);
    /* Few set or few clear bits make halves and carries. */
    const uint64_t fraction = bits & 1   ? chance(state)
                              : bits & 2 ? UINT64_C(1) << (bits >> 58)
                                         : ~(UINT64_C(1) << (bits >> 58));
    const double x = 1 + (double)(fraction & ((UINT64_C(1) << 52) - 1)) * 0x1p-52;
    return ldexp(bits & 4 ? -x : x, exponent - spread + chance_below(state, 2 * spread + 1));
}

/* Sums whose parts are adjacent, and sums that cancel out. */
START_TEST(test_exponents)
{
    static const int exponents[] = {0,    -40,  200,   470,   -460, -500, 498,
                                    -530, -537, -1000, -1060, 880,  1000};
    uint64_t state = 31;
    for (int i = 0; i < ROWS(exponents); i++)
        for (int j = 0; j < ROWS(exponents); j++)
            for (int round = 0; round < 20000; round++) {
                const double a = near_exponent(&state, exponents[i], 3);
                const double b = near_exponent(&state, exponents[j], 3);
                const int sum = exponents[i] + exponents[j];
                must_be_fma(a, b, near_exponent(&state, sum, 120));
                must_be_fma(a, b, -a * b);
                must_be_fma(a, b, nextafter(-a * b, 0));
            }
}
END_TEST

START_TEST(test_floats)
{
    static const int exponents[] = {0, -20, 40, -70, -100, -126, -140, 60, 100};
    uint64_t state = 32;
    for (int i = 0; i < ROWS(exponents); i++)
        for (int j = 0; j < ROWS(exponents); j++)
            for (int round = 0; round < 20000; round++) {
                const float a = (float)near_exponent(&state, exponents[i], 3);
                const float b = (float)near_exponent(&state, exponents[j], 3);
                must_be_fmaf(a, b, (float)near_exponent(&state, exponents[i] + exponents[j], 60));
                must_be_fmaf(a, b, -a * b);
            }
}
END_TEST

/* Sums in the middle between two floats, and beside it by less than a double shows. */
START_TEST(test_middles)
{
    uint64_t state = 34;
    for (int exponent = -150; exponent < 128; exponent++)
        for (int round = 0; round < 4000; round++) {
            const float c = (float)near_exponent(&state, exponent, 0);
            const int half = exponent - 24 > -150 ? exponent - 24 : -150;
            const double x = (chance_below(&state, 9) - 4) * 0x1p-23;
            const double y = (chance_below(&state, 9) - 4) * 0x1p-23;
            const float a = (float)ldexp(1 + x, half / 2);
            must_be_fmaf(a, (float)ldexp(1 - x, half - half / 2), c);
            must_be_fmaf(-a, (float)ldexp(1 + y, half - half / 2), c);
        }
}
END_TEST

START_TEST(test_any)
{
    uint64_t state = 33;
    for (int round = 0; round < 2000000; round++) {
        double x[3];
        float y[3];
        for (int i = 0; i < 3; i++) {
            const uint64_t bits = chance(&state);
            const uint32_t half = (uint32_t)chance(&state);
            memcpy(&x[i], &bits, sizeof x[i]);
            memcpy(&y[i], &half, sizeof y[i]);
        }
        must_be_fma(x[0], x[1], x[2]);
        must_be_fmaf(y[0], y[1], y[2]);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("soft fma");
    TCase *tcase = suite_case(suite, "equals the C library's");
    tcase_add_test(tcase, test_edges);
    tcase_add_test(tcase, test_exponents);
    tcase_add_test(tcase, test_floats);
    tcase_add_test(tcase, test_middles);
    tcase_add_test(tcase, test_any);
    return suite_run(suite);
}
