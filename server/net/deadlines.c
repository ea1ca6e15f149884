#include "deadlines.h"

#include <linux/tcp.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

enum { GRACE_MS = 500, LOOK_MS = 2000 };

/* TCP_CLOSE_WAIT of netinet/tcp.h, whose tcp_info is an old one. */
enum { CLOSE_WAIT = 8 };

static const uint64_t deadline_ms[] = {
    [DEADLINE_CONNECTED] = 10000,    [DEADLINE_HEADERS] = 10000,
    [DEADLINE_HANDLED] = UINT64_MAX, [DEADLINE_SENDING] = 30000,
    [DEADLINE_WAITING] = UINT64_MAX, [DEADLINE_IDLE] = DEADLINE_IDLE_SECONDS * 1000,
};

void deadlines_add(struct deadlines *deadlines, struct deadline *deadline, int fd, uint64_t now)
{
    *deadline = (struct deadline){.fd = fd, .phase = DEADLINE_CONNECTED, .since = now};
    deadline->next = deadlines->first;
    deadline->self = &deadlines->first;
    if (deadline->next)
        deadline->next->self = &deadline->next;
    deadlines->first = deadline;
    deadlines->count++;
}

void deadlines_remove(struct deadlines *deadlines, struct deadline *deadline)
{
    *deadline->self = deadline->next;
    if (deadline->next)
        deadline->next->self = deadline->self;
    deadlines->count--;
}

/*
 * What libmicrohttpd does not tell of an idle connection, asked of the system once a while. Its
 * client has left: where that came together with the last request, edge-triggered epoll told of
 * both at once, and libmicrohttpd took the one for the other. Or a request is coming whose first
 * line is not complete: the time for its head runs. Returns whether it has left.
 */
static bool look_after(struct deadline *deadline, uint64_t now)
{
    struct tcp_info info;
    socklen_t size = sizeof info;

    if (deadline->phase != DEADLINE_IDLE || now - deadline->looked_after < LOOK_MS)
        return false;
    const bool first = deadline->looked_after == deadline->since;
    deadline->looked_after = now;
    if (getsockopt(deadline->fd, IPPROTO_TCP, TCP_INFO, &info, &size))
        return false; /* no TCP */
    if (first)
        deadline->received = info.tcpi_bytes_received;
    else if (info.tcpi_bytes_received != deadline->received)
        deadline_enter(deadline, DEADLINE_HEADERS, now);
    return info.tcpi_state == CLOSE_WAIT;
}

bool deadline_has_left(const struct deadline *deadline)
{
    struct pollfd peer = {.fd = deadline->fd, .events = POLLRDHUP};
    return poll(&peer, 1, 0) == 1;
}

unsigned deadlines_expire(struct deadlines *deadlines, uint64_t now, bool draining)
{
    unsigned slow = 0;

    for (struct deadline *deadline = deadlines->first; deadline; deadline = deadline->next) {
        const bool answering = deadline->phase == DEADLINE_HANDLED ||
                               deadline->phase == DEADLINE_SENDING ||
                               deadline->phase == DEADLINE_WAITING;
        const uint64_t limit = draining && !answering ? GRACE_MS : deadline_ms[deadline->phase];
        if (now - deadline->since <= limit && !look_after(deadline, now))
            continue;
        /* Where nothing is on its way out, what has come in is still read. */
        shutdown(deadline->fd, answering ? SHUT_RDWR : SHUT_RD);
        slow += !deadline->overdue && deadline->phase != DEADLINE_IDLE && !draining;
        deadline->overdue = true;
    }
    return slow;
}
