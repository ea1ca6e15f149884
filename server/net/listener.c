#include "listener.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <systemd/sd-daemon.h>
#include <unistd.h>

#include "config/authority.h"

/*
 * Bound the memory that the system takes for a connection, which a container's limit counts: by
 * default up to 4 MiB for a client that does not read, and 6 MiB for one that sends while it is not
 * heard. Accepted sockets inherit both options.
 *
 * What waits for the client's window to open is bounded; one write may exceed it by 64 KiB. What is
 * on its way to a client that reads is not, so a long path is as fast as without. Unread requests
 * take up to twice RECEIVED, enough for a few of the largest heads.
 */
static void bound_memory(int fd)
{
    const int unsent = 16 * 1024, received = 16 * 1024;

    setsockopt(fd, IPPROTO_TCP, TCP_NOTSENT_LOWAT, &unsent, sizeof unsent); /* fails if not TCP */
    setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &received, sizeof received);
}

static int listen_socket(const struct addrinfo *address)
{
    int on = 1;
    int fd = socket(address->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -errno;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    bound_memory(fd);
    if (bind(fd, address->ai_addr, address->ai_addrlen) || listen(fd, SOMAXCONN)) {
        int err = -errno;
        close(fd);
        return err;
    }
    return fd;
}

int listener_open(const char *listen_text)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE};
    struct addrinfo *addresses;
    char host[AUTHORITY_MAX], port[16];
    struct authority authority;

    if (authority_parse(&authority, listen_text, strlen(listen_text)))
        return -ENOENT;
    snprintf(host, sizeof host, "%.*s", (int)authority.host_length, authority.host);
    snprintf(port, sizeof port, "%d", authority.port);
    int err = getaddrinfo(host, port, &hints, &addresses);
    if (err)
        return err == EAI_MEMORY ? -ENOMEM : -ENOENT;
    int fd = listen_socket(addresses);
    freeaddrinfo(addresses);
    return fd;
}

int listener_inherit(int *fds, int max)
{
    int count = sd_listen_fds(1);
    if (count < 0)
        return count;
    if (count > max)
        return -E2BIG;
    for (int i = 0; i < count; i++) {
        fds[i] = SD_LISTEN_FDS_START + i;
        if (sd_is_socket(fds[i], AF_UNSPEC, SOCK_STREAM, 1) <= 0)
            return -ENOTSOCK;
        int flags = fcntl(fds[i], F_GETFL);
        if (flags < 0 || fcntl(fds[i], F_SETFL, flags | O_NONBLOCK))
            return -errno;
        bound_memory(fds[i]);
    }
    return count;
}

void listener_address(int fd, char *address, size_t size)
{
    struct sockaddr_storage name = {0};
    socklen_t length = sizeof name;
    char host[200], port[16];

    snprintf(address, size, "?");
    if (getsockname(fd, (struct sockaddr *)&name, &length))
        return;
    if (name.ss_family == AF_UNIX) {
        snprintf(address, size, "unix:%s", ((struct sockaddr_un *)&name)->sun_path);
        return;
    }
    if (getnameinfo((struct sockaddr *)&name, length, host, sizeof host, port, sizeof port,
                    NI_NUMERICHOST | NI_NUMERICSERV))
        return;
    bool brackets = strchr(host, ':') != NULL;
    snprintf(address, size, "%s%s%s:%s", brackets ? "[" : "", host, brackets ? "]" : "", port);
}
