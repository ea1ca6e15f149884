#include "deadlines.h"

#include <linux/tcp.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "server/net/refusal.h"

enum { GRACE_MS = 500 };

/* Of tcpi_state, as in netinet/tcp.h, which excludes linux/tcp.h. */
enum { CLOSED = 7, CLOSE_WAIT = 8 };

/* The connections that deadlines_make_room takes: one in SHARE of a client's, up to MAX. If none is
 * idle, readers that are BEHIND_MS behind. */
enum { ROOM_SHARE = 8, ROOM_MAX = 32, BEHIND_MS = 1000 };

static const uint64_t deadline_ms[] = {
    [DEADLINE_HEAD] = 10000,
    [DEADLINE_HANDLED] = UINT64_MAX,
    [DEADLINE_SENDING] = 30000,
    [DEADLINE_WAITING] = UINT64_MAX,
};

static uint64_t limit_of(const struct deadlines *deadlines, enum deadline_phase phase)
{
    return phase == DEADLINE_IDLE ? deadlines->idle_ms : deadline_ms[phase];
}

void deadlines_add(struct deadlines *deadlines, struct deadline *deadline, int fd,
                   const unsigned *connections, uint64_t now)
{
    *deadline = (struct deadline){
        .fd = fd, .phase = DEADLINE_HEAD, .since = now, .connections = connections};
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

/* Connecting to AF_UNSPEC resets a TCP connection (tcp(7)). */
void deadline_reset(const struct deadline *deadline)
{
    const struct sockaddr unspecified = {.sa_family = AF_UNSPEC};
    (void)connect(deadline->fd, &unspecified, sizeof unspecified);
    shutdown(deadline->fd, SHUT_RDWR);
}

bool deadline_has_unread(const struct deadline *deadline)
{
    int unread = 0;
    return ioctl(deadline->fd, FIONREAD, &unread) == 0 && unread > 0;
}

bool deadline_has_left(const struct deadline *deadline)
{
    struct pollfd peer = {.fd = deadline->fd, .events = POLLRDHUP};
    return poll(&peer, 1, 0) == 1;
}

/*
 * Look at a connection without a request in progress. If it is idle, and more has arrived than the
 * heads of its requests, its phase is DEADLINE_HEAD now: libmicrohttpd only tells of complete
 * request lines. (An empty line before a request counts as a begun head, too, from then on.)
 *
 * Returns true if the client has left. libmicrohttpd does not report that if the end arrived
 * together with other bytes: edge-triggered epoll reported both as one event.
 */
static bool check_client(struct deadline *deadline, uint64_t now)
{
    struct tcp_info info = {.tcpi_state = 0};
    socklen_t size = sizeof info;

    if (deadline->phase != DEADLINE_IDLE && deadline->phase != DEADLINE_HEAD)
        return false;
    if (getsockopt(deadline->fd, IPPROTO_TCP, TCP_INFO, &info, &size))
        return deadline_has_left(deadline); /* no TCP */
    if (info.tcpi_state == CLOSE_WAIT || info.tcpi_state == CLOSED)
        return true;
    deadline->begun = info.tcpi_bytes_received > deadline->heads;
    if (deadline->begun && deadline->phase == DEADLINE_IDLE)
        deadline_enter(deadline, DEADLINE_HEAD, now);
    return false;
}

/* Answer a head that has begun, as check_client has seen, and takes too long. If bytes are still to
 * be sent, such as a page of libmicrohttpd's own, it gets none. */
static void refuse_head(struct deadline *deadline)
{
    int unsent = 1;

    deadline->got_408 = deadline->begun && ioctl(deadline->fd, TIOCOUTQ, &unsent) == 0 &&
                        unsent == 0 && refusal_send(deadline->fd, REFUSAL_SLOW_HEAD);
}

/* Returns true if the response is taken at less than the least pace. */
static bool check_pace(struct deadline *deadline, uint64_t now)
{
    struct tcp_info info;
    socklen_t size = sizeof info;

    if (deadline->phase != DEADLINE_SENDING) {
        deadline->taken = 0;
        return false;
    }
    if (!deadline->taken) {
        deadline->window = now;
        deadline->taken = UINT64_MAX;
    }
    if (now - deadline->window < DEADLINE_WINDOW ||
        getsockopt(deadline->fd, IPPROTO_TCP, TCP_INFO, &info, &size))
        return false;
    const uint64_t taken = info.tcpi_bytes_acked + 1;
    const bool slow = deadline->taken != UINT64_MAX && taken - deadline->taken < DEADLINE_LEAST;
    deadline->window = now;
    deadline->taken = taken;
    return slow;
}

/* Returns true if the system still has bytes for the client of an idle connection, which is checked
 * once: they are at most DEADLINE_LEAST. */
static bool check_unread(struct deadline *deadline, uint64_t now)
{
    int unread = 0;

    if (deadline->phase != DEADLINE_IDLE || now - deadline->since <= DEADLINE_WINDOW ||
        deadline->window > deadline->since)
        return false;
    deadline->window = now;
    return ioctl(deadline->fd, TIOCOUTQ, &unread) == 0 && unread > 0;
}

/* Returns true if the connection was too slow. */
static bool expire(const struct deadlines *deadlines, struct deadline *deadline, uint64_t now,
                   bool draining)
{
    const bool left = check_client(deadline, now);
    const bool responding = deadline->phase == DEADLINE_HANDLED ||
                            deadline->phase == DEADLINE_SENDING ||
                            deadline->phase == DEADLINE_WAITING;
    const uint64_t limit =
        draining && !responding ? GRACE_MS : limit_of(deadlines, deadline->phase);

    const bool unread = check_unread(deadline, now);
    const bool late = now - deadline->since > limit || unread || check_pace(deadline, now);

    if (!late && !left)
        return false;
    if (deadline->phase == DEADLINE_HEAD && late && !draining && !deadline->overdue)
        refuse_head(deadline);
    /* The system frees what it has of the response. If libmicrohttpd has not noticed the end since
     * the last round, it does not look for that any more. */
    if (responding || unread || deadline->overdue)
        deadline_reset(deadline);
    else /* received data is still read */
        shutdown(deadline->fd, SHUT_RD);
    const bool slow =
        late && !deadline->overdue && (deadline->phase != DEADLINE_IDLE || unread) && !draining;
    deadline->overdue = true;
    return slow;
}

/* The time of the next check of DEADLINE, which has just been checked, if it stays in its phase; 0:
 * soon. */
static uint64_t due(const struct deadlines *deadlines, const struct deadline *deadline)
{
    const unsigned step = deadlines->step;
    const bool idle = deadline->phase == DEADLINE_IDLE;
    const bool unchecked =
        idle && deadline->window <= deadline->since && deadlines->idle_ms > DEADLINE_WINDOW;
    const uint64_t limit = unchecked ? DEADLINE_WINDOW : limit_of(deadlines, deadline->phase);
    const uint64_t at = deadline->since + limit + 1;

    if (deadline->overdue || !(idle || deadline->phase == DEADLINE_HEAD))
        return 0;
    return idle && step > 0 ? (at + step - 1) / step * step : at;
}

bool deadlines_expire(struct deadlines *deadlines, uint64_t now, bool draining, unsigned *slow)
{
    struct deadline *deadline = deadlines->next;

    if (!deadline) {
        deadline = LIST_FIRST(&deadlines->list);
        deadlines->due = UINT64_MAX;
    }
    for (int i = 0; deadline && i < DEADLINES_SLICE; i++) {
        *slow += expire(deadlines, deadline, now, draining);
        const uint64_t next = draining ? 0 : due(deadlines, deadline);
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
    unsigned connections; /* of its client */
    bool early;           /* its head may still arrive */
};

/* Those to be closed, the first one first. */
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
    return !deadline->overdue &&
           (deadline->phase == DEADLINE_IDLE || deadline->phase == DEADLINE_HEAD ||
            (deadline->phase == DEADLINE_SENDING && now - deadline->since > BEHIND_MS));
}

unsigned deadlines_make_room(struct deadlines *deadlines, uint64_t now)
{
    struct candidates candidates = {.count = 0};
    struct deadline *deadline;
    unsigned closed = 0;

    for (deadline = LIST_FIRST(&deadlines->list); deadline; deadline = LIST_NEXT(deadline, entry))
        if (can_be_closed(deadline, now))
            insert(&candidates, candidate_of(deadline, now));
    for (unsigned i = 0; i < candidates.count; i++) {
        const struct candidate *candidate = &candidates.list[i];
        deadline = candidate->deadline;
        if (candidate->early) /* rather wait for it than close one of a client that has fewer */
            break;
        if (candidate->sending && !candidates.list[0].sending)
            break;
        if (closed > 0 && closed >= candidate->connections / ROOM_SHARE)
            break;
        if (!candidate->sending && deadline_has_unread(deadline)) /* a request has just arrived */
            continue;
        if (candidate->sending)
            deadline_reset(deadline);
        else
            shutdown(deadline->fd, SHUT_RD);
        deadline->overdue = true;
        closed++;
    }
    return closed;
}
