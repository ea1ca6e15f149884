/*
 * Circuit breaker: after a failure no attempt is made for a while, then a single attempt decides.
 * It knows nothing of the attempts. The caller passes the time, so that tests need not wait.
 */
#ifndef FARLANDS_CACHE_CIRCUIT_BREAKER_H
#define FARLANDS_CACHE_CIRCUIT_BREAKER_H

#include <stdbool.h>
#include <stdint.h>

enum { CIRCUIT_BREAKER_PAUSE_MS = 5000 };

/* Zero-initialized: closed. All functions are atomic and may be called by any thread. */
struct circuit_breaker {
    /* The time in ms at which the next attempt is allowed, 0 if closed; and in the lowest 16 bits
     * the number of failures. A single word, so that both change together. */
    uint64_t state;
};

/*
 * True if an attempt may be made at NOW (ms of a monotonic clock): always while closed; while open,
 * for one caller every CIRCUIT_BREAKER_PAUSE_MS. *BEGUN then is the number of failures so far.
 */
bool circuit_breaker_allows(struct circuit_breaker *breaker, uint64_t now, uint16_t *begun);

/* Report a failed attempt. True if it opened the breaker. */
bool circuit_breaker_failed(struct circuit_breaker *breaker, uint64_t now);

/* Report a successful attempt. True if it closed the breaker; an attempt that began before the last
 * failure does not. */
bool circuit_breaker_succeeded(struct circuit_breaker *breaker, uint16_t begun);

bool circuit_breaker_is_open(const struct circuit_breaker *breaker);

#endif
