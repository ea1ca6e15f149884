/* One connection of a stream: its socket and the current request. */
#ifndef LOAD_CONNECTION_H
#define LOAD_CONNECTION_H

#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#include "answer.h"
#include "plan.h"

enum connection_state {
    CONNECTION_DOWN,
    CONNECTION_OPENING,
    CONNECTION_IDLE,
    CONNECTION_BUSY, /* a request was sent, its response is incomplete */
};

struct connection {
    struct stream *stream;
    int fd;          /* -1 when down */
    unsigned source; /* counts the stream's source addresses */
    unsigned served; /* responses since it was opened */
    bool again;      /* when open, the same request is sent once more */
    enum connection_state state;
    TAILQ_ENTRY(connection) place; /* in the list of idle or of down connections */
    TAILQ_ENTRY(connection) doom;  /* in the list of requests to be abandoned */
    uint64_t due;                  /* when the request was due, ns */
    uint64_t choice;               /* of its URL */
    /* When to abandon it; if down, when to reconnect; if idle, not to be used before; 0 = none. */
    uint64_t deadline;
    struct answer answer;
};

TAILQ_HEAD(connections, connection);

/*
 * Start connecting to TARGET, from FROM unless its family is AF_UNSPEC, and watch for writability
 * with EPOLL. Returns 0, or -errno if still down.
 */
int connection_open(struct connection *connection, int epoll, const struct address *target,
                    const struct address *from);

/* Call when writable. Returns 0 if connected, then watched for EVENTS, or -errno. */
int connection_opened(struct connection *connection, int epoll, uint32_t events);

/* Send one complete request. Returns 0 or -errno. */
int connection_send(struct connection *connection, const char *text, size_t length);

void connection_close(struct connection *connection);

#endif
