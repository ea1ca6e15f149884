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
 * The most bytes per connection that the system takes before the client's window is open for them;
 * one write may exceed it by 64 KiB. A client that does not read would otherwise have up to 4 MiB
 * of the system's memory, which a container's limit counts. What is on its way to a client that
 * reads is not limited, so a long path is as fast as without. Accepted sockets inherit it.
 */
static void bound_unsent(int fd)
{
    const int most = 16 * 1024;
    setsockopt(fd, IPPROTO_TCP, TCP_NOTSENT_LOWAT, &most, sizeof most); /* fails if not TCP */
}

static int listen_socket(const struct addrinfo *address)
{
    int on = 1;
    int fd = socket(address->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -errno;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    bound_unsent(fd);
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
        bound_unsent(fds[i]);
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
