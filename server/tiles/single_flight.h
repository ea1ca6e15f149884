/*
 * Single-flight: one piece of work per key, and any number of waiters for its result, on any
 * threads. Any thread, unless noted otherwise.
 */
#ifndef FARLANDS_TILES_SINGLE_FLIGHT_H
#define FARLANDS_TILES_SINGLE_FLIGHT_H

#include <stdbool.h>

#include "server/core/blob.h"
#include "server/core/mailbox.h"

struct flight;
struct single_flight;

/* Embed it. It must stay until completed is called, or single_flight_leave has returned true. */
struct waiter {
    struct mailbox *mailbox;
    /*
     * Called on the mailbox's thread with the BLOB and ERR that were passed to
     * single_flight_complete. BLOB is valid during the call. The waiter may be freed here, or join
     * again.
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
 * Join the flight for KEY, or start it. If it was started, *LEADER is true: the caller must have
 * the work done and end the flight with single_flight_complete, or single_flight_is_wanted. The
 * leader's waiter waits like the others. KEY is copied. Returns NULL if out of memory.
 */
struct flight *single_flight_join(struct single_flight *flights, const char *key,
                                  struct waiter *waiter, bool *leader);

/*
 * Stop waiting. True if the waiter has left; false if completed has been or will be called. On the
 * thread of the waiter's mailbox.
 */
bool single_flight_leave(struct single_flight *flights, struct waiter *waiter);

/* True if FLIGHT has waiters. Otherwise it has ended, as if completed. For the leader, before the
 * work begins. */
bool single_flight_is_wanted(struct single_flight *flights, struct flight *flight);

/* End the flight: post BLOB, which may be NULL, and ERR to the mailbox of every waiter, in the
 * order in which they joined. The caller keeps its reference to BLOB. */
void single_flight_complete(struct single_flight *flights, struct flight *flight, struct blob *blob,
                            int err);

#endif
