/*
 * Accepts connections from listening sockets, up to a total limit and a limit per client.
 * Connections beyond the total wait in the sockets' backlogs while others make room. Connections
 * beyond a client's limit get a 503 and are closed. On the loop's thread, unless stated otherwise.
 */
#ifndef FARLANDS_NET_ACCEPTOR_H
#define FARLANDS_NET_ACCEPTOR_H

#include <stdbool.h>
#include <sys/socket.h>
#include <uv.h>

#include "server/core/clock.h"
#include "server/net/client_limits.h"
#include "server/telemetry/metrics.h"

enum {
    ACCEPTOR_SOCKETS_MAX = 16,
    ACCEPTOR_BACKLOG_MAX = 8192, /* connections accepted per socket by acceptor_stop */
};

struct acceptor_parts {
    uv_loop_t *loop;
    const struct clock *clock; /* NULL: the loop's time */
    /* Non-blocking; owned by the acceptor once acceptor_new succeeds. */
    int sockets[ACCEPTOR_SOCKETS_MAX];
    int count;
    struct client_limits *clients;
    struct metrics *metrics;
    /* Returns the connection limit for PEER's client; 0: none. */
    unsigned (*limit_for)(void *context, const struct sockaddr *peer);
    /* Takes over the connected socket FD, and calls acceptor_closed after closing it. */
    void (*hand_off)(void *context, int fd, const struct sockaddr *peer, socklen_t length);
    /* All connections are in use and others wait: close some idle ones, sooner or later. Called
     * every 25 ms until there is room or none waits. */
    void (*make_room)(void *context);
    void *context;
};

struct acceptor;

/* Accept up to CONNECTIONS at once. Returns 0 or a negative code. */
int acceptor_new(struct acceptor **out, const struct acceptor_parts *parts, unsigned connections);

/* Change the total limit. */
void acceptor_limit(struct acceptor *acceptor, unsigned connections);

/* A connection that was handed off is closed. Any thread. */
void acceptor_closed(struct acceptor *acceptor, const struct sockaddr *peer);

/* How many connections are open. Any thread. */
unsigned acceptor_open(const struct acceptor *acceptor);

/* Close the sockets. ACCEPT_BACKLOG: first accept all connections in the backlogs, even beyond the
 * limit. */
void acceptor_stop(struct acceptor *acceptor, bool accept_backlog);

/* After acceptor_stop, when all connections are closed. */
void acceptor_close(struct acceptor *acceptor);

/* After the loop has run the close callbacks. */
void acceptor_free(struct acceptor *acceptor);

#endif
