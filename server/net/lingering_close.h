/*
 * Connections after their last answer whose clients may still be sending. Closed with bytes
 * unread a connection is reset, and the reset may overtake the answer: so what comes is read and
 * thrown away for a while (RFC 9112 section 9.6). Knows nothing of HTTP. One thread, the loop's.
 */
#ifndef FARLANDS_NET_LINGERING_CLOSE_H
#define FARLANDS_NET_LINGERING_CLOSE_H

#include <stdbool.h>
#include <sys/socket.h>
#include <uv.h>

struct lingerer;

/* All zero but for what is above FIRST: none. */
struct lingering_close {
    uv_loop_t *loop;
    /* One that was taken is closed. */
    void (*closed)(void *context, const struct sockaddr *peer);
    void *closed_context;
    struct lingerer *first;
    unsigned count;
    bool ended; /* no more are kept */
};

/*
 * End what is sent on the socket FD, and throw away what has come. Where its client has not closed
 * it yet, a duplicate is kept to go on with that: then CLOSED is called with a copy of PEER once
 * it, too, is closed. FD stays the caller's, who closes it. Returns whether a duplicate is kept:
 * not where there are many already, nor where files or memory are out.
 */
bool lingering_close_add(struct lingering_close *lingering, int fd, const struct sockaddr *peer,
                         socklen_t length);

/* Close those that have had their time; to be called every 250 ms. */
void lingering_close_expire(struct lingering_close *lingering);

/* Close all of them, and keep none from now on. Their memory goes when the loop runs its close
 * callbacks. */
void lingering_close_all(struct lingering_close *lingering);

#endif
