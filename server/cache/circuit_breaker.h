/*
 * Stops what fails from being tried all the time: after a failure nothing is
 * tried for a while, then one try decides. Knows neither what is tried nor why
 * it fails; the time is the caller's, so that tests need not wait.
 */
#ifndef FARLANDS_CACHE_CIRCUIT_BREAKER_H
#define FARLANDS_CACHE_CIRCUIT_BREAKER_H

#include <stdbool.h>
#include <stdint.h>

enum { BREAKER_PAUSE_MS = 5000 };

/* Zeroed to begin with: closed. Atomic. */
struct breaker {
    /* Until when it is open, in ms of a monotonic clock, 0: closed; and in the lowest 16 bits
     * the number of failures. One word, so that each change is of both. */
    uint64_t state;
};

/* A try: how many failures there had been when it began. */
struct breaker_try {
    uint16_t failures;
};

/* Whether to try now, at NOW ms: always while closed; while open, one caller every
 * BREAKER_PAUSE_MS. Then *BEGUN is the try. Any thread. */
bool breaker_allows(struct breaker *breaker, uint64_t now, struct breaker_try *begun);

/* What a try came to. True where that opened the breaker, or closed it. What began before the last
 * failure does not close it. Any thread. */
bool breaker_failed(struct breaker *breaker, uint64_t now);
bool breaker_succeeded(struct breaker *breaker, struct breaker_try begun);

bool breaker_is_open(const struct breaker *breaker);

#endif
