#include "deadlines.h"

#include <linux/tcp.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

enum { GRACE_MS = 500, LOOK_MS = 2000 };

/* TCP_CLOSE_WAIT of netinet/tcp.h, whose tcp_info is an old one. */
enum { CLOSE_WAIT = 8 };

static const uint64_t deadline_ms[] = {
    [LINK_CONNECTED] = 10000, [LINK_HEADERS] = 10000,      [LINK_HANDLED] = UINT64_MAX,
    [LINK_SENDING] = 30000,   [LINK_WAITING] = UINT64_MAX, [LINK_IDLE] = LINK_IDLE_SECONDS * 1000,
};

void links_add(struct links *links, struct link *link, int fd, uint64_t now)
{
    *link = (struct link){.fd = fd, .phase = LINK_CONNECTED, .since = now};
    link->next = links->first;
    link->self = &links->first;
    if (link->next)
        link->next->self = &link->next;
    links->first = link;
    links->count++;
}

void links_remove(struct links *links, struct link *link)
{
    *link->self = link->next;
    if (link->next)
        link->next->self = link->self;
    links->count--;
}

/*
 * What libmicrohttpd does not tell of an idle connection, asked of the system once a while. Its
 * client has left: where that came together with the last request, edge-triggered epoll told of
 * both at once, and libmicrohttpd took the one for the other. Or a request is coming whose first
 * line is not complete: the time for its head runs. Returns whether it has left.
 */
static bool look_after(struct link *link, uint64_t now)
{
    struct tcp_info info;
    socklen_t size = sizeof info;

    if (link->phase != LINK_IDLE || now - link->looked_after < LOOK_MS)
        return false;
    const bool first = link->looked_after == link->since;
    link->looked_after = now;
    if (getsockopt(link->fd, IPPROTO_TCP, TCP_INFO, &info, &size))
        return false; /* no TCP */
    if (first)
        link->received = info.tcpi_bytes_received;
    else if (info.tcpi_bytes_received != link->received)
        link_enter(link, LINK_HEADERS, now);
    return info.tcpi_state == CLOSE_WAIT;
}

bool link_has_left(const struct link *link)
{
    struct pollfd peer = {.fd = link->fd, .events = POLLRDHUP};
    return poll(&peer, 1, 0) == 1;
}

unsigned links_sweep(struct links *links, uint64_t now, bool draining)
{
    unsigned slow = 0;

    for (struct link *link = links->first; link; link = link->next) {
        const bool answering = link->phase == LINK_HANDLED || link->phase == LINK_SENDING ||
                               link->phase == LINK_WAITING;
        const uint64_t deadline = draining && !answering ? GRACE_MS : deadline_ms[link->phase];
        if (now - link->since <= deadline && !look_after(link, now))
            continue;
        /* Where nothing is on its way out, what has come in is still read. */
        shutdown(link->fd, answering ? SHUT_RDWR : SHUT_RD);
        slow += !link->overdue && link->phase != LINK_IDLE && !draining;
        link->overdue = true;
    }
    return slow;
}
