/* The breaker: what it lets through, at which time, and when it says that it opened. */
#include "server/cache/circuit_breaker.h"

#include <pthread.h>
#include <stdatomic.h>

#include "tests/unit/support/fixtures.h"

/* One breaker, one story: at AT ms, allows() gives ALLOWS, and the try, if any, ends so. */
static const struct {
    uint64_t at;
    bool allows;
    enum { FAILS, SUCCEEDS, NO_TRY } outcome;
    bool changes; /* what failed or succeeded returns */
    bool open;    /* afterwards */
} story[] = {
    {0, true, SUCCEEDS, false, false},
    {1, true, FAILS, true, true},
    {1, false, NO_TRY, false, true},
    {CIRCUIT_BREAKER_PAUSE_MS, false, NO_TRY, false, true},
    {CIRCUIT_BREAKER_PAUSE_MS + 1, true, FAILS, false,
     true}, /* the one try; still the same opening */
    {CIRCUIT_BREAKER_PAUSE_MS + 2, false, NO_TRY, false, true},
    {2 * CIRCUIT_BREAKER_PAUSE_MS + 1, true, NO_TRY, false, true}, /* a try under way */
    {2 * CIRCUIT_BREAKER_PAUSE_MS + 2, false, NO_TRY, false, true},
    {2 * CIRCUIT_BREAKER_PAUSE_MS + 3, false, SUCCEEDS, true, false},
    {2 * CIRCUIT_BREAKER_PAUSE_MS + 4, true, SUCCEEDS, false, false},
    {2 * CIRCUIT_BREAKER_PAUSE_MS + 5, true, FAILS, true, true},
    {UINT64_C(1) << 40, true, SUCCEEDS, true, false},
};

START_TEST(test_story)
{
    struct circuit_breaker breaker = {0};
    struct circuit_breaker_try begun;
    for (int i = 0; i < ROWS(story); i++) {
        ck_assert_msg(circuit_breaker_allows(&breaker, story[i].at, &begun) == story[i].allows,
                      "row %d", i);
        if (story[i].outcome == FAILS)
            ck_assert_msg(circuit_breaker_failed(&breaker, story[i].at) == story[i].changes,
                          "row %d", i);
        if (story[i].outcome == SUCCEEDS)
            ck_assert_msg(circuit_breaker_succeeded(&breaker, begun) == story[i].changes, "row %d",
                          i);
        ck_assert_msg(circuit_breaker_is_open(&breaker) == story[i].open, "row %d", i);
    }
}
END_TEST

/* What began before a failure says nothing of the time after it, whenever it succeeds. */
START_TEST(test_old_tries)
{
    struct circuit_breaker breaker = {0};
    struct circuit_breaker_try old, failing, late, first, second;
    uint64_t now = 100;
    ck_assert(circuit_breaker_allows(&breaker, now, &old));
    ck_assert(circuit_breaker_allows(&breaker, now, &failing));
    ck_assert(circuit_breaker_failed(&breaker, now));
    ck_assert(!circuit_breaker_succeeded(&breaker, old)); /* in the same ms, too */
    ck_assert(circuit_breaker_is_open(&breaker));
    now += CIRCUIT_BREAKER_PAUSE_MS;
    ck_assert(circuit_breaker_allows(&breaker, now, &late));
    ck_assert(!circuit_breaker_succeeded(&breaker, old));
    ck_assert(!circuit_breaker_failed(&breaker, now)); /* an old one, which took that long */
    ck_assert(!circuit_breaker_succeeded(&breaker, late));
    /* Tries that take longer than the pause decide nevertheless. */
    now += CIRCUIT_BREAKER_PAUSE_MS;
    ck_assert(circuit_breaker_allows(&breaker, now, &first));
    ck_assert(circuit_breaker_allows(&breaker, now + CIRCUIT_BREAKER_PAUSE_MS, &second));
    ck_assert(circuit_breaker_succeeded(&breaker, first));
    ck_assert(!circuit_breaker_is_open(&breaker));
    ck_assert(!circuit_breaker_succeeded(&breaker, second));
}
END_TEST

enum { THREADS = 4, ASKED = 1000 };

static struct circuit_breaker shared;
static atomic_int let_through;

static void *ask(void *context)
{
    struct circuit_breaker_try begun;
    for (int i = 0; i < ASKED; i++)
        atomic_fetch_add(&let_through,
                         circuit_breaker_allows(&shared, *(const uint64_t *)context, &begun));
    return NULL;
}

/* Of all threads that ask after the pause, one tries. */
START_TEST(test_one_tries)
{
    pthread_t threads[THREADS];
    uint64_t now = 100;
    circuit_breaker_failed(&shared, now);
    for (int lap = 1; lap <= 20; lap++) {
        now += CIRCUIT_BREAKER_PAUSE_MS;
        for (int i = 0; i < THREADS; i++)
            ck_assert_int_eq(pthread_create(&threads[i], NULL, ask, &now), 0);
        for (int i = 0; i < THREADS; i++)
            pthread_join(threads[i], NULL);
        ck_assert_int_eq(atomic_load(&let_through), lap);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("breaker");
    TCase *tcase = suite_case(suite, "breaker");
    tcase_add_test(tcase, test_story);
    tcase_add_test(tcase, test_old_tries);
    tcase_add_test(tcase, test_one_tries);
    return suite_run(suite);
}
