/* Accepting: the limits of connections, in all and per client, and what is done for those that wait
 * for room. */
#include "server/net/acceptor.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>

#include "server/net/listener.h"
#include "tests/unit/support/fixtures.h"

enum { LIMIT = 3, MOST = 64 };

static uv_loop_t loop;
static struct clock time_held; /* of sockets that linger */
static struct acceptor *acceptor;
static struct client_limits *clients;
static struct metrics metrics;
static struct sockaddr_in address;
static unsigned per_client, asked; /* ASKED: calls of make_room */
static int handed[MOST], count;    /* the connections that were handed off */
static struct sockaddr_storage peer;

static unsigned limit_for(void *context, const struct sockaddr *client)
{
    (void)context, (void)client;
    return per_client;
}

static void hand_off(void *context, int fd, const struct sockaddr *client, socklen_t length)
{
    (void)context;
    memcpy(&peer, client, length);
    handed[count++] = fd;
}

static void make_room(void *context)
{
    (void)context;
    asked++;
}

static void set_up(void)
{
    struct acceptor_parts parts = {.loop = &loop,
                                   .clock = &time_held,
                                   .count = 1,
                                   .metrics = &metrics,
                                   .limit_for = limit_for,
                                   .hand_off = hand_off,
                                   .make_room = make_room};
    socklen_t length = sizeof address;

    ck_assert_int_eq(uv_loop_init(&loop), 0);
    ck_assert_int_eq(client_limits_new(&clients), 0);
    parts.clients = clients;
    ck_assert_int_eq(listener_open("127.0.0.1:0", parts.sockets, 1), 1);
    ck_assert_int_eq(getsockname(parts.sockets[0], (struct sockaddr *)&address, &length), 0);
    ck_assert_int_eq(acceptor_new(&acceptor, &parts, LIMIT), 0);
}

static void tear_down(void)
{
    acceptor_stop(acceptor, false);
    acceptor_close(acceptor);
    uv_run(&loop, UV_RUN_DEFAULT);
    acceptor_free(acceptor);
    client_limits_free(clients);
    ck_assert_int_eq(uv_loop_close(&loop), 0);
}

static int come(void)
{
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    ck_assert_int_eq(connect(fd, (struct sockaddr *)&address, sizeof address), 0);
    return fd;
}

static void turn(void)
{
    uv_run(&loop, UV_RUN_NOWAIT);
    usleep(100);
}

/* For MS milliseconds of the loop, in which something must not happen. */
static void linger(unsigned ms)
{
    uv_update_time(&loop);
    for (const uint64_t end = uv_now(&loop) + ms; uv_now(&loop) < end;)
        turn();
}

/* Until NUMBER connections were handed over. */
static void turn_until(int number)
{
    while (count < number)
        turn();
    ck_assert_int_eq(count, number);
}

/* Until room was asked for NUMBER times. */
static void until_asked(unsigned number)
{
    while (asked < number)
        turn();
}

static int lowest_free_file(void)
{
    const int fd = dup(0);
    close(fd);
    return fd;
}

static void leave_one(void)
{
    close(handed[--count]);
    acceptor_closed(acceptor, (const struct sockaddr *)&peer);
}

/* Room is asked for while connections wait and all are in use, repeatedly, and not otherwise. */
START_TEST(test_room)
{
    for (int i = 0; i < LIMIT; i++)
        come();
    turn_until(LIMIT);
    linger(100);
    ck_assert_uint_eq(asked, 0);
    come();
    come();
    until_asked(3);
    ck_assert_int_eq(count, LIMIT);
    for (int i = 0; i < 2; i++) {
        leave_one();
        turn_until(LIMIT);
    }
    linger(50);
    const unsigned before = asked;
    linger(100);
    ck_assert_uint_eq(asked, before);
    /* Also after a higher and a lower limit. */
    come();
    until_asked(before + 1);
    acceptor_limit(acceptor, LIMIT + 1);
    turn_until(LIMIT + 1);
    acceptor_limit(acceptor, 1);
    come();
    leave_one();
    linger(30);
    ck_assert_int_eq(count, LIMIT);
    ck_assert_uint_eq(acceptor_open(acceptor), LIMIT);
}
END_TEST

/* However fast room is made and taken, it is not asked for more often. */
START_TEST(test_pace)
{
    enum { TURNS = 20 };
    for (int i = 0; i < LIMIT + TURNS; i++)
        come();
    turn_until(LIMIT);
    const uint64_t begun = uv_now(&loop);
    for (int i = 0; i < TURNS; i++) {
        turn_until(LIMIT);
        turn(); /* others wait, and there is no room */
        leave_one();
    }
    uv_update_time(&loop);
    ck_assert_uint_ge(asked, 1);
    ck_assert_uint_le(asked, 2 + (uv_now(&loop) - begun) / 25);
}
END_TEST

/* A connection beyond its client's limit gets a complete response and then the end, also if its
 * request arrives later. */
START_TEST(test_refusal)
{
    char response[1024] = "";
    unsigned length;
    int size = 0;

    per_client = 1;
    come();
    turn_until(1);
    int fd = come();
    for (ssize_t got = 1; got > 0; size += got > 0 ? (int)got : 0) {
        struct pollfd ready = {.fd = fd, .events = POLLIN};
        while (poll(&ready, 1, 1) == 0)
            uv_run(&loop, UV_RUN_NOWAIT);
        if (size == 0)
            ck_assert_int_eq(send(fd, "GET / HTTP/1.1\r\n\r\n", 18, 0), 18);
        turn();
        got = recv(fd, response + size, sizeof response - 1 - (size_t)size, 0);
        ck_assert_int_ge(got, 0);
    }
    ck_assert_int_eq(strncmp(response, "HTTP/1.1 503 ", 13), 0);
    const char *body = strstr(response, "\r\n\r\n") + 4;
    ck_assert_int_eq(sscanf(strstr(response, "Content-Length:"), "Content-Length: %u", &length), 1);
    ck_assert_uint_eq(length, strlen(body));
    ck_assert_int_eq(strncmp(body, "{\"error\":\"", 10), 0);
    ck_assert_int_eq(count, 1);
    ck_assert_uint_eq(acceptor_open(acceptor), 1);
    close(fd);
    /* Many of them need neither files nor time. */
    const int first = lowest_free_file();
    for (unsigned i = 0; i < 300; i++) {
        come();
        while (metrics.count[METRIC_CLOSED_LIMIT] < 2 + i)
            turn();
    }
    ck_assert_int_ge(lowest_free_file(), first + 300 + 60); /* some are kept for 2 s */
    clock_advance(&time_held, 2000 * NS_PER_MS);
    while (lowest_free_file() > first + 300)
        turn();
    ck_assert_uint_eq(acceptor_open(acceptor), 1);
    ck_assert_uint_eq(metrics.count[METRIC_CLOSED_LIMIT], 301);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("acceptor");
    TCase *tcase = suite_case(suite, "acceptor");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, test_room);
    tcase_add_test(tcase, test_pace);
    tcase_add_test(tcase, test_refusal);
    return suite_run(suite);
}
