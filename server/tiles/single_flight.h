/*
 * Single-flight: one piece of work a key, many waiters for its outcome, on
 * whatever threads. Any thread, unless it says otherwise.
 */
#ifndef FARLANDS_TILES_SINGLE_FLIGHT_H
#define FARLANDS_TILES_SINGLE_FLIGHT_H

#include <stdbool.h>

#include "server/core/blob.h"
#include "server/core/mailbox.h"

struct flight;
struct single_flight;

/* Someone who waits. Embed it; it must stay until landed is called or it has left. */
struct waiter {
    /* Where landed is to be called, and with what: BLOB, valid during the call, and ERR as
     * single_flight_complete was told, 0 or more; or a negative code. */
    struct mailbox *home;
    void (*landed)(struct waiter *waiter, struct blob *blob, int err);
    /* Private. */
    struct waiter *next, **self;
    struct flight *flight;
    struct message message;
    struct blob *blob;
    int err;
};

int single_flight_new(struct single_flight **out); /* 0 or a negative code */

/* All must have landed. */
void single_flight_free(struct single_flight *flights);

/*
 * Join the flight for KEY, or begin it: *LEADER then tells the caller to have
 * the work done and to call single_flight_complete, always; the leader waits like the
 * others. NULL where memory is out.
 */
struct flight *single_flight_join(struct single_flight *flights, const char *key,
                                  struct waiter *waiter, bool *leader);

/*
 * Wait no longer. Returns whether the waiter is free: then landed will not be
 * called; otherwise it is on its way. On the waiter's home thread.
 */
bool single_flight_leave(struct single_flight *flights, struct waiter *waiter);

/*
 * Whether anybody waits for FLIGHT still, before its work begins. Otherwise it
 * is over, as if landed.
 */
bool single_flight_is_wanted(struct single_flight *flights, struct flight *flight);

/* The key of a flight, as long as it lasts. */
const char *single_flight_key(const struct flight *flight);

/* End the flight: every waiter gets the outcome at home, in the order they joined. */
void single_flight_complete(struct single_flight *flights, struct flight *flight, struct blob *blob,
                            int err);

#endif
