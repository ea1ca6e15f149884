#include "links.h"

#include <poll.h>
#include <sys/socket.h>

enum { GRACE_MS = 500, LOOK_MS = 100 };

static const uint64_t deadline_ms[] = {
    [LINK_CONNECTED] = 10000,
    [LINK_HEADERS] = 10000,
    [LINK_HANDLED] = UINT64_MAX,
    [LINK_SENDING] = 30000,
    [LINK_IDLE] = LINK_IDLE_SECONDS * 1000,
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
 * Whether the client has left a connection that is idle, which is asked once a
 * while: where its end came together with its last request, edge-triggered epoll tells
 * libmicrohttpd of both at once, and it takes the one for the other.
 */
static bool has_left(struct link *link)
{
    struct pollfd peer = {.fd = link->fd, .events = POLLRDHUP};

    if (link->phase != LINK_IDLE || link->looked_after)
        return false;
    link->looked_after = true;
    return poll(&peer, 1, 0) == 1;
}

unsigned links_sweep(struct links *links, uint64_t now, bool draining)
{
    unsigned slow = 0;

    for (struct link *link = links->first; link; link = link->next) {
        const bool answering = link->phase == LINK_HANDLED || link->phase == LINK_SENDING;
        const uint64_t deadline = draining && !answering ? GRACE_MS : deadline_ms[link->phase];
        if (now - link->since <= deadline && !(now - link->since > LOOK_MS && has_left(link)))
            continue;
        /* Where nothing is on its way out, what has come in is still read. */
        shutdown(link->fd, answering ? SHUT_RDWR : SHUT_RD);
        slow += !link->overdue && link->phase != LINK_IDLE && !draining;
        link->overdue = true;
    }
    return slow;
}
