#include "circuit_breaker.h"

enum { FAILURES_BITS = 16 };

static uint64_t open_until(uint64_t state)
{
    return state >> FAILURES_BITS;
}

static uint16_t failures(uint64_t state)
{
    return (uint16_t)state;
}

static uint64_t state_of(uint64_t until, uint16_t count)
{
    return until << FAILURES_BITS | count;
}

static uint64_t load(const struct circuit_breaker *breaker)
{
    return __atomic_load_n(&breaker->state, __ATOMIC_RELAXED);
}

/* Puts STATE where *BEFORE is; where it is not, that is what is. */
static bool replace(struct circuit_breaker *breaker, uint64_t *before, uint64_t state)
{
    return __atomic_compare_exchange_n(&breaker->state, before, state, false, __ATOMIC_RELAXED,
                                       __ATOMIC_RELAXED);
}

bool circuit_breaker_allows(struct circuit_breaker *breaker, uint64_t now,
                            struct circuit_breaker_try *begun)
{
    uint64_t state = load(breaker);
    begun->failures = failures(state);
    if (open_until(state) == 0)
        return true;
    /* Whoever moves the end on is the one who tries. */
    return now >= open_until(state) &&
           replace(breaker, &state, state_of(now + CIRCUIT_BREAKER_PAUSE_MS, failures(state)));
}

bool circuit_breaker_failed(struct circuit_breaker *breaker, uint64_t now)
{
    uint64_t state = load(breaker);
    while (!replace(breaker, &state,
                    state_of(now + CIRCUIT_BREAKER_PAUSE_MS, (uint16_t)(failures(state) + 1))))
        ;
    return open_until(state) == 0;
}

bool circuit_breaker_succeeded(struct circuit_breaker *breaker, struct circuit_breaker_try begun)
{
    uint64_t state = load(breaker);
    /* Nearly always closed: no store then, which the other threads would feel. */
    while (open_until(state) != 0 && failures(state) == begun.failures)
        if (replace(breaker, &state, state_of(0, failures(state))))
            return true;
    return false;
}

bool circuit_breaker_is_open(const struct circuit_breaker *breaker)
{
    return open_until(load(breaker)) != 0;
}
