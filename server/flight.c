#include "flight.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define HASH_NONFATAL_OOM 1
#include <uthash.h>

struct flight {
    UT_hash_handle hh;
    struct waiter *first, **last;
    char key[];
};

struct flights {
    struct flight *by_key;
};

int flights_new(struct flights **out)
{
    *out = calloc(1, sizeof **out);
    return *out ? 0 : -ENOMEM;
}

void flights_free(struct flights *flights)
{
    assert(!flights || !flights->by_key);
    free(flights);
}

static struct flight *begin(struct flights *flights, const char *key)
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

struct flight *flight_join(struct flights *flights, const char *key, struct waiter *waiter,
                           bool *leader)
{
    struct flight *flight;
    HASH_FIND_STR(flights->by_key, key, flight);
    *leader = !flight;
    if (!flight)
        flight = begin(flights, key);
    if (!flight)
        return NULL;
    waiter->next = NULL;
    *flight->last = waiter;
    flight->last = &waiter->next;
    return flight;
}

const char *flight_key(const struct flight *flight)
{
    return flight->key;
}

void flight_land(struct flights *flights, struct flight *flight, struct blob *blob, int err)
{
    HASH_DEL(flights->by_key, flight); /* whoever asks from now on begins anew */
    for (struct waiter *waiter = flight->first, *next; waiter; waiter = next) {
        next = waiter->next; /* landed may free it */
        waiter->landed(waiter, blob, err);
    }
    free(flight);
}
