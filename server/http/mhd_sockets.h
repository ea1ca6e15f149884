/*
 * Functions of our own between libmicrohttpd and its sockets. libmicrohttpd 0.9.75 has no option
 * for that. But it calls recv(2) and send(2) by name, and a definition in the program precedes that
 * of the C library, as with programs that have a malloc of their own.
 */
#ifndef FARLANDS_HTTP_MHD_SOCKETS_H
#define FARLANDS_HTTP_MHD_SOCKETS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* The sockets of one libmicrohttpd daemon. Initially zero but for the functions. */
struct mhd_sockets {
    /* As recv(2). CONTEXT is that of the socket. */
    ssize_t (*read)(void *context, void *buffer, size_t size);
    /* True if the response that is being sent is a 304. libmicrohttpd adds Content-Length: 0 to it,
     * which is only true of an empty representation (RFC 9110 section 8.6). It is left out. */
    bool (*is_not_modified)(const void *context);
    void **contexts; /* by file descriptor; NULL: not one of them */
    size_t count;
};

/* Returns 0 or -ENOMEM. */
int mhd_sockets_add(struct mhd_sockets *sockets, int fd, void *context);
void mhd_sockets_remove(struct mhd_sockets *sockets, int fd);
void mhd_sockets_free(struct mhd_sockets *sockets);

/* Use SOCKETS for all calls of recv and send by this thread from now on; NULL: none. */
void mhd_sockets_use(struct mhd_sockets *sockets);

#endif
