#include "socket_state.h"

#include <linux/tcp.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

/* tcpi_state, as in netinet/tcp.h, which excludes linux/tcp.h. */
enum { CLOSED = 7, CLOSE_WAIT = 8 };

bool socket_tcp(int fd, struct socket_tcp *out)
{
    struct tcp_info info = {.tcpi_state = 0};
    socklen_t size = sizeof info;

    if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size))
        return false;
    *out = (struct socket_tcp){.left = info.tcpi_state == CLOSE_WAIT || info.tcpi_state == CLOSED,
                               .received = info.tcpi_bytes_received,
                               .taken = info.tcpi_bytes_acked};
    return true;
}

bool socket_has_left(int fd)
{
    struct pollfd peer = {.fd = fd, .events = POLLRDHUP};
    return poll(&peer, 1, 0) == 1;
}

bool socket_has_unread(int fd)
{
    int unread = 0;
    return ioctl(fd, FIONREAD, &unread) == 0 && unread > 0;
}

bool socket_has_unsent(int fd)
{
    int unsent = 0;
    return ioctl(fd, TIOCOUTQ, &unsent) == 0 && unsent > 0;
}

/* Connecting to AF_UNSPEC resets a TCP connection (tcp(7)). */
void socket_reset(int fd)
{
    const struct sockaddr unspecified = {.sa_family = AF_UNSPEC};
    (void)connect(fd, &unspecified, sizeof unspecified);
    shutdown(fd, SHUT_RDWR);
}
