/* Listening sockets, and the files that a process may open. */
#ifndef FARLANDS_NET_LISTENER_H
#define FARLANDS_NET_LISTENER_H

#include <stddef.h>

/*
 * Listen on LISTEN, HOST:PORT or [HOST]:PORT. Returns a descriptor, or
 * -EADDRINUSE, -EACCES, -EADDRNOTAVAIL, ..., or -ENOENT for an unknown host.
 */
int listener_open(const char *listen);

/*
 * The listening sockets that the service manager has opened for this process
 * (sd_listen_fds(3)), made to not block. Returns how many; -E2BIG for more than
 * MAX, -ENOTSOCK where one is no listening stream socket.
 */
int listener_inherit(int *fds, int max);

/* The address that FD listens on, as HOST:PORT, [HOST]:PORT or unix:PATH. */
void listener_address(int fd, char *address, size_t size);

/* Let FILES descriptors be open, or as many as the hard limit allows. Returns
 * how many may be. */
unsigned listener_raise_file_limit(unsigned files);

#endif
