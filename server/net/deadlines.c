#include "deadlines.h"

#include <sys/socket.h>

#include "server/net/refusal.h"
#include "server/net/socket_state.h"

enum { GRACE_MS = 500 };

/* deadlines_make_room takes one in SHARE of a client's connections, up to MAX; if none is idle,
 * readers that are BEHIND_MS behind. */
enum { ROOM_SHARE = 8, ROOM_MAX = 32, BEHIND_MS = 1000 };

static const uint64_t deadline_ms[] = {
    [DEADLINE_HEAD] = 10000,
    [DEADLINE_HANDLED] = UINT64_MAX,
    [DEADLINE_SENDING] = 30000,
    [DEADLINE_WAITING] = UINT64_MAX,
};

/* How many ms DEADLINE may stay in the phase. */
static uint64_t limit_of(const struct deadline *deadline)
{
    return deadline->phase == DEADLINE_IDLE ? deadline->of->idle_ms : deadline_ms[deadline->phase];
}

void deadlines_add(struct deadlines *deadlines, struct deadline *deadline, int fd,
                   const unsigned *connections)
{
    *deadline = (struct deadline){.of = deadlines, .fd = fd, .connections = connections};
    deadline_enter(deadline, DEADLINE_HEAD);
    LIST_INSERT_HEAD(&deadlines->list, deadline, entry);
    deadlines->count++;
}

void deadlines_remove(struct deadlines *deadlines, struct deadline *deadline)
{
    if (deadlines->next == deadline)
        deadlines->next = LIST_NEXT(deadline, entry);
    LIST_REMOVE(deadline, entry);
    deadlines->count--;
}

static bool has_request(const struct deadline *deadline)
{
    return deadline->phase != DEADLINE_IDLE && deadline->phase != DEADLINE_HEAD;
}

/*
 * Look at a connection without a request in progress. An idle one enters DEADLINE_HEAD if more
 * bytes have arrived than complete heads have, because libmicrohttpd only reports complete request
 * lines. (An empty line before a request therefore counts as the beginning of a head.)
 *
 * Returns true if the client has left. libmicrohttpd does not notice if the end arrived together
 * with other bytes, because edge-triggered epoll reports both as one event.
 */
static bool check_client(struct deadline *deadline)
{
    struct socket_tcp tcp;

    if (has_request(deadline))
        return false;
    if (!socket_tcp(deadline->fd, &tcp))
        return socket_has_left(deadline->fd);
    if (tcp.left)
        return true;
    deadline->begun = tcp.received > deadline->heads;
    if (deadline->begun && deadline->phase == DEADLINE_IDLE)
        deadline_enter(deadline, DEADLINE_HEAD);
    return false;
}

/* Send a 408 for a head that has begun (check_client) and takes too long; but not while other bytes
 * are still to be sent, such as libmicrohttpd's own page. */
static void refuse_head(struct deadline *deadline)
{
    deadline->got_408 = deadline->begun && !socket_has_unsent(deadline->fd) &&
                        refusal_send(deadline->fd, REFUSAL_SLOW_HEAD);
}

/* True if the client takes the response at less than the least pace. A window goes on into the next
 * response if no round falls between the two. */
static bool check_pace(struct deadline *deadline, uint64_t now)
{
    struct socket_tcp tcp;

    if (deadline->phase != DEADLINE_SENDING) {
        deadline->taken = 0;
        return false;
    }
    if (!deadline->taken) {
        deadline->window = now;
        deadline->taken = UINT64_MAX;
    }
    if (now - deadline->window < DEADLINE_WINDOW || !socket_tcp(deadline->fd, &tcp))
        return false;
    const uint64_t before = deadline->taken;
    deadline->window = now;
    deadline->taken = tcp.taken + 1;
    return before != UINT64_MAX && deadline->taken - before < DEADLINE_LEAST;
}

/* True if the system still has bytes for an idle connection's client. One check is enough, because
 * there are at most DEADLINE_LEAST bytes. */
static bool check_unsent(struct deadline *deadline, uint64_t now)
{
    if (deadline->phase != DEADLINE_IDLE || now - deadline->since <= DEADLINE_WINDOW ||
        deadline->window > deadline->since)
        return false;
    deadline->window = now;
    return socket_has_unsent(deadline->fd);
}

/* Returns true if the connection was too slow. */
static bool expire(struct deadline *deadline, uint64_t now)
{
    const bool left = check_client(deadline);
    const bool draining = deadline->of->draining, request = has_request(deadline);
    const uint64_t limit = draining && !request ? GRACE_MS : limit_of(deadline);

    const bool unsent = check_unsent(deadline, now);
    const bool late = now - deadline->since > limit || unsent || check_pace(deadline, now);
    const bool first = !deadline->overdue;

    if (!late && !left)
        return false;
    deadline->overdue = true;
    if (deadline->phase == DEADLINE_HEAD && late && !draining && first)
        refuse_head(deadline);
    /* The system frees the rest of the response. If libmicrohttpd has not noticed the end since the
     * last round, it no longer looks for one. */
    if (request || unsent || !first)
        socket_reset(deadline->fd);
    else /* received data is still read */
        shutdown(deadline->fd, SHUT_RD);
    return late && first && !draining && (deadline->phase != DEADLINE_IDLE || unsent);
}

/* When to check DEADLINE again after a check, if the phase stays the same; 0: soon. */
static uint64_t due(const struct deadline *deadline)
{
    const bool idle = deadline->phase == DEADLINE_IDLE;
    const unsigned step = deadline->of->step;
    const bool unchecked =
        idle && deadline->window <= deadline->since && deadline->of->idle_ms > DEADLINE_WINDOW;
    const uint64_t limit = unchecked ? DEADLINE_WINDOW : limit_of(deadline);
    const uint64_t at = deadline->since + limit + 1;

    if (deadline->overdue || deadline->of->draining || has_request(deadline))
        return 0;
    return idle && step > 0 ? (at + step - 1) / step * step : at;
}

bool deadlines_expire(struct deadlines *deadlines, unsigned *slow)
{
    const uint64_t now = deadlines_now(deadlines);
    struct deadline *deadline = deadlines->next;

    if (!deadline) {
        deadline = LIST_FIRST(&deadlines->list);
        deadlines->due = UINT64_MAX;
    }
    for (int i = 0; deadline && i < DEADLINES_SLICE; i++) {
        *slow += expire(deadline, now);
        const uint64_t next = due(deadline);
        if (next < deadlines->due)
            deadlines->due = next;
        deadline = LIST_NEXT(deadline, entry);
    }
    deadlines->next = deadline;
    return deadline != NULL;
}

struct candidate {
    struct deadline *deadline;
    bool sending;         /* rather than without a request in progress */
    unsigned connections; /* the client's */
    bool early;           /* the head may still arrive */
};

/* Connections to be closed, the first one first. */
struct candidates {
    struct candidate list[ROOM_MAX];
    unsigned count;
};

static struct candidate candidate_of(struct deadline *deadline, uint64_t now)
{
    const unsigned *connections = deadline->connections;
    return (struct candidate){
        .deadline = deadline,
        .sending = deadline->phase == DEADLINE_SENDING,
        .connections = connections ? __atomic_load_n(connections, __ATOMIC_RELAXED) : 0,
        .early = deadline->phase == DEADLINE_HEAD && now - deadline->since <= GRACE_MS};
}

static bool goes_before(const struct candidate *one, const struct candidate *other)
{
    if (one->sending != other->sending)
        return other->sending;
    if (one->connections != other->connections)
        return one->connections > other->connections;
    if (one->early != other->early)
        return other->early;
    return one->deadline->since < other->deadline->since;
}

static void insert(struct candidates *candidates, struct candidate candidate)
{
    struct candidate *list = candidates->list;
    unsigned at = candidates->count;

    if (at < ROOM_MAX)
        candidates->count++;
    else if (!goes_before(&candidate, &list[--at]))
        return;
    for (; at > 0 && goes_before(&candidate, &list[at - 1]); at--)
        list[at] = list[at - 1];
    list[at] = candidate;
}

static bool can_be_closed(const struct deadline *deadline, uint64_t now)
{
    return !deadline->overdue && (!has_request(deadline) || (deadline->phase == DEADLINE_SENDING &&
                                                             now - deadline->since > BEHIND_MS));
}

unsigned deadlines_make_room(struct deadlines *deadlines)
{
    const uint64_t now = deadlines_now(deadlines);
    struct candidates candidates = {.count = 0};
    struct deadline *deadline;
    unsigned closed = 0;

    for (deadline = LIST_FIRST(&deadlines->list); deadline; deadline = LIST_NEXT(deadline, entry))
        if (can_be_closed(deadline, now))
            insert(&candidates, candidate_of(deadline, now));
    for (unsigned i = 0; i < candidates.count; i++) {
        const struct candidate *candidate = &candidates.list[i];
        deadline = candidate->deadline;
        if (candidate->early) /* wait for this one, so that clients with fewer are safe */
            break;
        if (candidate->sending && !candidates.list[0].sending)
            break;
        if (closed > 0 && closed >= candidate->connections / ROOM_SHARE)
            break;
        if (!candidate->sending && socket_has_unread(deadline->fd)) /* a request has just arrived */
            continue;
        if (candidate->sending)
            socket_reset(deadline->fd);
        else
            shutdown(deadline->fd, SHUT_RD);
        deadline->overdue = true;
        closed++;
    }
    return closed;
}
