/*
 * The connections of a server and how long each may take for what it is at: a
 * byte a second would outlive a limit on inactivity. One thread.
 */
#ifndef FARLANDS_LINKS_H
#define FARLANDS_LINKS_H

#include <stdbool.h>
#include <stdint.h>

/* Seconds that a connection may stay open between two requests. */
enum { LINK_IDLE_SECONDS = 60 };

enum link_phase {
    LINK_CONNECTED, /* no request yet */
    LINK_HEADERS,   /* the request line is known */
    LINK_HANDLED,   /* the request waits for its answer: no deadline */
    LINK_SENDING,   /* the answer is on its way */
    LINK_IDLE,      /* between requests */
};

/* Embed it in what a connection is; private. */
struct link {
    struct link *next, **self;
    int fd;
    enum link_phase phase;
    bool overdue;
    uint64_t since, looked_after; /* ms */
    uint64_t received;            /* bytes, when it was first looked after in this phase */
};

/* All zero: none. */
struct links {
    struct link *first;
    unsigned count;
};

/* A new connection on descriptor FD, at NOW milliseconds. */
void links_add(struct links *links, struct link *link, int fd, uint64_t now);
void links_remove(struct links *links, struct link *link);

/* LINK has come to PHASE. */
static inline void link_enter(struct link *link, enum link_phase phase, uint64_t now)
{
    link->phase = phase;
    link->since = link->looked_after = now;
}

/*
 * Shut down the connections whose time is up, and idle ones whose client has
 * left; one that gets a request byte by byte is not idle. Whoever reads from them sees the end.
 * While DRAINING that is every one that waits for no answer, after a short grace in which a request
 * under way arrives. Returns how many were too slow.
 */
unsigned links_sweep(struct links *links, uint64_t now, bool draining);

#endif
