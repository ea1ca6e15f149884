/* The state of a connected socket, over a Unix socket and over TCP. */
#include "server/net/socket_state.h"

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <sys/socket.h>

#include "tests/unit/support/fixtures.h"

enum { UNIX, TCP, FAMILIES };

static int ends[2]; /* the socket and its client's */

static void connect_over(int family)
{
    if (family == TCP)
        tcp_pair(ends);
    else
        ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends), 0);
}

static void close_both(void)
{
    close(ends[0]);
    close(ends[1]);
}

/* Wait until the socket has the EVENTS of poll. */
static void until(short events)
{
    struct pollfd ready = {.fd = ends[0], .events = events};
    ck_assert_int_eq(poll(&ready, 1, 30000), 1);
}

START_TEST(test_arrival)
{
    struct socket_tcp tcp;

    connect_over(_i);
    ck_assert(!socket_has_unread(ends[0]));
    ck_assert(!socket_has_left(ends[0]));
    ck_assert_int_eq(send(ends[1], "head", 4, 0), 4);
    until(POLLIN);
    ck_assert(socket_has_unread(ends[0]));
    ck_assert_int_eq(recv(ends[0], (char[4]){0}, 4, 0), 4);
    ck_assert(!socket_has_unread(ends[0]));
    ck_assert_int_eq(socket_tcp(ends[0], &tcp), _i == TCP);
    if (_i == TCP) {
        ck_assert_uint_eq(tcp.received, 4);
        ck_assert(!tcp.left);
    }
    close_both();
}
END_TEST

START_TEST(test_leaving)
{
    struct socket_tcp tcp;

    connect_over(_i);
    shutdown(ends[1], SHUT_WR);
    until(POLLRDHUP);
    ck_assert(socket_has_left(ends[0]));
    ck_assert_int_eq(socket_tcp(ends[0], &tcp), _i == TCP);
    if (_i == TCP)
        ck_assert(tcp.left);
    close_both();
}
END_TEST

/* The client reads late, then not at all: the reset discards what it has not taken. */
START_TEST(test_sending)
{
    static char bytes[1 << 16];
    struct socket_tcp tcp;
    ssize_t count;
    size_t given = 0, taken = 0;

    connect_over(_i);
    ck_assert(!socket_has_unsent(ends[0]));
    while ((count = send(ends[0], bytes, sizeof bytes, MSG_DONTWAIT)) > 0)
        given += (size_t)count;
    ck_assert(socket_has_unsent(ends[0]));
    while (taken < given && (count = recv(ends[1], bytes, sizeof bytes, 0)) > 0)
        taken += (size_t)count;
    ck_assert_uint_eq(taken, given);
    while (socket_has_unsent(ends[0])) /* until the client's system has acknowledged it */
        sched_yield();
    if (_i == TCP) {
        ck_assert(socket_tcp(ends[0], &tcp));
        ck_assert_uint_ge(tcp.taken, given);
    }
    ck_assert_int_gt(send(ends[0], bytes, sizeof bytes, MSG_DONTWAIT), 0);
    socket_reset(ends[0]);
    count = recv(ends[0], bytes, sizeof bytes, 0);
    ck_assert(count == 0 || (count < 0 && errno != EAGAIN));
    if (_i == TCP) {
        while ((count = recv(ends[1], bytes, sizeof bytes, 0)) > 0)
            ;
        ck_assert(count < 0 && errno == ECONNRESET);
    }
    close_both();
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("socket state");
    TCase *tcase = suite_case(suite, "socket state");
    tcase_add_loop_test(tcase, test_arrival, 0, FAMILIES);
    tcase_add_loop_test(tcase, test_leaving, 0, FAMILIES);
    tcase_add_loop_test(tcase, test_sending, 0, FAMILIES);
    return suite_run(suite);
}
