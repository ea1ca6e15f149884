/* One connection of a stream: its socket and the current request. */
#ifndef LOAD_CONNECTION_H
#define LOAD_CONNECTION_H

#include <netinet/in.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#include "answer.h"

enum connection_state {
    CONNECTION_DOWN,
    CONNECTION_OPENING,
    CONNECTION_IDLE,
    CONNECTION_BUSY, /* a request was sent, its response is incomplete */
};

struct connection {
    struct stream *stream;
    int fd;           /* -1 when down */
    in_addr_t source; /* network order */
    enum connection_state state;
    TAILQ_ENTRY(connection) place; /* in the list of idle or of down connections */
    TAILQ_ENTRY(connection) doom;  /* in the list of requests to be abandoned */
    uint64_t due;                  /* when the request was due, ns */
    uint64_t deadline;             /* when to abandon it or, if down, when to reconnect; 0 = none */
    struct answer answer;
};

TAILQ_HEAD(connections, connection);

/* Start connecting and watch for writability with EPOLL. Returns 0, or -errno if still down. */
int connection_open(struct connection *connection, int epoll, const struct sockaddr_in *target);

/* Call when writable. Returns 0 if connected, then watched for responses only, or -errno. */
int connection_opened(struct connection *connection, int epoll);

/* Send one complete request. Returns 0 or -errno. */
int connection_send(struct connection *connection, const char *text, size_t length);

void connection_close(struct connection *connection);

#endif
