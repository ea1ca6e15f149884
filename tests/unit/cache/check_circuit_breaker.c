/* The circuit breaker: which attempts it allows, and when it opens and closes. */
#include "server/cache/circuit_breaker.h"

#include <pthread.h>
#include <stdatomic.h>

#include "tests/unit/support/fixtures.h"

/* Successive calls on one breaker: at AT ms it allows an attempt or not, and the attempt ends so.
 */
static const struct {
    uint64_t at;
    bool allows;
    enum { FAILS, SUCCEEDS, NO_TRY } outcome;
    bool changes; /* returned by failed or succeeded */
    bool open;    /* afterwards */
} steps[] = {
    {0, true, SUCCEEDS, false, false},
    {1, true, FAILS, true, true},
    {1, false, NO_TRY, false, true},
    {CIRCUIT_BREAKER_PAUSE_MS, false, NO_TRY, false, true},
    {CIRCUIT_BREAKER_PAUSE_MS + 1, true, FAILS, false,
     true}, /* the single attempt; it was open already */
    {CIRCUIT_BREAKER_PAUSE_MS + 2, false, NO_TRY, false, true},
    {2 * CIRCUIT_BREAKER_PAUSE_MS + 1, true, NO_TRY, false, true}, /* an attempt in progress */
    {2 * CIRCUIT_BREAKER_PAUSE_MS + 2, false, NO_TRY, false, true},
    {2 * CIRCUIT_BREAKER_PAUSE_MS + 3, false, SUCCEEDS, true, false},
    {2 * CIRCUIT_BREAKER_PAUSE_MS + 4, true, SUCCEEDS, false, false},
    {2 * CIRCUIT_BREAKER_PAUSE_MS + 5, true, FAILS, true, true},
    {UINT64_C(1) << 40, true, SUCCEEDS, true, false},
};

START_TEST(test_steps)
{
    struct circuit_breaker breaker = {0};
    uint16_t begun;
    for (int i = 0; i < ROWS(steps); i++) {
        ck_assert_msg(circuit_breaker_allows(&breaker, steps[i].at, &begun) == steps[i].allows,
                      "row %d", i);
        if (steps[i].outcome == FAILS)
            ck_assert_msg(circuit_breaker_failed(&breaker, steps[i].at) == steps[i].changes,
                          "row %d", i);
        if (steps[i].outcome == SUCCEEDS)
            ck_assert_msg(circuit_breaker_succeeded(&breaker, begun) == steps[i].changes, "row %d",
                          i);
        ck_assert_msg(circuit_breaker_is_open(&breaker) == steps[i].open, "row %d", i);
    }
}
END_TEST

/* An attempt that began before a failure does not close the breaker, whenever it succeeds. */
START_TEST(test_old_attempts)
{
    struct circuit_breaker breaker = {0};
    uint16_t old, failing, late, first, second;
    uint64_t now = 100;
    ck_assert(circuit_breaker_allows(&breaker, now, &old));
    ck_assert(circuit_breaker_allows(&breaker, now, &failing));
    ck_assert(circuit_breaker_failed(&breaker, now));
    ck_assert(!circuit_breaker_succeeded(&breaker, old)); /* even in the same ms */
    ck_assert(circuit_breaker_is_open(&breaker));
    now += CIRCUIT_BREAKER_PAUSE_MS;
    ck_assert(circuit_breaker_allows(&breaker, now, &late));
    ck_assert(!circuit_breaker_succeeded(&breaker, old));
    ck_assert(!circuit_breaker_failed(&breaker, now)); /* an old attempt that took that long */
    ck_assert(!circuit_breaker_succeeded(&breaker, late));
    /* Attempts that take longer than the pause count nevertheless. */
    now += CIRCUIT_BREAKER_PAUSE_MS;
    ck_assert(circuit_breaker_allows(&breaker, now, &first));
    ck_assert(circuit_breaker_allows(&breaker, now + CIRCUIT_BREAKER_PAUSE_MS, &second));
    ck_assert(circuit_breaker_succeeded(&breaker, first));
    ck_assert(!circuit_breaker_is_open(&breaker));
    ck_assert(!circuit_breaker_succeeded(&breaker, second));
}
END_TEST

enum { THREADS = 4, CALLS = 1000 };

static struct circuit_breaker shared;
static atomic_int allowed;

static void *call(void *context)
{
    uint16_t begun;
    for (int i = 0; i < CALLS; i++)
        atomic_fetch_add(&allowed,
                         circuit_breaker_allows(&shared, *(const uint64_t *)context, &begun));
    return NULL;
}

/* After the pause one of all threads is allowed. */
START_TEST(test_single_attempt)
{
    pthread_t threads[THREADS];
    uint64_t now = 100;
    circuit_breaker_failed(&shared, now);
    for (int lap = 1; lap <= 20; lap++) {
        now += CIRCUIT_BREAKER_PAUSE_MS;
        for (int i = 0; i < THREADS; i++)
            ck_assert_int_eq(pthread_create(&threads[i], NULL, call, &now), 0);
        for (int i = 0; i < THREADS; i++)
            pthread_join(threads[i], NULL);
        ck_assert_int_eq(atomic_load(&allowed), lap);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("circuit_breaker");
    TCase *tcase = suite_case(suite, "circuit_breaker");
    tcase_add_test(tcase, test_steps);
    tcase_add_test(tcase, test_old_attempts);
    tcase_add_test(tcase, test_single_attempt);
    return suite_run(suite);
}
