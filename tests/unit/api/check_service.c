/* The end of a service: every pending request gets a response. And running out of memory. */
#include "server/api/service.h"

#include <arpa/inet.h>
#include <poll.h>
#include <sys/socket.h>

#include "server/tiles/pipeline.h"
#include "tests/unit/support/fixtures.h"

static struct metrics metrics;
static uv_loop_t loop;
static struct snapshot *snapshot;
static struct client_limits *clients;
static struct recent_worlds *recent_worlds;
static struct pipeline *pipeline;
static struct mailbox *mailbox;
static struct service *service;
static struct http *http;
static unsigned closed, streams;

static bool is_current(void *context, const char *fingerprint)
{
    (void)context, (void)fingerprint;
    return true;
}

static struct blob *scrape_without_memory(void *context)
{
    (void)context;
    return NULL;
}

static void on_closed(void *context, const struct sockaddr *peer)
{
    (void)context, (void)peer;
    closed++;
}

static void configure(void)
{
    struct config *config = config_of(FRACTAL_WORLD);
    config->threads = 1;
    /* An impossible path: no disk cache. */
    snprintf(config->cache.path, sizeof config->cache.path, "/dev/null/none");
    ck_assert_int_eq(snapshot_new(&snapshot, config), 0);
}

static void set_up(void)
{
    configure();
    ck_assert_int_eq(uv_loop_init(&loop), 0);
    ck_assert_int_eq(mailbox_new(&mailbox, &loop), 0);
    ck_assert_int_eq(client_limits_new(&clients), 0);
    ck_assert_int_eq(recent_worlds_new(&recent_worlds), 0);
    ck_assert_int_eq(pipeline_new(&pipeline, snapshot->config, &metrics, is_current, NULL), 0);
    const struct service_parts for_service = {.loop = &loop,
                                              .mailbox = mailbox,
                                              .fetcher = &pipeline->fetcher,
                                              .clients = clients,
                                              .recent_worlds = recent_worlds,
                                              .sinks = {.metrics = &metrics},
                                              .streams = &streams,
                                              .services = 1,
                                              .scrape = scrape_without_memory};
    ck_assert_int_eq(service_new(&service, &for_service, snapshot), 0);
    const struct http_parts for_http = {.loop = &loop,
                                        .idle = 60,
                                        .connections = 16,
                                        .state_size = sizeof(struct request_context),
                                        .handler = service_handle,
                                        .completed = service_completed,
                                        .handler_context = service,
                                        .closed = on_closed};
    ck_assert_int_eq(http_new(&http, &for_http), 0);
}

static void tear_down(void)
{
    mailbox_close(mailbox);
    uv_run(&loop, UV_RUN_DEFAULT);
    http_free(http);
    service_free(service);
    mailbox_free(mailbox);
    ck_assert_int_eq(uv_loop_close(&loop), 0);
    ck_assert(pipeline_stop(pipeline));
    pipeline_free(pipeline);
    client_limits_free(clients);
    recent_worlds_free(recent_worlds);
    snapshot_release(snapshot);
}

/* A client that has sent TEXT. Returns its end of the connection. */
static int connect_and_send(const char *text)
{
    const struct sockaddr_in peer = {.sin_family = AF_INET,
                                     .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int ends[2];
    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends), 0);
    http_adopt(http, ends[0], (const struct sockaddr *)&peer, sizeof peer);
    ck_assert_int_eq(write(ends[1], text, strlen(text)), (int)strlen(text));
    return ends[1];
}

/* Until FD has a response or its connection is closed. */
static void until_responded(int fd)
{
    struct pollfd client = {.fd = fd, .events = POLLIN};
    while (poll(&client, 1, 0) == 0)
        uv_run(&loop, UV_RUN_NOWAIT);
}

/* Until a request is pending, or has its response already. */
static void until_pending(int fd)
{
    struct pollfd client = {.fd = fd, .events = POLLIN};
    while (client_limits_count(clients) == 0 && poll(&client, 1, 0) == 0)
        uv_run(&loop, UV_RUN_NOWAIT);
}

static const struct {
    bool pending; /* when all requests are cancelled; otherwise it arrives afterwards */
} arrivals[] = {{true}, {false}};

START_TEST(test_cancelled)
{
    char response[2048] = "";
    int fd = connect_and_send("GET /default/relief/10/512/512.png HTTP/1.1\r\nHost: a\r\n\r\n");

    if (arrivals[_i].pending)
        until_pending(fd);
    while (!service_cancel(service)) /* or its tile is being delivered */
        uv_run(&loop, UV_RUN_NOWAIT);
    until_responded(fd);
    http_close(http);
    ck_assert_uint_eq(closed, 1);
    ck_assert_uint_eq(client_limits_count(clients), 0);
    ck_assert_int_gt(read(fd, response, sizeof response - 1), 0);
    if (!arrivals[_i].pending || !strstr(response, " 200 ")) {
        ck_assert_ptr_nonnull(strstr(response, "HTTP/1.1 503 "));
        ck_assert_ptr_nonnull(strstr(response, "Retry-After: 1\r\n"));
    }
    close(fd);
}
END_TEST

/* A streamed response is cut off while pieces of it are being made, or wait to be read. */
START_TEST(test_stream_cancelled)
{
    static char response[1 << 16];
    int fd = connect_and_send("GET /default/region.f32?x=0&y=0&width=4097&height=4097 HTTP/1.1\r\n"
                              "Host: a\r\n\r\n");
    size_t got = 0;

    until_responded(fd);
    for (int i = 0; i < _i * 100; i++) {
        ssize_t more = read(fd, response, sizeof response);
        got += more > 0 ? (size_t)more : 0;
        uv_run(&loop, UV_RUN_NOWAIT);
    }
    while (!service_cancel(service))
        uv_run(&loop, UV_RUN_NOWAIT);
    http_close(http);
    for (ssize_t more; (more = read(fd, response, sizeof response)) > 0;)
        got += (size_t)more;
    ck_assert_uint_gt(got, 0);
    ck_assert_uint_lt(got, 4097 * 4097 * 4);
    ck_assert_uint_eq(client_limits_count(clients), 0);
    close(fd);
}
END_TEST

/* 503, not an empty page: that would mean that nothing is measured. */
START_TEST(test_scrape_without_memory)
{
    char response[2048] = "";
    int fd = connect_and_send("GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n");
    until_responded(fd);
    ck_assert(service_cancel(service));
    http_close(http);
    ck_assert_int_gt(read(fd, response, sizeof response - 1), 0);
    ck_assert_ptr_nonnull(strstr(response, "HTTP/1.1 503 "));
    ck_assert_ptr_nonnull(strstr(response, "Retry-After: 1\r\n"));
    close(fd);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("service");
    TCase *tcase = suite_case(suite, "stop");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_loop_test(tcase, test_cancelled, 0, ROWS(arrivals));
    tcase_add_loop_test(tcase, test_stream_cancelled, 0, 4);
    tcase_add_test(tcase, test_scrape_without_memory);
    return suite_run(suite);
}
