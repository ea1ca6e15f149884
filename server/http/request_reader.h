/*
 * Reads the requests of a connection for libmicrohttpd, whose parser accepts what a proxy may read
 * differently, and responds to errors in a way of its own. What it gets from here are complete
 * heads of well-formed lines, with no other headers than those that the server uses.
 *
 * A refused request is the last one that it gets: the good lines of its head, or a substitute.
 * Whatever follows on the connection is left unread.
 */
#ifndef FARLANDS_HTTP_REQUEST_READER_H
#define FARLANDS_HTTP_REQUEST_READER_H

#include <sys/types.h>

#include "server/http/framing.h"

/* libmicrohttpd's memory of a connection, in bytes: heads are limited so that they fit. */
enum { REQUEST_MEMORY = 16 * 1024 };

/* The bytes of a connection: READY are to be given; then, up to KEPT, good lines of a head that is
 * not complete, up to LENGTH, what is not checked yet. */
struct reader_window {
    char *bytes;
    size_t ready, kept, length;
};

/* One connection. Initially zero; other members than HEADS and REFUSED are private. */
struct request_reader {
    struct framing framing; /* of the head that is not complete */
    bool line_read;         /* its request line is good */
    bool to_head;           /* its method is HEAD */
    size_t size;            /* its bytes so far, with lines that are not kept */
    size_t searched;        /* unchecked bytes without a line feed */
    struct reader_window held;
    size_t capacity; /* of held */
    unsigned heads;  /* complete, and not begun by request_reader_begin */
    bool ended;      /* the last one is refused */
    unsigned refused;
    const char *why;
};

/*
 * As recv(2) from the socket FD, which does not block: up to SIZE bytes of checked heads. Returns
 * less than SIZE only if all bytes that the socket had are read. If it ends within a head, that is
 * refused with the status AT_END.
 */
ssize_t request_reader_read(struct request_reader *reader, int fd, void *buffer, size_t size,
                            unsigned at_end);

/* The next request begins. Returns false if none was given. Sets *REFUSED, and *WHY if that is not
 * 0, to its verdict. */
bool request_reader_begin(struct request_reader *reader, unsigned *refused, const char **why);

/* True if a part of a head has arrived. */
bool request_reader_is_amid(const struct request_reader *reader);

/* True if bytes are held that were not given. */
bool request_reader_holds(const struct request_reader *reader);

void request_reader_drop(struct request_reader *reader);

#endif
