/* Learned run times. */
#include "server/core/run_times.h"

#include "tests/unit/support/fixtures.h"

static struct run_times times;

static void forget(void)
{
    times = (struct run_times){0};
}

static const struct run_kind first = {1, 10}, second = {2, 10}, other = {3, 11};

START_TEST(guesses_inherits_and_learns)
{
    ck_assert_uint_eq(run_times_expect(&times, first), RUN_TIME_GUESS_US);
    run_times_learn(&times, first, 5000);
    ck_assert_uint_eq(run_times_expect(&times, first), 5000);
    ck_assert_uint_eq(run_times_expect(&times, second), 5000); /* its family's */
    ck_assert_uint_eq(run_times_expect(&times, other), RUN_TIME_GUESS_US);
    run_times_learn(&times, second, 1000);
    ck_assert_uint_eq(run_times_expect(&times, first), 5000);
    ck_assert_uint_eq(run_times_expect(&times, second), 1000);
}
END_TEST

/* A change shows to 63 % after 8 runs. */
START_TEST(follows_changes)
{
    run_times_learn(&times, first, 0);
    for (int i = 0; i < 8; i++)
        run_times_learn(&times, first, 10000);
    ck_assert_uint_ge(run_times_expect(&times, first), 6500);
    ck_assert_uint_le(run_times_expect(&times, first), 6650);
    for (int i = 0; i < 200; i++)
        run_times_learn(&times, first, 300);
    ck_assert_uint_ge(run_times_expect(&times, first), 300);
    ck_assert_uint_le(run_times_expect(&times, first), 301);
}
END_TEST

START_TEST(keeps_within_bounds)
{
    run_times_learn(&times, first, 0);
    ck_assert_uint_eq(run_times_expect(&times, first), 1);
    for (int i = 0; i < 100; i++)
        run_times_learn(&times, first, UINT64_MAX);
    ck_assert_uint_ge(run_times_expect(&times, first), 59000000);
    ck_assert_uint_le(run_times_expect(&times, first), 60000000);
}
END_TEST

/* Two kinds in one place: the last one is known, and the other inherits. */
START_TEST(forgets_kinds_that_share_a_place)
{
    const struct run_kind same = {1 + RUN_TIMES, 11};
    run_times_learn(&times, first, 5000);
    run_times_learn(&times, second, 1000);
    run_times_learn(&times, same, 70);
    ck_assert_uint_eq(run_times_expect(&times, same), 70);
    ck_assert_uint_eq(run_times_expect(&times, first), 4500); /* its family's */
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("run_times");
    TCase *tcase = tcase_create("times");
    suite_add_tcase(suite, tcase);
    tcase_add_checked_fixture(tcase, forget, NULL);
    tcase_add_test(tcase, guesses_inherits_and_learns);
    tcase_add_test(tcase, follows_changes);
    tcase_add_test(tcase, keeps_within_bounds);
    tcase_add_test(tcase, forgets_kinds_that_share_a_place);
    return suite_run(suite);
}
