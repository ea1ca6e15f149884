/* An incremental reader for one response: parses its head, discards its body. */
#ifndef LOAD_ANSWER_H
#define LOAD_ANSWER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { ANSWER_HEAD_MAX = 4096 };

struct answer {
    int status;       /* 0 until the head is complete */
    bool close;       /* the server closes the connection afterwards */
    bool retry_after; /* the header is present */
    unsigned seconds; /* its value */
    bool unbounded;   /* the body ends when the connection does */
    bool chunked;     /* the body ends with an empty chunk */
    char tail[5];     /* the last bytes of a chunked body */
    uint64_t missing; /* bytes of the body still to be read */
    uint64_t bytes;   /* of head and body, so far */
    unsigned length;  /* bytes used in head */
    char head[ANSWER_HEAD_MAX];
};

void answer_begin(struct answer *answer);

enum { ANSWER_READ_MAX = 64 * 1024 };

/*
 * Read once from the non-blocking FD, at most MOST bytes. Returns 1 if the response is complete, 0
 * if not yet, -EBADMSG if it is not the HTTP/1.x this reader supports (no 1xx, nothing after the
 * body), and -ECONNRESET or another error if the connection ends too early.
 */
int answer_read(struct answer *answer, int fd, size_t most);

#endif
