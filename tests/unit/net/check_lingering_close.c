/* Closing connections: the response arrives, and they are closed in time. */
#include "server/net/lingering_close.h"

#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <sys/resource.h>

#include "tests/unit/support/fixtures.h"

static uv_loop_t loop;
static struct clock time_held;
static struct lingering_close lingering;
static unsigned closed;

static const struct sockaddr_in peer = {.sin_family = AF_INET, .sin_port = 7};

static void on_closed(void *context, const struct sockaddr *address)
{
    ck_assert_ptr_eq(context, &closed);
    ck_assert_mem_eq(address, &peer, sizeof peer);
    closed++;
}

static void set_up(void)
{
    ck_assert_int_eq(uv_loop_init(&loop), 0);
    lingering = (struct lingering_close){
        .loop = &loop, .clock = &time_held, .closed = on_closed, .closed_context = &closed};
}

static void tear_down(void)
{
    lingering_close_all(&lingering);
    uv_run(&loop, UV_RUN_DEFAULT);
    ck_assert_int_eq(uv_loop_close(&loop), 0);
}

/* Close FD as a server does. Returns true if a duplicate is kept. */
static bool close_lingering(int fd)
{
    bool kept = lingering_close_add(&lingering, fd, (const struct sockaddr *)&peer, sizeof peer);
    close(fd);
    return kept;
}

/* Send COUNT bytes on FD while the loop runs. Returns 0 or an error. */
static int send_all(int fd, size_t count)
{
    static char bytes[4096];
    while (count > 0) {
        ssize_t sent = send(fd, bytes, count < sizeof bytes ? count : sizeof bytes,
                            MSG_NOSIGNAL | MSG_DONTWAIT);
        uv_run(&loop, UV_RUN_NOWAIT);
        if (sent < 0 && errno != EAGAIN)
            return errno;
        count -= sent < 0 ? 0 : (size_t)sent;
    }
    return 0;
}

static void until_closed(unsigned count)
{
    while (closed < count)
        uv_run(&loop, UV_RUN_NOWAIT);
}

/* The client FD gets the complete response and then the end. */
static void assert_response(int fd)
{
    char text[16] = "";
    ck_assert_int_eq(recv(fd, text, sizeof text, 0), 8);
    ck_assert_str_eq(text, "response");
    ck_assert_int_eq(recv(fd, text, sizeof text, 0), 0);
}

static const struct {
    size_t unread, later; /* bytes sent before and after closing */
    bool kept;            /* until the client closes */
} sendings[] = {{0, 0, true},         {1, 0, true},           {0, 1, true},
                {40000, 40000, true}, {100000, 700000, true}, {0, 900000, true},
                {0, 4 << 20, false},  {4096, 1 << 20, false}};

START_TEST(test_sending)
{
    int ends[2];
    tcp_pair(ends);
    ck_assert_int_eq(send_all(ends[1], sendings[_i].unread), 0);
    ck_assert_int_eq(send(ends[0], "response", 8, 0), 8);
    ck_assert(close_lingering(ends[0]));
    int err = send_all(ends[1], sendings[_i].later);
    if (sendings[_i].kept) {
        ck_assert_int_eq(err, 0);
        ck_assert_uint_eq(closed, 0);
        assert_response(ends[1]);
        close(ends[1]);
    }
    until_closed(1);
    ck_assert_uint_eq(closed, 1);
    ck_assert_uint_eq(lingering.count, 0);
    if (!sendings[_i].kept)
        close(ends[1]);
}
END_TEST

/* Nothing is kept if the client has closed already. */
START_TEST(test_client_has_closed)
{
    int ends[2];
    tcp_pair(ends);
    ck_assert_int_eq(send_all(ends[1], 1000), 0);
    shutdown(ends[1], SHUT_WR);
    ck_assert_int_eq(send(ends[0], "response", 8, 0), 8);
    ck_assert(!close_lingering(ends[0]));
    ck_assert_uint_eq(lingering.count, 0);
    assert_response(ends[1]);
    close(ends[1]);
    ck_assert_uint_eq(closed, 0);
}
END_TEST

START_TEST(test_silent_client)
{
    int ends[2];
    tcp_pair(ends);
    ck_assert(close_lingering(ends[0]));
    clock_advance(&time_held, 1999 * NS_PER_MS);
    for (int i = 0; i < 5; i++) {
        poll(NULL, 0, 10);
        uv_run(&loop, UV_RUN_NOWAIT);
    }
    ck_assert_uint_eq(closed, 0);
    clock_advance(&time_held, NS_PER_MS);
    until_closed(1);
    close(ends[1]);
}
END_TEST

/* Up to 64 are kept; more are closed at once. */
START_TEST(test_many)
{
    int ends[100][2];
    unsigned kept = 0;
    for (int i = 0; i < ROWS(ends); i++) {
        tcp_pair(ends[i]);
        kept += close_lingering(ends[i][0]);
    }
    ck_assert_uint_eq(kept, 64);
    ck_assert_uint_eq(lingering.count, kept);
    for (int i = 0; i < ROWS(ends); i++)
        close(ends[i][1]);
    until_closed(kept);
    ck_assert_uint_eq(lingering.count, 0);
}
END_TEST

START_TEST(test_close_all)
{
    int ends[3][2];
    for (int i = 0; i < 3; i++)
        tcp_pair(ends[i]);
    ck_assert(close_lingering(ends[0][0]));
    ck_assert(close_lingering(ends[1][0]));
    lingering_close_all(&lingering);
    ck_assert_uint_eq(closed, 2);
    /* Received data is still discarded, so that the response arrives. */
    ck_assert_int_eq(send_all(ends[2][1], 1000), 0);
    ck_assert_int_eq(send(ends[2][0], "response", 8, 0), 8);
    ck_assert(!close_lingering(ends[2][0]));
    ck_assert_uint_eq(closed, 2);
    assert_response(ends[2][1]);
    for (int i = 0; i < 3; i++)
        close(ends[i][1]);
}
END_TEST

START_TEST(test_out_of_files)
{
    int ends[2];
    struct rlimit limit;
    tcp_pair(ends);
    ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
    const struct rlimit full = {.rlim_cur = (rlim_t)ends[0] + 1, .rlim_max = limit.rlim_max};
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &full), 0);
    while (dup(ends[0]) >= 0) /* use up lower free numbers */
        ;
    ck_assert(!close_lingering(ends[0]));
    ck_assert_uint_eq(closed, 0);
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
    close(ends[1]);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("lingering_close");
    TCase *tcase = suite_case(suite, "lingering_close");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_loop_test(tcase, test_sending, 0, ROWS(sendings));
    tcase_add_test(tcase, test_client_has_closed);
    tcase_add_test(tcase, test_silent_client);
    tcase_add_test(tcase, test_many);
    tcase_add_test(tcase, test_close_all);
    tcase_add_test(tcase, test_out_of_files);
    return suite_run(suite);
}
