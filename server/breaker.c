#include "breaker.h"

bool breaker_allows(struct breaker *breaker, uint64_t now)
{
    uint64_t until = __atomic_load_n(&breaker->open_until, __ATOMIC_RELAXED);
    if (until == 0)
        return true;
    /* Whoever moves the end on is the one who tries. */
    return now >= until &&
           __atomic_compare_exchange_n(&breaker->open_until, &until, now + BREAKER_PAUSE_MS, false,
                                       __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

bool breaker_failed(struct breaker *breaker, uint64_t now)
{
    return __atomic_exchange_n(&breaker->open_until, now + BREAKER_PAUSE_MS, __ATOMIC_RELAXED) == 0;
}

bool breaker_succeeded(struct breaker *breaker)
{
    /* Nearly always closed: no store then, which the other threads would feel. */
    return breaker_is_open(breaker) &&
           __atomic_exchange_n(&breaker->open_until, 0, __ATOMIC_RELAXED) != 0;
}

bool breaker_is_open(const struct breaker *breaker)
{
    return __atomic_load_n(&breaker->open_until, __ATOMIC_RELAXED) != 0;
}
