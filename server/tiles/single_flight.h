/*
 * Single-flight: one piece of work per key, and any number of waiters for the result, on any
 * threads. Any thread, unless noted otherwise.
 */
#ifndef FARLANDS_TILES_SINGLE_FLIGHT_H
#define FARLANDS_TILES_SINGLE_FLIGHT_H

#include <stdbool.h>

#include "server/core/blob.h"
#include "server/core/mailbox.h"

struct flight;
struct single_flight;

/* Embed it. Keep it until completed is called or single_flight_leave has returned true. */
struct waiter {
    struct mailbox *mailbox;
    /*
     * Called on the mailbox's thread with the BLOB and ERR passed to single_flight_complete. BLOB
     * is valid during the call. The callback may free the waiter, or join again.
     */
    void (*completed)(struct waiter *waiter, struct blob *blob, int err);
    /* Private. */
    struct waiter *next, **self;
    struct flight *flight;
    struct message message;
    struct blob *blob;
    int err;
};

int single_flight_new(struct single_flight **out); /* 0 or a negative code */

/* All flights must have ended. */
void single_flight_free(struct single_flight *flights);

/*
 * Join the flight for KEY, or start it. If *LEADER is true it was started: the caller must have the
 * work done and end the flight with single_flight_complete, or single_flight_is_wanted. The
 * leader's waiter waits like the others. KEY is copied. Returns NULL if out of memory.
 */
struct flight *single_flight_join(struct single_flight *flights, const char *key,
                                  struct waiter *waiter, bool *leader);

/*
 * Stop waiting. True if the waiter has left; false if completed has been or will be called. Call it
 * on the thread of the waiter's mailbox.
 */
bool single_flight_leave(struct single_flight *flights, struct waiter *waiter);

/* True if FLIGHT has waiters. If false, the flight has ended as if completed. The leader calls this
 * before the work begins, or goes on. */
bool single_flight_is_wanted(struct single_flight *flights, struct flight *flight);

/* End the flight: post BLOB, which may be NULL, and ERR to each waiter's mailbox, in the order of
 * joining. The caller keeps its reference to BLOB. */
void single_flight_complete(struct single_flight *flights, struct flight *flight, struct blob *blob,
                            int err);

#endif
