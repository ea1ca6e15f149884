/* What the system knows about a connected socket. */
#ifndef FARLANDS_NET_SOCKET_STATE_H
#define FARLANDS_NET_SOCKET_STATE_H

#include <stdbool.h>
#include <stdint.h>

struct socket_tcp {
    bool left;         /* the client has closed the connection or its sending side */
    uint64_t received; /* bytes from the client, also those that are not read yet */
    uint64_t taken;    /* bytes that the client's system has acknowledged */
};

/* Returns false if FD is not a TCP socket. */
bool socket_tcp(int fd, struct socket_tcp *out);

/* True if the client has closed the connection or its sending side. */
bool socket_has_left(int fd);

/* True if the client has sent bytes that are not read yet. */
bool socket_has_unread(int fd);

/* True if the system still has bytes for the client. */
bool socket_has_unsent(int fd);

/* Reset the connection: unsent bytes are discarded, and whoever reads here sees the end. */
void socket_reset(int fd);

#endif
