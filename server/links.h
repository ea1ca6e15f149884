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

struct link;

/* All zero: none. */
struct links {
    struct link *first;
};

/* A new connection on descriptor FD, at NOW milliseconds; NULL where memory is out. */
struct link *link_new(struct links *links, int fd, uint64_t now);
void link_free(struct link *link);

/* LINK, which may be NULL, has come to PHASE. */
void link_enter(struct link *link, enum link_phase phase, uint64_t now);

/*
 * Shut down the connections whose time is up; whoever reads from them sees the
 * end. While DRAINING that is every one that waits for no answer, after a short
 * grace in which a request under way arrives.
 */
void links_sweep(struct links *links, uint64_t now, bool draining);

#endif
