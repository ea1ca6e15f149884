/* One connection of a stream: its socket, and the request that is on it. */
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
    CONNECTION_BUSY, /* a request was sent, its answer is not whole */
};

struct connection {
    struct stream *stream;
    int fd;           /* -1 when down */
    in_addr_t source; /* network order */
    enum connection_state state;
    TAILQ_ENTRY(connection) place; /* among the idle, or the down */
    TAILQ_ENTRY(connection) doom;  /* among the requests to be abandoned */
    uint64_t due;                  /* when the request was due, ns */
    uint64_t deadline;             /* abandon it then; or, when down, open not before; 0 = none */
    struct answer answer;
};

TAILQ_HEAD(connections, connection);

/* Begin to connect, watched by EPOLL for being writable. Returns 0 or -errno, then still down. */
int connection_open(struct connection *connection, int epoll, const struct sockaddr_in *target);

/* It became writable: returns 0 when connected, now watched for answers alone, else -errno. */
int connection_opened(struct connection *connection, int epoll);

/* Send a request whole. Returns 0 or -errno. */
int connection_send(struct connection *connection, const char *text, size_t length);

void connection_close(struct connection *connection);

#endif
