#include "circuit_breaker.h"

enum { FAILURES_BITS = 16 };

static uint64_t retry_at(uint64_t state)
{
    return state >> FAILURES_BITS;
}

static uint64_t load(const struct circuit_breaker *breaker)
{
    return __atomic_load_n(&breaker->state, __ATOMIC_RELAXED);
}

/* Compare and swap: on failure *STATE is the present state. */
static bool replace(struct circuit_breaker *breaker, uint64_t *state, uint64_t until,
                    uint16_t failures)
{
    return __atomic_compare_exchange_n(&breaker->state, state, until << FAILURES_BITS | failures,
                                       false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

bool circuit_breaker_allows(struct circuit_breaker *breaker, uint64_t now, uint16_t *begun)
{
    uint64_t state = load(breaker);
    *begun = (uint16_t)state;
    if (retry_at(state) == 0)
        return true;
    /* The caller that moves the next attempt's time makes this attempt. */
    return now >= retry_at(state) &&
           replace(breaker, &state, now + CIRCUIT_BREAKER_PAUSE_MS, *begun);
}

bool circuit_breaker_failed(struct circuit_breaker *breaker, uint64_t now)
{
    uint64_t state = load(breaker);
    while (!replace(breaker, &state, now + CIRCUIT_BREAKER_PAUSE_MS, (uint16_t)(state + 1)))
        ;
    return retry_at(state) == 0;
}

bool circuit_breaker_succeeded(struct circuit_breaker *breaker, uint16_t begun)
{
    uint64_t state = load(breaker);
    /* Nearly always closed: don't store then, so that threads share the cache line. */
    while (retry_at(state) != 0 && (uint16_t)state == begun)
        if (replace(breaker, &state, 0, begun))
            return true;
    return false;
}

bool circuit_breaker_is_open(const struct circuit_breaker *breaker)
{
    return retry_at(load(breaker)) != 0;
}
