/*
 * Deadlines for a server's connections. Each phase as a whole has a time limit, because a client
 * that sends one byte per second would never reach a limit on inactivity. Times are milliseconds.
 * One thread.
 */
#ifndef FARLANDS_NET_DEADLINES_H
#define FARLANDS_NET_DEADLINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>
#include <uv.h>

#include "server/core/clock.h"

/* The least pace in bytes per second: a client that is 30 s behind is too slow. 1 MiB (the largest
 * tile) in 30 s is about 32 KiB/s. */
enum { DEADLINE_PACE = 32 * 1024 };

/* A client that takes less than DEADLINE_LEAST bytes within a window, 16 KiB/s, is too slow as
 * well, except in the first window. On TCP only. */
enum { DEADLINE_WINDOW = 10 * 1000, DEADLINE_LEAST = 10 * 16 * 1024 };

enum deadline_phase {
    DEADLINE_HEAD,    /* from the connection's beginning, or the first round with part of a head */
    DEADLINE_HANDLED, /* the response is pending: no deadline */
    DEADLINE_SENDING, /* the response is being sent */
    DEADLINE_WAITING, /* the response's next part is pending: no deadline */
    DEADLINE_IDLE,    /* between requests */
};

/* Initially zero but for the members above LIST. */
struct deadlines {
    const uv_loop_t *loop;
    const struct clock *clock; /* NULL: the loop's time */
    uint64_t idle_ms;          /* the limit between two requests */
    unsigned step; /* ms: all idle connections are checked together at multiples; 0: 1 ms */
    LIST_HEAD(deadline_list, deadline) list;
    struct deadline *next; /* to be checked in this round, or NULL */
    uint64_t due;          /* when the next round begins; 0: soon; see deadlines_expire */
    unsigned count;
    bool draining; /* connections without a request are closed, after a short grace */
};

/* Embedded in a connection; private but for FD, PHASE, SINCE and GOT_408. */
struct deadline {
    LIST_ENTRY(deadline) entry;
    const struct deadlines *of;
    int fd;
    enum deadline_phase phase;
    uint64_t since; /* when the phase began; in DEADLINE_SENDING, later for each byte taken */
    bool overdue;
    bool begun;                  /* part of a head had arrived at the last check */
    bool got_408;                /* no response if the rest of the head arrives after all */
    const unsigned *connections; /* the client's count, atomic; or NULL */
    uint64_t behind;             /* the client's delay when DEADLINE_WAITING began */
    uint64_t window; /* when the window began, or an idle connection was checked; 0: none */
    uint64_t taken;  /* 1 + bytes, before the window; UINT64_MAX: the first window; 0: none */
    uint64_t heads;  /* bytes in all complete heads so far */
};

/* Add a new connection on the socket FD. CONNECTIONS is the client's count, from
 * client_limits_watch. */
void deadlines_add(struct deadlines *deadlines, struct deadline *deadline, int fd,
                   const unsigned *connections);
void deadlines_remove(struct deadlines *deadlines, struct deadline *deadline);

static inline uint64_t deadlines_now(const struct deadlines *deadlines)
{
    return clock_loop_ms(deadlines->clock, deadlines->loop);
}

static inline void deadline_enter(struct deadline *deadline, enum deadline_phase phase)
{
    deadline->phase = phase;
    deadline->since = deadlines_now(deadline->of);
}

/* The request line has arrived. */
static inline void deadline_head(struct deadline *deadline)
{
    if (deadline->phase == DEADLINE_IDLE)
        deadline_enter(deadline, DEADLINE_HEAD);
}

/* A head with BYTES bytes is complete. */
static inline void deadline_head_ends(struct deadline *deadline, size_t bytes)
{
    deadline->heads += bytes;
}

/* In DEADLINE_SENDING: the client has taken BYTES more. */
static inline void deadline_advance(struct deadline *deadline, size_t bytes)
{
    const uint64_t now = deadlines_now(deadline->of);

    deadline->since += bytes * 1000 / DEADLINE_PACE;
    if (deadline->since > now) /* a fast start earns no credit */
        deadline->since = now;
}

/* Pause and resume sending; the client's delay does not change. */
static inline void deadline_wait(struct deadline *deadline)
{
    deadline->behind = deadlines_now(deadline->of) - deadline->since;
    deadline_enter(deadline, DEADLINE_WAITING);
}

static inline void deadline_resume(struct deadline *deadline)
{
    deadline_enter(deadline, DEADLINE_SENDING);
    deadline->since -= deadline->behind;
}

/* Connections per call of deadlines_expire, because each idle one costs a system call. */
enum { DEADLINES_SLICE = 64 };

/*
 * Shut down sockets whose deadline has passed, and those without a request whose client has left;
 * libmicrohttpd then reads the end. A head that takes too long gets a 408. Adds the number of
 * clients that were too slow to *SLOW.
 *
 * A call checks some connections. Returns true if further calls must complete the round. If DUE is
 * 0, the next round begins 250 ms later, otherwise at the time DUE; UINT64_MAX: never. The caller
 * sets DUE to 0 after any event on a connection.
 */
bool deadlines_expire(struct deadlines *deadlines, unsigned *slow);

/*
 * Shut down some connections without a request in progress, so that others can be accepted: those
 * of the client with the most connections, the longest idle ones first. A connection with an
 * incomplete head counts as idle after a short grace; meanwhile clients with fewer connections are
 * safe. Takes up to an eighth of the client's connections, 32 at most, as nginx's
 * ngx_drain_connections does. If none is idle, resets readers that have been slow for a second, in
 * the same order. Returns how many.
 */
unsigned deadlines_make_room(struct deadlines *deadlines);

#endif
