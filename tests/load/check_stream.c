/* Streams of requests against a socket of this test, with times that the test chooses. */
#include "tests/load/stream.h"

#include <check.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/load/report.h"

static const uint64_t MS = 1000000, START = 1000000000;
#define OK "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx"
#define SHED "HTTP/1.1 503 No\r\nRetry-After: 2\r\nContent-Length: 0\r\n\r\n"

static struct plan plan;
static struct stream *stream;
static int listener, epoll, server;

/* A stream of the options in TEXT, whose requests are due from START to END ns later, and its first
 * connection. Below, times are ns after START. */
static void begin(const char *text, uint64_t end)
{
    static char words[256], target[32];
    char *argv[32] = {(char *)"open_loop"};
    int argc = 1;
    struct epoll_event event;
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};

    listener = socket(AF_INET, SOCK_STREAM, 0);
    ck_assert_int_eq(bind(listener, (struct sockaddr *)&address, sizeof address), 0);
    ck_assert_int_eq(listen(listener, 64), 0);
    getsockname(listener, (struct sockaddr *)&address, &(socklen_t){sizeof address});
    snprintf(words, sizeof words, "%s", text);
    for (char *word = strtok(words, " "); word; word = strtok(NULL, " "))
        argv[argc++] = word;
    snprintf(target, sizeof target, "127.0.0.1:%d", ntohs(address.sin_port));
    argv[argc++] = target;
    optind = 0;
    ck_assert_int_eq(plan_parse(&plan, argc, argv), PLAN_MADE);
    epoll = epoll_create1(0);
    ck_assert_int_eq(stream_new(&stream, &plan.stream[0], &plan, epoll, 1), 0);
    stream_turn(stream, 0);
    server = accept(listener, NULL, NULL);
    ck_assert_int_ge(server, 0);
    ck_assert_int_eq(epoll_wait(epoll, &event, 1, 10000), 1);
    stream_event(event.data.ptr, event.events, 0);
    stream_begin(stream, START, START + end);
}

static void finish(void)
{
    stream_free(stream);
    plan_free(&plan);
    close(server);
    close(epoll);
    close(listener);
}

/* The stream notices at NOW what happened to its connections, and sends what is due. */
static void turn(uint64_t now)
{
    struct epoll_event events[16];
    int count = epoll_wait(epoll, events, 16, 0);
    for (int i = 0; i < count; i++)
        stream_event(events[i].data.ptr, events[i].events, START + now);
    stream_turn(stream, START + now);
}

/* When the stream, called at NOW, is to be called again. */
static uint64_t wakes(uint64_t now)
{
    return stream_turn(stream, START + now) - START;
}

/* The requests that have arrived at the server since the last call. */
static unsigned arrived(void)
{
    char text[8192];
    unsigned count = 0;
    ssize_t length = recv(server, text, sizeof text - 1, MSG_DONTWAIT);
    text[length > 0 ? length : 0] = '\0';
    for (const char *at = text; (at = strstr(at, "GET ")); at++)
        count++;
    return count;
}

static void respond(const char *text, uint64_t now)
{
    ck_assert_int_eq(send(server, text, strlen(text), 0), (ssize_t)strlen(text));
    ck_assert_int_eq(poll(&(struct pollfd){.fd = epoll, .events = POLLIN}, 1, 10000), 1);
    turn(now);
}

/* Buckets are 1/64 wide, and the maximum is exact. */
static void assert_near(uint64_t ns, uint64_t expected)
{
    ck_assert_uint_ge(ns, expected);
    ck_assert_uint_le(ns, expected + expected / 64);
}

START_TEST(test_quantiles)
{
    struct latencies *latencies = calloc(1, sizeof *latencies);
    ck_assert_uint_eq(latencies_within(latencies, 0.5), 0);
    for (uint64_t i = 1; i <= 1000; i++)
        latencies_add(latencies, i * MS);
    ck_assert_uint_eq(latencies->count, 1000);
    for (unsigned percent = 1; percent < 100; percent++)
        assert_near(latencies_within(latencies, percent / 100.0), percent * 10 * MS);
    ck_assert_uint_eq(latencies_within(latencies, 1), 1000 * MS);
    free(latencies);
}
END_TEST

/* One connection, and a server that stalls once for 400 ms: eight requests that became due
 * meanwhile waited. A closed loop would see a single slow request. */
START_TEST(test_latency_counts_from_when_due)
{
    begin("--rate 20 --connections 1", 1000 * MS);
    turn(0);
    ck_assert_uint_eq(arrived(), 1);
    for (uint64_t now = 50 * MS; now < 400 * MS; now += 50 * MS)
        turn(now);
    ck_assert_uint_eq(arrived(), 0);
    for (unsigned i = 0; i < 9; i++) {
        respond(OK, 400 * MS);
        ck_assert_uint_eq(arrived(), i < 8);
    }
    for (uint64_t now = 450 * MS; now < 1000 * MS; now += 50 * MS) {
        ck_assert_uint_eq(wakes(now - 1), now);
        turn(now);
        respond(OK, now + 5 * MS);
    }
    const struct stream_counts *counts = stream_counts(stream);
    ck_assert(stream_done(stream));
    ck_assert_uint_eq(counts->due, 20);
    ck_assert_uint_eq(counts->answered, 20);
    ck_assert_uint_eq(counts->waited, 8);
    ck_assert_uint_eq(counts->all.max, 400 * MS);
    /* 400, 350, ... 50, 0 and eleven times 5. */
    assert_near(latencies_within(&counts->all, 0.5), 5 * MS);
    assert_near(latencies_within(&counts->all, 0.9), 300 * MS);
    assert_near(latencies_within(&counts->all, 0.95), 350 * MS);
    finish();
}
END_TEST

START_TEST(test_lost_requests_count_by_age)
{
    begin("--rate 100 --connections 1", 500 * MS);
    turn(0);
    stream_end(stream, START + 1000 * MS);
    const struct stream_counts *counts = stream_counts(stream);
    ck_assert_uint_eq(counts->due, 50);
    ck_assert_uint_eq(counts->unanswered, 1);
    ck_assert_uint_eq(counts->unsent, 49);
    ck_assert_uint_eq(counts->all.count, 50);
    ck_assert_uint_eq(counts->all.max, 1000 * MS);
    assert_near(latencies_within(&counts->all, 0.02), 510 * MS);
    finish();
}
END_TEST

START_TEST(test_abandons_when_patience_ends)
{
    begin("--rate 1 --connections 1 --abandon 1@20", 1000 * MS);
    turn(0);
    ck_assert_uint_eq(wakes(20 * MS - 1), 20 * MS);
    ck_assert_uint_eq(stream_counts(stream)->abandoned, 0);
    turn(20 * MS);
    ck_assert_uint_eq(stream_counts(stream)->abandoned, 1);
    finish();
}
END_TEST

START_TEST(test_closed_loop_pauses_and_obeys)
{
    begin("--closed --pause 30 --obey --requests 3 --connections 1", 10000 * MS);
    turn(0);
    ck_assert_uint_eq(arrived(), 1);
    respond(OK, 5 * MS);
    ck_assert_uint_eq(wakes(35 * MS - 1), 35 * MS);
    ck_assert_uint_eq(arrived(), 0);
    turn(35 * MS);
    ck_assert_uint_eq(arrived(), 1);
    respond(SHED, 40 * MS);
    ck_assert_uint_eq(wakes(2040 * MS - 1), 2040 * MS);
    ck_assert_uint_eq(arrived(), 0);
    turn(2040 * MS);
    ck_assert_uint_eq(arrived(), 1);
    ck_assert(!stream_done(stream));
    respond(OK, 2050 * MS);
    ck_assert(stream_done(stream));
    ck_assert_uint_eq(stream_counts(stream)->all.max, 10 * MS);
    finish();
}
END_TEST

/* 1,000 bytes a second are ten at each of a hundred reads. */
START_TEST(test_reads_at_its_pace)
{
    begin("--closed --pace 1000 --connections 1", 10000 * MS);
    turn(0);
    const char head[] = "HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n";
    ck_assert_int_gt(send(server, head, strlen(head), 0), 0);
    static const char body[4096];
    ck_assert_int_gt(send(server, body, sizeof body, 0), 0);
    for (uint64_t now = 10; now <= 1000; now++)
        turn(now * MS);
    /* The first read also fills the buffer of the head. */
    const struct stream_counts *counts = stream_counts(stream);
    ck_assert_uint_ge(counts->bytes, 1000);
    finish();
}
END_TEST

START_TEST(test_report)
{
    char *text, expected[400];
    size_t length;

    begin("--stream a --rate 1 --connections 1", 1000 * MS);
    turn(0);
    respond(SHED, 250 * MS);
    const struct report report = {.plan = &plan, .streams = &stream, .seconds = 2, .cpu = 0.5};
    FILE *out = open_memstream(&text, &length);
    report_json(&report, out);
    fclose(out);
    ck_assert_ptr_nonnull(strstr(text, "\"seconds\": 2.000000, \"cpu_seconds\": 0.500000"));
    snprintf(expected, sizeof expected, "\"answered\": 1, \"abandoned\": 0, \"bytes\": %zu",
             strlen(SHED));
    ck_assert_ptr_nonnull(strstr(text, expected));
    ck_assert_ptr_nonnull(
        strstr(text, "\"all\": {\"count\": 1, \"p50\": 250.0000, \"p90\": 250.0000"));
    ck_assert_ptr_nonnull(strstr(text, "\"503\": {\"count\": 1, "));
    ck_assert_ptr_nonnull(strstr(text, "\"max\": 250.0000, \"retry_after\": 1}"));
    free(text);
    finish();
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("load");
    TCase *tests = tcase_create("stream");

    tcase_add_test(tests, test_quantiles);
    tcase_add_test(tests, test_latency_counts_from_when_due);
    tcase_add_test(tests, test_lost_requests_count_by_age);
    tcase_add_test(tests, test_abandons_when_patience_ends);
    tcase_add_test(tests, test_closed_loop_pauses_and_obeys);
    tcase_add_test(tests, test_reads_at_its_pace);
    tcase_add_test(tests, test_report);
    suite_add_tcase(suite, tests);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
