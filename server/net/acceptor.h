/*
 * Takes connections from listening sockets and gives each away: as many at once
 * as there may be, while the others wait in the sockets' backlogs, and no more
 * of one client than it may have. Everything here runs on its loop's thread but
 * where it says otherwise.
 */
#ifndef FARLANDS_NET_ACCEPTOR_H
#define FARLANDS_NET_ACCEPTOR_H

#include <stdbool.h>
#include <sys/socket.h>
#include <uv.h>

#include "server/net/client_limits.h"
#include "server/telemetry/metrics.h"

enum {
    ACCEPTOR_SOCKETS_MAX = 16,
    ACCEPTOR_BACKLOG_MAX = 8192, /* let in of each when stopping */
};

struct acceptor_parts {
    uv_loop_t *loop;
    const int *sockets; /* they listen and do not block; taken over where acceptor_new succeeds */
    int count;
    struct client_limits *clients;
    struct metrics *metrics;
    /* How many connections of PEER there may be; 0: any number. */
    unsigned (*share)(void *context, const struct sockaddr *peer);
    /* The connected socket FD, the callee's from now on; acceptor_closed will be called for it. */
    void (*give)(void *context, int fd, const struct sockaddr *peer, socklen_t length);
    void *context;
};

struct acceptor;

/* Accept up to CONNECTIONS at once. Returns 0 or a negative code. */
int acceptor_new(struct acceptor **out, const struct acceptor_parts *parts, unsigned connections);

/* Up to another number from now on. */
void acceptor_limit(struct acceptor *acceptor, unsigned connections);

/* A connection that was given away is no more. Any thread. */
void acceptor_closed(struct acceptor *acceptor, const struct sockaddr *peer);

/* Connections open. Any thread. */
unsigned acceptor_open(const struct acceptor *acceptor);

/* Accept no more; where BACKLOG is set, whoever has connected already is let in before, however
 * many there are. The sockets are closed. */
void acceptor_stop(struct acceptor *acceptor, bool backlog);

/* After acceptor_stop, when every connection is closed. */
void acceptor_close(struct acceptor *acceptor);

/* Once the loop has run the close callbacks. */
void acceptor_free(struct acceptor *acceptor);

#endif
