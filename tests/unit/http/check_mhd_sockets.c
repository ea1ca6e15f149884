/* A 304 loses its Content-Length on the way to the socket, whatever parts of it the socket takes.
 */
#include "server/http/mhd_sockets.h"

#include <errno.h>
#include <sys/socket.h>

#include "tests/unit/support/fixtures.h"

static char sent[8192];
static size_t sent_length, room; /* bytes that the socket takes at a time; 0: EAGAIN */

/* In place of the C library's. */
ssize_t sendto(int fd, const void *bytes, size_t size, int flags, const struct sockaddr *address,
               socklen_t length)
{
    const size_t count = size < room ? size : room;
    (void)fd, (void)flags, (void)address, (void)length;
    if (count == 0 && size > 0) {
        errno = EAGAIN;
        return -1;
    }
    memcpy(sent + sent_length, bytes, count);
    sent_length += count;
    return (ssize_t)count;
}

enum { FD = 5, OTHER_FD = 6 };

static bool is_not_modified(const void *context)
{
    return *(const bool *)context;
}

/* Send BYTES as libmicrohttpd does: again from the first byte that was not taken. */
static void send_all(int fd, const char *bytes, size_t size)
{
    for (size_t at = 0; at < size;) {
        const ssize_t count = send(fd, bytes + at, size - at, 0);
        must(count > 0 && (size_t)count <= size - at, "%zd of %zu", count, size - at);
        at += (size_t)count;
    }
}

#define HEAD "HTTP/1.1 304 Not Modified\r\nETag: \"a\"\r\n"
#define LENGTH "Content-Length: 0\r\n"

static const struct {
    const char *bytes, *sent;
} rows[] = {
    {HEAD LENGTH "\r\n", HEAD "\r\n"},
    {HEAD "\r\n", HEAD "\r\n"},
    {HEAD LENGTH "X: a\r\n\r\n", HEAD LENGTH "X: a\r\n\r\n"},
    {LENGTH "\r\n", "\r\n"},
    {"\r\n", "\r\n"},
};

START_TEST(test_parts)
{
    bool not_modified = true, other = false;
    struct mhd_sockets sockets = {.is_not_modified = is_not_modified};
    ck_assert_int_eq(mhd_sockets_add(&sockets, FD, &not_modified), 0);
    ck_assert_int_eq(mhd_sockets_add(&sockets, OTHER_FD, &other), 0);
    mhd_sockets_use(&sockets);
    for (room = 1; room < 100; room++) {
        sent_length = 0;
        send_all(FD, rows[_i].bytes, strlen(rows[_i].bytes));
        must(sent_length == strlen(rows[_i].sent) && memcmp(sent, rows[_i].sent, sent_length) == 0,
             "%zu at a time: %.*s", room, (int)sent_length, sent);
        /* Other responses, and other sockets. */
        for (int fd = OTHER_FD; fd <= OTHER_FD + 1; fd++) {
            sent_length = 0;
            send_all(fd, rows[_i].bytes, strlen(rows[_i].bytes));
            must(sent_length == strlen(rows[_i].bytes), "socket %d: %zu", fd, sent_length);
        }
    }
    room = 0;
    errno = 0;
    ck_assert_int_eq(send(FD, rows[_i].bytes, strlen(rows[_i].bytes), 0), -1);
    ck_assert_int_eq(errno, EAGAIN);
    mhd_sockets_use(NULL);
    mhd_sockets_free(&sockets);
}
END_TEST

START_TEST(test_large)
{
    static char bytes[5000];
    bool not_modified = true;
    struct mhd_sockets sockets = {.is_not_modified = is_not_modified};
    ck_assert_int_eq(mhd_sockets_add(&sockets, FD, &not_modified), 0);
    mhd_sockets_use(&sockets);
    memset(bytes, 'a', sizeof bytes);
    for (size_t size = 4000; size < sizeof bytes; size++) {
        memcpy(bytes + size - sizeof LENGTH "\r\n" + 1, LENGTH "\r\n", sizeof LENGTH "\r\n" - 1);
        sent_length = 0;
        room = size;
        send_all(FD, bytes, size);
        must(sent_length == (size <= 4096 ? size - sizeof LENGTH + 1 : size), "%zu", size);
        memset(bytes, 'a', sizeof bytes);
    }
    mhd_sockets_use(NULL);
    mhd_sockets_free(&sockets);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("mhd_sockets");
    TCase *tcase = suite_case(suite, "304");
    tcase_add_loop_test(tcase, test_parts, 0, ROWS(rows));
    tcase_add_test(tcase, test_large);
    return suite_run(suite);
}
