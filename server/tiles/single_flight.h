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
struct flights;

/* Someone who waits. Embed it; it must stay until landed is called or it has left. */
struct waiter {
    /* Where landed is to be called, and with what: BLOB, valid during the call, and ERR as
     * flight_land was told, 0 or more; or a negative code. */
    struct mailbox *home;
    void (*landed)(struct waiter *waiter, struct blob *blob, int err);
    /* Private. */
    struct waiter *next, **self;
    struct flight *flight;
    struct letter letter;
    struct blob *blob;
    int err;
};

int flights_new(struct flights **out); /* 0 or a negative code */

/* All must have landed. */
void flights_free(struct flights *flights);

/*
 * Join the flight for KEY, or begin it: *LEADER then tells the caller to have
 * the work done and to call flight_land, always; the leader waits like the
 * others. NULL where memory is out.
 */
struct flight *flight_join(struct flights *flights, const char *key, struct waiter *waiter,
                           bool *leader);

/*
 * Wait no longer. Returns whether the waiter is free: then landed will not be
 * called; otherwise it is on its way. On the waiter's home thread.
 */
bool flight_leave(struct flights *flights, struct waiter *waiter);

/*
 * Whether anybody waits for FLIGHT still, before its work begins. Otherwise it
 * is over, as if landed.
 */
bool flight_is_wanted(struct flights *flights, struct flight *flight);

/* The key of a flight, as long as it lasts. */
const char *flight_key(const struct flight *flight);

/* End the flight: every waiter gets the outcome at home, in the order they joined. */
void flight_land(struct flights *flights, struct flight *flight, struct blob *blob, int err);

#endif
