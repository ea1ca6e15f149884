/* Single-flight: one piece of work a key, many waiters for its outcome. One thread. */
#ifndef FARLANDS_FLIGHT_H
#define FARLANDS_FLIGHT_H

#include <stdbool.h>

#include "server/blob.h"

/* Someone who waits. Embed it; it must stay until landed is called. */
struct waiter {
    /* The outcome: ERR 0 and BLOB (valid during the call), or a negative code. */
    void (*landed)(struct waiter *waiter, struct blob *blob, int err);
    struct waiter *next; /* private */
};

struct flight;
struct flights;

int flights_new(struct flights **out); /* 0 or -ENOMEM */
void flights_free(struct flights *flights);

/*
 * Join the flight for KEY, or begin it: *LEADER then tells the caller to have
 * the work done and to call flight_land, always; the leader waits like the
 * others. NULL where memory is out.
 */
struct flight *flight_join(struct flights *flights, const char *key, struct waiter *waiter,
                           bool *leader);

/* The key of a flight, as long as it lasts. */
const char *flight_key(const struct flight *flight);

/* End the flight: every waiter gets the outcome, in the order they joined. */
void flight_land(struct flights *flights, struct flight *flight, struct blob *blob, int err);

#endif
