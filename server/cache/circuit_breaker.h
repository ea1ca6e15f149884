/*
 * Stops what fails from being tried all the time: after a failure nothing is
 * tried for a while, then one try decides. Knows neither what is tried nor why
 * it fails; the time is the caller's, so that tests need not wait.
 */
#ifndef FARLANDS_CACHE_CIRCUIT_BREAKER_H
#define FARLANDS_CACHE_CIRCUIT_BREAKER_H

#include <stdbool.h>
#include <stdint.h>

enum { CIRCUIT_BREAKER_PAUSE_MS = 5000 };

/* Zeroed to begin with: closed. Atomic. */
struct circuit_breaker {
    /* Until when it is open, in ms of a monotonic clock, 0: closed; and in the lowest 16 bits
     * the number of failures. One word, so that each change is of both. */
    uint64_t state;
};

/* A try: how many failures there had been when it began. */
struct circuit_breaker_try {
    uint16_t failures;
};

/* Whether to try now, at NOW ms: always while closed; while open, one caller every
 * CIRCUIT_BREAKER_PAUSE_MS. Then *BEGUN is the try. Any thread. */
bool circuit_breaker_allows(struct circuit_breaker *breaker, uint64_t now,
                            struct circuit_breaker_try *begun);

/* What a try came to. True where that opened the breaker, or closed it. What began before the last
 * failure does not close it. Any thread. */
bool circuit_breaker_failed(struct circuit_breaker *breaker, uint64_t now);
bool circuit_breaker_succeeded(struct circuit_breaker *breaker, struct circuit_breaker_try begun);

bool circuit_breaker_is_open(const struct circuit_breaker *breaker);

#endif
