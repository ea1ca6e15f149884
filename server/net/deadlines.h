/*
 * The connections of a server and how long each may take for what it is at: a
 * byte a second would outlive a limit on inactivity. One thread.
 */
#ifndef FARLANDS_NET_DEADLINES_H
#define FARLANDS_NET_DEADLINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Seconds that a connection may stay open between two requests. */
enum { LINK_IDLE_SECONDS = 60 };

/*
 * Bytes a second that the reader of a long answer keeps up with, or else falls behind: 30 s behind
 * is too slow. It is what the largest tile's megabyte asks for within its 30 s.
 */
enum { LINK_PACE = 32 * 1024 };

enum link_phase {
    LINK_CONNECTED, /* no request yet */
    LINK_HEADERS,   /* the request line is known */
    LINK_HANDLED,   /* the request waits for its answer: no deadline */
    LINK_SENDING,   /* the answer is on its way */
    LINK_WAITING,   /* so it is, but what comes next has to be made first: no deadline */
    LINK_IDLE,      /* between requests */
};

/* Embed it in what a connection is; private. */
struct link {
    struct link *next, **self;
    int fd;
    enum link_phase phase;
    bool overdue;
    uint64_t since, looked_after; /* ms */
    uint64_t behind;              /* ms that the reader was when LINK_WAITING began */
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

/* While it is sent: BYTES more of the answer have been taken. */
static inline void link_advance(struct link *link, size_t bytes, uint64_t now)
{
    link->since += bytes * 1000 / LINK_PACE;
    if (link->since > now) /* what was taken sooner counts for nothing later */
        link->since = now;
}

/* There is nothing to send for now; and there is again, its reader as late as it was. */
static inline void link_wait(struct link *link, uint64_t now)
{
    link->behind = now - link->since;
    link_enter(link, LINK_WAITING, now);
}

static inline void link_go_on(struct link *link, uint64_t now)
{
    link_enter(link, LINK_SENDING, now);
    link->since -= link->behind;
}

/* Whether its client has hung up, or closed its sending side, which is taken for that. */
bool link_has_left(const struct link *link);

/*
 * Shut down the connections whose time is up, and idle ones whose client has
 * left; one that gets a request byte by byte is not idle. Whoever reads from them sees the end.
 * While DRAINING that is every one that waits for no answer, after a short grace in which a request
 * under way arrives. Returns how many were too slow.
 */
unsigned links_sweep(struct links *links, uint64_t now, bool draining);

#endif
