/*
 * Closes connections without losing the last response. Closing a socket with unread data resets the
 * connection, and then a client may discard a response that it has not read. So received data is
 * discarded for a while, until the client closes (RFC 9112 section 9.6). The loop's thread.
 */
#ifndef FARLANDS_NET_LINGERING_CLOSE_H
#define FARLANDS_NET_LINGERING_CLOSE_H

#include <stdbool.h>
#include <sys/queue.h>
#include <sys/socket.h>
#include <uv.h>

#include "server/core/clock.h"

/* Initially zero but for the members above LIST. */
struct lingering_close {
    uv_loop_t *loop;
    const struct clock *clock; /* NULL: the loop's time */
    /* A connection that lingering_close_add has kept is closed. */
    void (*closed)(void *context, const struct sockaddr *peer);
    void *closed_context;
    LIST_HEAD(lingerer_list, lingerer) list;
    unsigned count;
    uv_timer_t timer;
    bool has_timer;
    bool ended; /* keep no more */
};

/*
 * Shut down FD's sending side and discard received data. If the client is still open, keep a
 * duplicate of FD, and call CLOSED with a copy of PEER when the duplicate is closed. The caller
 * closes FD. Returns true if a duplicate is kept; false also if there are too many, or if out of
 * files or memory.
 */
bool lingering_close_add(struct lingering_close *lingering, int fd, const struct sockaddr *peer,
                         socklen_t length);

/* Close all, and keep no more. LINGERING must stay until the loop has run the close callbacks. */
void lingering_close_all(struct lingering_close *lingering);

#endif
