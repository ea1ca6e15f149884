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
enum { DEADLINE_IDLE_SECONDS = 60 };

/*
 * Bytes a second that the reader of a long answer keeps up with, or else falls behind: 30 s behind
 * is too slow. It is what the largest tile's megabyte asks for within its 30 s.
 */
enum { DEADLINE_PACE = 32 * 1024 };

enum deadline_phase {
    DEADLINE_CONNECTED, /* no request yet */
    DEADLINE_HEADERS,   /* the request line is known */
    DEADLINE_HANDLED,   /* the request waits for its answer: no deadline */
    DEADLINE_SENDING,   /* the answer is on its way */
    DEADLINE_WAITING,   /* so it is, but what comes next has to be made first: no deadline */
    DEADLINE_IDLE,      /* between requests */
};

/* Embed it in what a connection is; private. */
struct deadline {
    struct deadline *next, **self;
    int fd;
    enum deadline_phase phase;
    bool overdue;
    uint64_t since, looked_after; /* ms */
    uint64_t behind;              /* ms that the reader was when DEADLINE_WAITING began */
    uint64_t received;            /* bytes, when it was first looked after in this phase */
};

/* All zero: none. */
struct deadlines {
    struct deadline *first;
    unsigned count;
};

/* A new connection on descriptor FD, at NOW milliseconds. */
void deadlines_add(struct deadlines *deadlines, struct deadline *deadline, int fd, uint64_t now);
void deadlines_remove(struct deadlines *deadlines, struct deadline *deadline);

/* DEADLINE has come to PHASE. */
static inline void deadline_enter(struct deadline *deadline, enum deadline_phase phase,
                                  uint64_t now)
{
    deadline->phase = phase;
    deadline->since = deadline->looked_after = now;
}

/* While it is sent: BYTES more of the answer have been taken. */
static inline void deadline_advance(struct deadline *deadline, size_t bytes, uint64_t now)
{
    deadline->since += bytes * 1000 / DEADLINE_PACE;
    if (deadline->since > now) /* what was taken sooner counts for nothing later */
        deadline->since = now;
}

/* There is nothing to send for now; and there is again, its reader as late as it was. */
static inline void deadline_wait(struct deadline *deadline, uint64_t now)
{
    deadline->behind = now - deadline->since;
    deadline_enter(deadline, DEADLINE_WAITING, now);
}

static inline void deadline_resume(struct deadline *deadline, uint64_t now)
{
    deadline_enter(deadline, DEADLINE_SENDING, now);
    deadline->since -= deadline->behind;
}

/* Whether its client has hung up, or closed its sending side, which is taken for that. */
bool deadline_has_left(const struct deadline *deadline);

/*
 * Shut down the connections whose time is up, and idle ones whose client has
 * left; one that gets a request byte by byte is not idle. Whoever reads from them sees the end.
 * While DRAINING that is every one that waits for no answer, after a short grace in which a request
 * under way arrives. Returns how many were too slow.
 */
unsigned deadlines_expire(struct deadlines *deadlines, uint64_t now, bool draining);

#endif
