#include "connection.h"

#include <errno.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

/* Let connect() choose the port: it knows the target, so each address has all ports available. */
static int bind_to(int fd, const struct address *from)
{
    if (setsockopt(fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &(int){1}, sizeof(int)))
        return -errno;
    return bind(fd, &from->any, from->length) ? -errno : 0;
}

int connection_open(struct connection *connection, int epoll, const struct address *target,
                    const struct address *from)
{
    struct epoll_event event = {.events = EPOLLOUT, .data.ptr = connection};
    int err = 0;

    int fd = socket(target->any.sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -errno;
    if (target->any.sa_family != AF_UNIX)
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int));
    if (from->any.sa_family != AF_UNSPEC)
        err = bind_to(fd, from);
    if (err)
        goto fail_bind;
    if (connect(fd, &target->any, target->length) && errno != EINPROGRESS) {
        err = -errno;
        goto fail_connect;
    }
    if (epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event)) {
        err = -errno;
        goto fail_watch;
    }
    connection->fd = fd;
    connection->state = CONNECTION_OPENING;
    connection->served = 0;
    return 0;

fail_watch:
fail_connect:
fail_bind:
    close(fd);
    return err;
}

int connection_opened(struct connection *connection, int epoll, uint32_t events)
{
    struct epoll_event event = {.events = events, .data.ptr = connection};
    int err = 0;

    if (getsockopt(connection->fd, SOL_SOCKET, SO_ERROR, &err, &(socklen_t){sizeof err}))
        return -errno;
    if (err)
        return -err;
    return epoll_ctl(epoll, EPOLL_CTL_MOD, connection->fd, &event) ? -errno : 0;
}

int connection_send(struct connection *connection, const char *text, size_t length)
{
    ssize_t sent = send(connection->fd, text, length, MSG_NOSIGNAL);
    if (sent < 0)
        return -errno;
    /* The previous request was answered, so the socket's send buffer has space. */
    return (size_t)sent == length ? 0 : -EIO;
}

void connection_close(struct connection *connection)
{
    close(connection->fd);
    connection->fd = -1;
    connection->state = CONNECTION_DOWN;
}
