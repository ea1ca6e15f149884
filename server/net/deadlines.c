#include "deadlines.h"

#include <linux/tcp.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

enum { GRACE_MS = 500 };

/* TCP_CLOSE_WAIT of netinet/tcp.h, which clashes with linux/tcp.h. */
enum { CLOSE_WAIT = 8 };

static const uint64_t deadline_ms[] = {
    [DEADLINE_HEAD] = 10000,
    [DEADLINE_HANDLED] = UINT64_MAX,
    [DEADLINE_SENDING] = 30000,
    [DEADLINE_WAITING] = UINT64_MAX,
    [DEADLINE_IDLE] = DEADLINE_IDLE_SECONDS * 1000,
};

void deadlines_add(struct deadlines *deadlines, struct deadline *deadline, int fd, uint64_t now)
{
    *deadline = (struct deadline){.fd = fd, .phase = DEADLINE_HEAD, .since = now};
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

/*
 * Ask the system for two changes of an idle connection that libmicrohttpd does not report. Its
 * client has left: if the end arrived together with the last request, edge-triggered epoll reported
 * both as one event. Or more has arrived than complete heads, which begins DEADLINE_HEAD; if that
 * is an empty line before the next head, the client merely has less time for it. Returns true if
 * the client has left.
 */
static bool check_idle(struct deadline *deadline, uint64_t now)
{
    struct tcp_info info;
    socklen_t size = sizeof info;

    if (deadline->phase != DEADLINE_IDLE ||
        getsockopt(deadline->fd, IPPROTO_TCP, TCP_INFO, &info, &size))
        return false; /* or not TCP */
    if (info.tcpi_state == CLOSE_WAIT)
        return true;
    if (info.tcpi_bytes_received > deadline->heads)
        deadline_enter(deadline, DEADLINE_HEAD, now);
    return false;
}

/* Connecting to AF_UNSPEC resets a TCP connection (tcp(7)). */
void deadline_reset(const struct deadline *deadline)
{
    const struct sockaddr unspecified = {.sa_family = AF_UNSPEC};
    (void)connect(deadline->fd, &unspecified, sizeof unspecified);
    shutdown(deadline->fd, SHUT_RDWR);
}

bool deadline_has_left(const struct deadline *deadline)
{
    struct pollfd peer = {.fd = deadline->fd, .events = POLLRDHUP};
    return poll(&peer, 1, 0) == 1;
}

/* Returns true if the connection was too slow. */
static bool expire(struct deadline *deadline, uint64_t now, bool draining)
{
    const bool responding = deadline->phase == DEADLINE_HANDLED ||
                            deadline->phase == DEADLINE_SENDING ||
                            deadline->phase == DEADLINE_WAITING;
    const uint64_t limit = draining && !responding ? GRACE_MS : deadline_ms[deadline->phase];

    if (now - deadline->since <= limit && !check_idle(deadline, now))
        return false;
    /* If nothing is being sent, received data is still read. */
    shutdown(deadline->fd, responding ? SHUT_RDWR : SHUT_RD);
    const bool slow = !deadline->overdue && deadline->phase != DEADLINE_IDLE && !draining;
    deadline->overdue = true;
    return slow;
}

bool deadlines_expire(struct deadlines *deadlines, uint64_t now, bool draining, unsigned *slow)
{
    struct deadline *deadline = deadlines->next ? deadlines->next : LIST_FIRST(&deadlines->list);

    for (int i = 0; deadline && i < DEADLINES_SLICE; i++) {
        *slow += expire(deadline, now, draining);
        deadline = LIST_NEXT(deadline, entry);
    }
    deadlines->next = deadline;
    return deadline != NULL;
}
