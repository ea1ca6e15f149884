#include "answer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/uio.h>

void answer_begin(struct answer *answer)
{
    answer->status = 0;
    answer->close = answer->retry_after = answer->unbounded = answer->chunked = false;
    answer->missing = answer->bytes = 0;
    answer->length = 0;
}

/* The value of the header in LINE if it is called NAME, else NULL. */
static const char *value_of(const char *line, const char *name)
{
    size_t length = strlen(name);
    if (strncasecmp(line, name, length) != 0 || line[length] != ':')
        return NULL;
    return line + length + 1 + strspn(line + length + 1, " \t");
}

/* Parse the status line and headers; END points to the empty line after them. */
static int judge(struct answer *answer, const char *end)
{
    const char *line = answer->head, *value;
    bool bounded = false;

    if (strncmp(line, "HTTP/1.", 7) != 0 || line[8] != ' ')
        return -EBADMSG;
    answer->status = atoi(line + 9);
    answer->close = line[7] == '0';
    if (answer->status < 200 || answer->status > 599)
        return -EBADMSG;
    while ((line = memmem(line, (size_t)(end - line), "\r\n", 2)) != NULL) {
        line += 2;
        if ((value = value_of(line, "Content-Length"))) {
            answer->missing = strtoull(value, NULL, 10);
            bounded = true;
        } else if ((value = value_of(line, "Connection"))) {
            answer->close = strncasecmp(value, "close", 5) == 0;
        } else if ((value = value_of(line, "Retry-After"))) {
            answer->retry_after = true;
            answer->seconds = (unsigned)strtoul(value, NULL, 10);
        } else if (value_of(line, "Transfer-Encoding")) {
            answer->chunked = bounded = true;
        }
    }
    if (answer->status == 204 || answer->status == 304)
        answer->missing = 0;
    else
        answer->unbounded = !bounded;
    return 0;
}

/*
 * Whether BYTES end with an empty chunk. Chunks are not counted: a read that happens to end with
 * these bytes of a body is one in 2^40.
 */
static bool ends_chunks(struct answer *answer, const char *bytes, size_t length)
{
    const size_t size = sizeof answer->tail, fresh = length < size ? length : size;
    memmove(answer->tail, answer->tail + fresh, size - fresh);
    memcpy(answer->tail + size - fresh, bytes + length - fresh, fresh);
    return memcmp(answer->tail, "0\r\n\r\n", size) == 0;
}

static int take_body(struct answer *answer, size_t length)
{
    if (answer->unbounded || answer->chunked)
        return 0;
    if (length > answer->missing)
        return -EBADMSG;
    answer->missing -= length;
    return answer->missing == 0;
}

int answer_read(struct answer *answer, int fd, size_t most)
{
    char sink[ANSWER_READ_MAX];
    size_t room = answer->status ? 0 : ANSWER_HEAD_MAX - answer->length;
    const struct iovec parts[] = {{answer->head + answer->length, room}, {sink, most}};

    ssize_t got = readv(fd, parts, 2);
    if (got < 0)
        return errno == EAGAIN || errno == EINTR ? 0 : -errno;
    if (got == 0)
        return answer->status && answer->unbounded ? 1 : -ECONNRESET;
    answer->bytes += (uint64_t)got;
    if (answer->status)
        return answer->chunked ? ends_chunks(answer, sink, (size_t)got)
                               : take_body(answer, (size_t)got);
    size_t known = answer->length + (size_t)got;
    answer->length = known < ANSWER_HEAD_MAX ? (unsigned)known : ANSWER_HEAD_MAX;
    const char *end = memmem(answer->head, answer->length, "\r\n\r\n", 4);
    if (!end)
        return answer->length == ANSWER_HEAD_MAX ? -EBADMSG : 0;
    int err = judge(answer, end);
    if (err)
        return err;
    const char *body = end + 4;
    if (answer->chunked) {
        memset(answer->tail, 0, sizeof answer->tail);
        bool whole = ends_chunks(answer, body, (size_t)(answer->head + answer->length - body));
        return known > answer->length ? ends_chunks(answer, sink, known - answer->length) : whole;
    }
    return take_body(answer, known - (size_t)(body - answer->head));
}
