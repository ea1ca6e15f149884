/* Opens or inherits listening sockets. */
#ifndef FARLANDS_NET_LISTENER_H
#define FARLANDS_NET_LISTENER_H

#include <stddef.h>

/*
 * Listen on LISTEN, HOST:PORT or [HOST]:PORT: on all the host's addresses, up to MAX. Addresses
 * that no interface has are left out, unless that leaves none. With port 0 all have the same port.
 * FDS are non-blocking. Returns how many, or a negative code: -EADDRINUSE, -EACCES, -EADDRNOTAVAIL,
 * ..., -ENOENT for an unknown host.
 */
int listener_open(const char *listen, int *fds, int max);

/* Get listening sockets from the service manager (sd_listen_fds(3)), and make them non-blocking.
 * Returns how many; -E2BIG for more than MAX; -ENOTSOCK if one is not a listening stream socket. */
int listener_inherit(int *fds, int max);

/* Format FD's address: HOST:PORT, [HOST]:PORT or unix:PATH; "?" if unknown. */
void listener_address(int fd, char *address, size_t size);

#endif
