/* One answer as it comes: what its head says, and when it is whole. Bodies are read and forgotten.
 */
#ifndef LOAD_ANSWER_H
#define LOAD_ANSWER_H

#include <stdbool.h>
#include <stdint.h>

enum { ANSWER_HEAD_MAX = 4096 };

struct answer {
    int status;       /* 0 until the head is whole */
    bool close;       /* the server then closes the connection */
    bool retry_after; /* the header is there */
    bool unbounded;   /* the body ends where the connection does */
    uint64_t missing; /* bytes of the body yet to come */
    uint64_t bytes;   /* head and body so far */
    unsigned length;  /* of what is in head */
    char head[ANSWER_HEAD_MAX];
};

void answer_begin(struct answer *answer);

/*
 * Read once from FD, which does not block. Returns 1 when the answer is whole,
 * 0 when not yet, -EBADMSG for what is not HTTP/1.x as this understands it (no
 * chunks, no 1xx, nothing behind the body), -ECONNRESET or the like for an end
 * before its time.
 */
int answer_read(struct answer *answer, int fd);

#endif
