/*
 * Reads the requests of a connection in place of libmicrohttpd, whose parser accepts what a proxy
 * may read differently, and responds to errors in a way of its own. For each request, also one that
 * is refused, libmicrohttpd gets a stub: a line such as GET / HTTP/1.1, and Connection if it
 * matters. So it makes and sends the response to each like any other, and needs little memory.
 *
 * A refused request is the last one. Whatever follows on the connection is left unread.
 */
#ifndef FARLANDS_HTTP_REQUEST_READER_H
#define FARLANDS_HTTP_REQUEST_READER_H

#include <sys/types.h>

#include "server/http/framing.h"
#include "server/http/message.h"

/* One connection; initially zero, and private. */
struct request_reader {
    struct framing framing; /* of the head that is not complete */
    bool line_read;         /* its request line is good */
    size_t size;            /* its bytes so far */
    /* LENGTH bytes that are received and belong to no request that has begun. The first CHECKED of
     * them are good lines. SEARCHED bytes after these have no line feed. */
    char *bytes;
    size_t length, checked, searched;
    unsigned heads;   /* complete, and not begun */
    const char *stub; /* what is to be given of a stub, or "" or NULL */
    char *current;    /* the head of the current request */
    size_t current_length;
    bool ended;   /* the last head is refused: */
    bool to_head; /* its method is HEAD */
    unsigned refused;
    const char *why;
};

/*
 * As recv(2) from the socket FD, which does not block: up to SIZE bytes of stubs. Returns less than
 * SIZE only if all bytes that the socket had are read. If it ends within a head, that is refused
 * with the status AT_END for the reason WHY.
 */
ssize_t request_reader_read(struct request_reader *reader, int fd, void *buffer, size_t size,
                            unsigned at_end, const char *why);

/*
 * The next request begins: fill in REQUEST, except peer, begun and last. Its strings last until
 * request_reader_finish. If its URI is in absolute form, it gets its Host from there (RFC 9112
 * section 3.2.2). Returns false if there is no request, or if out of memory.
 */
bool request_reader_begin(struct request_reader *reader, struct http_request *request);

void request_reader_finish(struct request_reader *reader);

/* True if a part of a head has arrived. */
bool request_reader_is_amid(const struct request_reader *reader);

/* True if bytes have arrived that belong to no request that has begun. */
bool request_reader_holds(const struct request_reader *reader);

void request_reader_drop(struct request_reader *reader);

#endif
