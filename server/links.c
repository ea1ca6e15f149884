#include "links.h"

#include <stdlib.h>
#include <sys/socket.h>

enum { GRACE_MS = 500 };

static const uint64_t deadline_ms[] = {
    [LINK_CONNECTED] = 10000,
    [LINK_HEADERS] = 10000,
    [LINK_HANDLED] = UINT64_MAX,
    [LINK_SENDING] = 30000,
    [LINK_IDLE] = LINK_IDLE_SECONDS * 1000,
};

struct link {
    struct link *next, **self;
    int fd;
    enum link_phase phase;
    uint64_t since;
};

struct link *link_new(struct links *links, int fd, uint64_t now)
{
    struct link *link = calloc(1, sizeof *link);
    if (!link)
        return NULL;
    link->fd = fd;
    link->since = now;
    link->next = links->first;
    link->self = &links->first;
    if (link->next)
        link->next->self = &link->next;
    links->first = link;
    return link;
}

void link_free(struct link *link)
{
    if (!link)
        return;
    *link->self = link->next;
    if (link->next)
        link->next->self = link->self;
    free(link);
}

void link_enter(struct link *link, enum link_phase phase, uint64_t now)
{
    if (!link)
        return;
    link->phase = phase;
    link->since = now;
}

void links_sweep(struct links *links, uint64_t now, bool draining)
{
    for (struct link *link = links->first; link; link = link->next) {
        const bool answering = link->phase == LINK_HANDLED || link->phase == LINK_SENDING;
        const uint64_t deadline = draining && !answering ? GRACE_MS : deadline_ms[link->phase];
        /* Where nothing is on its way out, what has come in is still read. */
        if (now - link->since > deadline)
            shutdown(link->fd, answering ? SHUT_RDWR : SHUT_RD);
    }
}
