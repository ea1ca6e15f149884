/*
 * Circuit breaker: after a failure there is no attempt for a while, then a single attempt decides.
 * Doesn't know what is attempted. The caller passes the time, so that tests need not wait.
 */
#ifndef FARLANDS_CACHE_CIRCUIT_BREAKER_H
#define FARLANDS_CACHE_CIRCUIT_BREAKER_H

#include <stdbool.h>
#include <stdint.h>

enum { CIRCUIT_BREAKER_PAUSE_MS = 5000 };

/* Zero-initialized: closed. All functions are atomic and may be called by any thread. */
struct circuit_breaker {
    /* The time in ms of the next attempt, 0 if closed; the lowest 16 bits count failures. Both are
     * in one word so that they change together. */
    uint64_t state;
};

/*
 * True if an attempt may be made at NOW (ms of a monotonic clock): always while closed; while open,
 * by one caller every CIRCUIT_BREAKER_PAUSE_MS. *BEGUN is the number of failures so far, for
 * circuit_breaker_succeeded.
 */
bool circuit_breaker_allows(struct circuit_breaker *breaker, uint64_t now, uint16_t *begun);

/* Report a failed attempt. True if it opened the breaker. */
bool circuit_breaker_failed(struct circuit_breaker *breaker, uint64_t now);

/* Report a successful attempt. True if it closed the breaker, which an attempt begun before the
 * last failure doesn't. */
bool circuit_breaker_succeeded(struct circuit_breaker *breaker, uint16_t begun);

bool circuit_breaker_is_open(const struct circuit_breaker *breaker);

#endif
