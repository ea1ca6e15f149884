#include "single_flight.h"

#include <assert.h>
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define HASH_NONFATAL_OOM 1
#include <uthash.h>

struct flight {
    UT_hash_handle hh;
    struct waiter *first, **last;
    char key[];
};

struct single_flight {
    uv_mutex_t lock; /* guards all flights and their waiters */
    struct flight *by_key;
};

int single_flight_new(struct single_flight **out)
{
    struct single_flight *flights = calloc(1, sizeof *flights);
    if (!flights)
        return -ENOMEM;
    int err = uv_mutex_init(&flights->lock);
    if (err) {
        free(flights);
        return err;
    }
    *out = flights;
    return 0;
}

void single_flight_free(struct single_flight *flights)
{
    if (!flights)
        return;
    assert(!flights->by_key);
    uv_mutex_destroy(&flights->lock);
    free(flights);
}

static struct flight *start(struct single_flight *flights, const char *key)
{
    size_t length = strlen(key);
    struct flight *flight = calloc(1, sizeof *flight + length + 1);
    if (!flight)
        return NULL;
    memcpy(flight->key, key, length);
    flight->last = &flight->first;
    HASH_ADD_KEYPTR(hh, flights->by_key, flight->key, length, flight);
    if (!flight->hh.tbl) {
        free(flight);
        return NULL;
    }
    return flight;
}

static void add_waiter(struct flight *flight, struct waiter *waiter)
{
    waiter->flight = flight;
    waiter->next = NULL;
    waiter->self = flight->last;
    *flight->last = waiter;
    flight->last = &waiter->next;
}

struct flight *single_flight_join(struct single_flight *flights, const char *key,
                                  struct waiter *waiter, bool *leader)
{
    struct flight *flight;

    uv_mutex_lock(&flights->lock);
    HASH_FIND_STR(flights->by_key, key, flight);
    *leader = !flight;
    if (!flight)
        flight = start(flights, key);
    if (flight)
        add_waiter(flight, waiter);
    uv_mutex_unlock(&flights->lock);
    return flight;
}

bool single_flight_leave(struct single_flight *flights, struct waiter *waiter)
{
    uv_mutex_lock(&flights->lock);
    struct flight *flight = waiter->flight;
    if (flight) {
        *waiter->self = waiter->next;
        if (waiter->next)
            waiter->next->self = waiter->self;
        else
            flight->last = waiter->self;
        waiter->flight = NULL;
    }
    uv_mutex_unlock(&flights->lock);
    return flight != NULL;
}

bool single_flight_is_wanted(struct single_flight *flights, struct flight *flight)
{
    uv_mutex_lock(&flights->lock);
    const bool wanted = flight->first != NULL;
    if (!wanted)
        HASH_DEL(flights->by_key, flight);
    uv_mutex_unlock(&flights->lock);
    if (!wanted)
        free(flight);
    return wanted;
}

static void deliver(struct message *message)
{
    struct waiter *waiter = (struct waiter *)((char *)message - offsetof(struct waiter, message));
    struct blob *blob = waiter->blob;
    waiter->completed(waiter, blob, waiter->err); /* may free the waiter */
    blob_release(blob);
}

void single_flight_complete(struct single_flight *flights, struct flight *flight, struct blob *blob,
                            int err)
{
    uv_mutex_lock(&flights->lock);
    HASH_DEL(flights->by_key, flight); /* a later request starts a new flight */
    for (struct waiter *waiter = flight->first; waiter; waiter = waiter->next)
        waiter->flight = NULL; /* too late to leave */
    uv_mutex_unlock(&flights->lock);
    for (struct waiter *waiter = flight->first, *next; waiter; waiter = next) {
        next = waiter->next; /* once posted, the waiter may be freed */
        waiter->blob = blob ? blob_hold(blob) : NULL;
        waiter->err = err;
        waiter->message.deliver = deliver;
        mailbox_post(waiter->mailbox, &waiter->message);
    }
    free(flight);
}
