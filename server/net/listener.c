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

#include "config/daemon/authority.h"

/*
 * Bound the system's memory per connection, because a container's limit counts it. By default that
 * is up to 4 MiB if a client does not read, and 6 MiB if a client sends while we do not read.
 * Accepted sockets inherit both options.
 *
 * Bytes that wait for the client's window to open are bounded; one write may exceed the bound by 64
 * KiB. Bytes on the way to a client that reads are not, so long paths are as fast as without the
 * option. Unread requests take up to twice RECEIVED, enough for a few of the largest heads.
 */
static void bound_memory(int fd)
{
    const int unsent = 16 * 1024, received = 16 * 1024;

    setsockopt(fd, IPPROTO_TCP, TCP_NOTSENT_LOWAT, &unsent, sizeof unsent); /* fails if not TCP */
    setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &received, sizeof received);
}

static int listen_socket(const struct addrinfo *address, bool alone)
{
    const int on = 1;
    int fd = socket(address->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -errno;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (!alone && address->ai_family == AF_INET6)
        setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on);
    bound_memory(fd);
    if (bind(fd, address->ai_addr, address->ai_addrlen) || listen(fd, SOMAXCONN)) {
        int err = -errno;
        close(fd);
        return err;
    }
    return fd;
}

/* True if ADDRESS stands in LIST twice, and this is not the first: with Debian's /etc/hosts, some
 * lookups of localhost give 127.0.0.1 twice. */
static bool is_repeated(const struct addrinfo *list, const struct addrinfo *address)
{
    for (; list != address; list = list->ai_next)
        if (list->ai_addrlen == address->ai_addrlen &&
            memcmp(list->ai_addr, address->ai_addr, address->ai_addrlen) == 0)
            return true;
    return false;
}

static void set_port(struct sockaddr *address, in_port_t port)
{
    if (address->sa_family == AF_INET6)
        ((struct sockaddr_in6 *)address)->sin6_port = port;
    else
        ((struct sockaddr_in *)address)->sin_port = port;
}

/* FD's port in network order, or 0. */
static in_port_t port_of(int fd)
{
    union {
        struct sockaddr any;
        struct sockaddr_in v4;
        struct sockaddr_in6 v6;
    } name = {.v6 = {0}};
    socklen_t length = sizeof name;

    if (getsockname(fd, &name.any, &length))
        return 0;
    return name.any.sa_family == AF_INET6 ? name.v6.sin6_port : name.v4.sin_port;
}

/* An address that this machine does not have, such as ::1 where IPv6 is turned off. */
static bool is_absent(int err)
{
    return err == -EADDRNOTAVAIL || err == -EAFNOSUPPORT;
}

static int listen_on_all(struct addrinfo *addresses, int *fds, int max)
{
    int count = 0, absent = -ENOENT;

    for (struct addrinfo *at = addresses; at && count < max; at = at->ai_next) {
        if (is_repeated(addresses, at))
            continue;
        const int fd = listen_socket(at, !addresses->ai_next);
        if (fd < 0 && !is_absent(fd)) {
            while (count > 0)
                close(fds[--count]);
            return fd;
        }
        if (fd < 0)
            absent = fd;
        else
            fds[count++] = fd;
        for (struct addrinfo *later = at->ai_next; fd >= 0 && count == 1 && later;
             later = later->ai_next)
            set_port(later->ai_addr, port_of(fd)); /* if it was 0 */
    }
    return count > 0 ? count : absent;
}

int listener_open(const char *listen_text, int *fds, int max)
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
    /* With port 0, the first address's port may be in use at another address. */
    const int tries = authority.port == 0 ? 16 : 1;
    int count = -EADDRINUSE;
    for (int i = 0; i < tries && count == -EADDRINUSE; i++) {
        for (struct addrinfo *at = addresses; at; at = at->ai_next)
            set_port(at->ai_addr, htons((uint16_t)authority.port));
        count = listen_on_all(addresses, fds, max);
    }
    freeaddrinfo(addresses);
    return count;
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
