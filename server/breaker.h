/*
 * Stops what fails from being tried all the time: after a failure nothing is
 * tried for a while, then one try decides. Knows neither what is tried nor why
 * it fails; the time is the caller's, so that tests need not wait.
 */
#ifndef FARLANDS_BREAKER_H
#define FARLANDS_BREAKER_H

#include <stdbool.h>
#include <stdint.h>

enum { BREAKER_PAUSE_MS = 5000 };

/* Zeroed to begin with: closed. Everything in it is atomic. */
struct breaker {
    uint64_t open_until; /* ms of a monotonic clock; 0: closed */
};

/* Whether to try now, at NOW ms: always while closed; while open, one caller every
 * BREAKER_PAUSE_MS. Any thread. */
bool breaker_allows(struct breaker *breaker, uint64_t now);

/* What a try came to. True where that opened the breaker, or closed it. Any thread. */
bool breaker_failed(struct breaker *breaker, uint64_t now);
bool breaker_succeeded(struct breaker *breaker);

bool breaker_is_open(const struct breaker *breaker);

#endif
