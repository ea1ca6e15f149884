/* HTTP on a loop: streamed bodies, and how requests are completed. */
#include "server/http/http.h"

#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>

#include "server/http/exchange.h"
#include "tests/unit/support/fixtures.h"

static uv_loop_t loop;
static struct clock time_held = {.ns = 1000 * NS_PER_MS}; /* moved by the tests alone */
static struct http *http;
static struct client_limits *clients;
static unsigned closed, drained;

/* A source of the bytes of feed_byte. */
struct feed {
    size_t total, piece; /* bytes: in all, and the most per read */
    size_t pause;        /* after every PAUSE bytes, none for 2 ms; 0: no pauses, 1: for ever */
    int64_t length;      /* in the response */
    size_t fails_at;     /* with ERR after this many bytes, unless ERR is 0 */
    int err;
    bool later;           /* respond after the handler has returned */
    size_t given, paused; /* bytes read so far; their number at the last pause */
    unsigned begun, reads, done;
    struct http_exchange *exchange;
    uv_timer_t timer;
};

static struct feed feed;
static unsigned requests, until_other; /* the latter: up to the last one of /other */

/* Bytes of body sent, of each completed request. */
enum { COMPLETIONS_MAX = 1024 };
static unsigned completions;
static uint64_t sent[COMPLETIONS_MAX];

static uint8_t feed_byte(size_t i)
{
    return (uint8_t)(i * 31 + (i >> 8) * 7);
}

static void on_more(uv_timer_t *timer)
{
    (void)timer;
    http_wake(feed.exchange);
}

static ssize_t feed_read(void *context, void *out, size_t max)
{
    struct feed *f = context;
    size_t count = max < f->piece ? max : f->piece;

    ck_assert_uint_lt(f->done, f->begun);
    f->reads++;
    if (f->err && f->given >= f->fails_at)
        return f->err;
    if (count > f->total - f->given)
        count = f->total - f->given;
    if (count == 0)
        return UV_EOF;
    if (f->pause && f->given >= f->paused + f->pause) {
        f->paused = f->given;
        if (f->pause > 1)
            uv_timer_start(&f->timer, on_more, 2, 0);
        return 0;
    }
    for (size_t i = 0; i < count; i++)
        ((uint8_t *)out)[i] = feed_byte(f->given + i);
    f->given += count;
    return (ssize_t)count;
}

static void feed_done(void *context)
{
    ((struct feed *)context)->done++;
}

static void respond_from_feed(void)
{
    const struct http_source source = {feed_read, feed_done, &feed};
    feed.begun++;
    feed.given = feed.paused = 0;
    http_respond(feed.exchange,
                 &(struct http_response){.status = 200, .source = &source, .length = feed.length});
}

static void on_later(uv_timer_t *timer)
{
    (void)timer;
    respond_from_feed();
}

enum { WHOLE = 8 << 20 };

static void respond_whole(struct http_exchange *exchange)
{
    struct blob *blob = blob_new(WHOLE);
    memset(blob->bytes, '.', WHOLE);
    http_respond(exchange, &(struct http_response){.status = 200, .body = blob});
    blob_release(blob);
}

static void handle(void *context, struct http_exchange *exchange,
                   const struct http_request *request)
{
    (void)context;
    requests++;
    if (strcmp(request->uri, "/other") == 0)
        until_other = requests;
    *(unsigned *)http_state(exchange) = requests;
    if (strcmp(request->uri, "/whole") == 0) {
        respond_whole(exchange);
        return;
    }
    if (strcmp(request->uri, "/feed") != 0) {
        http_respond(exchange, &(struct http_response){.status = 204});
        return;
    }
    feed.exchange = exchange;
    if (feed.later)
        uv_timer_start(&feed.timer, on_later, 2, 0);
    else
        respond_from_feed();
}

/* Requests of one connection are completed in order. */
static void on_completed(void *context, struct http_exchange *exchange, uint64_t bytes)
{
    (void)context;
    ck_assert_uint_le(*(unsigned *)http_state(exchange), requests);
    ck_assert_uint_lt(completions, COMPLETIONS_MAX);
    sent[completions++] = bytes;
}

/* Responses that were not sent at once; if not PATIENT, they are cut off. */
static unsigned waiting;
static bool patient = true;

static bool on_waits(void *context, struct http_exchange *exchange, const struct blob *body)
{
    (void)context;
    ck_assert_uint_le(*(unsigned *)http_state(exchange), requests);
    ck_assert_uint_eq(body->length, WHOLE);
    waiting++;
    return patient;
}

static void on_closed(void *context, const struct sockaddr *peer)
{
    (void)context, (void)peer;
    closed++;
}

static void on_drained(void *context)
{
    (void)context;
    drained++;
}

enum { CONNECTIONS = 256 };

static void set_up(void)
{
    ck_assert_int_eq(uv_loop_init(&loop), 0);
    ck_assert_int_eq(client_limits_new(&clients), 0);
    const struct http_parts parts = {.loop = &loop,
                                     .idle = 60,
                                     .clock = &time_held,
                                     .connections = CONNECTIONS,
                                     .clients = clients,
                                     .state_size = sizeof(unsigned),
                                     .handler = handle,
                                     .completed = on_completed,
                                     .waits = on_waits,
                                     .closed = on_closed,
                                     .drained = on_drained};
    ck_assert_int_eq(http_new(&http, &parts), 0);
    uv_timer_init(&loop, &feed.timer);
}

static void close_http(void)
{
    http_close(http);
    uv_close((uv_handle_t *)&feed.timer, NULL);
    uv_run(&loop, UV_RUN_DEFAULT);
    http_free(http);
    http = NULL;
    ck_assert_int_eq(uv_loop_close(&loop), 0);
    client_limits_free(clients);
}

static void tear_down(void)
{
    if (http)
        close_http();
}

/* Feed TOTAL bytes, PIECE at a time, in a response with this LENGTH. */
static void feed_with(size_t total, size_t piece, int64_t length)
{
    feed.total = total;
    feed.piece = piece;
    feed.length = length;
}

/* --- Clients ---------------------------------------------------------------- */

static int connect_from(uint32_t address, int family)
{
    const struct sockaddr_in peer = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(address)};
    int ends[2];

    if (family == AF_UNIX)
        ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends), 0);
    else
        tcp_pair(ends);
    http_adopt(http, ends[0], (const struct sockaddr *)&peer, sizeof peer);
    return ends[1];
}

static int connect_over(int family)
{
    return connect_from(0, family);
}

static void say(int fd, const char *text)
{
    ck_assert_int_eq(send(fd, text, strlen(text), 0), (int)strlen(text));
}

/* A turn of the loop, with http_expire, when it has something to do, or 5 ms later. Returns true if
 * it had. */
static bool turn(void)
{
    struct pollfd ready = {.fd = uv_backend_fd(&loop), .events = POLLIN};
    const int timeout = uv_backend_timeout(&loop);
    const bool busy = poll(&ready, 1, timeout < 0 || timeout > 5 ? 5 : timeout) > 0;

    uv_run(&loop, UV_RUN_NOWAIT);
    http_expire(http, &(unsigned){0});
    return busy || timeout == 0;
}

/* Some turns, in which something must not happen. Returns how many of them had something to do. */
static unsigned turns(unsigned count)
{
    unsigned busy = 0;
    while (count-- > 0)
        busy += turn();
    return busy;
}

#define UNTIL(condition) \
    while (!(condition)) \
    turn()

static void pass_ms(unsigned ms)
{
    clock_advance(&time_held, ms * NS_PER_MS);
}

/* Received by a client. */
struct received {
    char *bytes;
    size_t length, capacity;
    bool ended;
    int err; /* if it ended with an error */
};

static void receive(int fd, struct received *got)
{
    if (got->capacity - got->length < 1 << 16) {
        got->capacity = 2 * got->capacity + (1 << 17);
        got->bytes = realloc(got->bytes, got->capacity);
    }
    ssize_t count =
        recv(fd, got->bytes + got->length, got->capacity - got->length - 1, MSG_DONTWAIT);
    if (count < 0 && errno == EAGAIN)
        return;
    got->ended = count <= 0;
    got->err = count < 0 ? errno : 0;
    got->length += count < 0 ? 0 : (size_t)count;
    got->bytes[got->length] = '\0';
}

/* Until GOT has LENGTH bytes, or all of them. */
static void receive_until(int fd, struct received *got, size_t length)
{
    while (!got->ended && got->length < length) {
        uv_run(&loop, UV_RUN_NOWAIT);
        receive(fd, got);
    }
}

static void receive_all(int fd, struct received *got)
{
    receive_until(fd, got, SIZE_MAX);
}

/* The offset of the body in GOT. Receives until it is known. */
static size_t head_length(int fd, struct received *got)
{
    for (;;) {
        char *end = got->length ? strstr(got->bytes, "\r\n\r\n") : NULL;
        if (end)
            return (size_t)(end - got->bytes) + 4;
        must(!got->ended, "no response: %s", got->length ? got->bytes : "");
        receive_until(fd, got, got->length + 1);
    }
}

/* Join the chunks from START on, in place. Returns the length of the body. *END is behind it, or 0
 * if it is incomplete. */
static size_t join_chunks(struct received *got, size_t start, size_t *end)
{
    size_t body = start;
    for (size_t at = start; at < got->length;) {
        char *rest;
        const size_t size = strtoul(got->bytes + at, &rest, 16);
        const size_t chunk = (size_t)(rest - got->bytes) + 2;
        if (chunk + size + 2 > got->length)
            break;
        if (size == 0) {
            *end = chunk + 2;
            return body - start;
        }
        memmove(got->bytes + body, got->bytes + chunk, size);
        body += size;
        at = chunk + size + 2;
    }
    *end = 0;
    return body - start;
}

static void assert_fed(const char *bytes, size_t length)
{
    for (size_t i = 0; i < length; i++)
        must((uint8_t)bytes[i] == feed_byte(i), "byte %zu is %d, not %d", i, (uint8_t)bytes[i],
             feed_byte(i));
}

static const char *request_of(bool old)
{
    return old ? "GET /feed HTTP/1.0\r\n\r\n" : "GET /feed HTTP/1.1\r\nHost: a\r\n\r\n";
}

static void assert_next_served(int fd, struct received *got)
{
    const unsigned before = requests;
    got->length = 0;
    say(fd, "GET /next HTTP/1.1\r\nHost: a\r\n\r\n");
    head_length(fd, got);
    must(strncmp(got->bytes, "HTTP/1.1 204 ", 13) == 0, "%s", got->bytes);
    ck_assert_uint_eq(requests, before + 1);
}

/* --- Whole bodies ------------------------------------------------------------- */

static const struct {
    size_t total, piece, pause;
    bool later;
} bodies[] = {
    {0, 1, 0, false},
    {1, 1, 0, false},
    {1, 1, 1000, true},
    {1000, 1, 0, false},
    {5000, 100, 100, true},
    {65535, 1 << 20, 0, false},
    {65536, 1 << 20, 0, true},
    {65537, 1 << 20, 65536, false},
    {65536, 16384, 16384, false},
    {3000000, 1 << 20, 1000000, false},
    {3000000, 999, 0, true},
    {16 << 20, 1 << 20, 4 << 20, true},
};
enum { SIZED_11, UNSIZED_11, SIZED_10, UNSIZED_10, WAYS };

START_TEST(test_body)
{
    const int row = _i / WAYS, way = _i % WAYS;
    const bool old = way >= SIZED_10, sized = way == SIZED_11 || way == SIZED_10;
    const size_t total = bodies[row].total;
    struct received got = {0};
    size_t length;

    feed_with(total, bodies[row].piece, sized ? (int64_t)total : HTTP_LENGTH_UNKNOWN);
    feed.pause = bodies[row].pause;
    feed.later = bodies[row].later;
    int older = connect_over(AF_UNIX);
    int fd = connect_over(AF_UNIX);
    say(fd, request_of(old));
    const size_t start = head_length(fd, &got);
    must(!strstr(got.bytes, "Content-Length") == !sized, "%s", got.bytes);
    if (old) {
        receive_all(fd, &got);
        length = got.length - start;
    } else if (sized) {
        receive_until(fd, &got, start + total);
        length = got.length - start;
    } else {
        size_t end = 0;
        ck_assert_ptr_nonnull(strstr(got.bytes, "Transfer-Encoding: chunked\r\n"));
        while (got.length < 5 || memcmp(got.bytes + got.length - 5, "0\r\n\r\n", 5) != 0)
            receive_until(fd, &got, got.length + 1);
        length = join_chunks(&got, start, &end);
        ck_assert_uint_eq(end, got.length);
    }
    must(length == total && got.err == 0, "row %d, way %d: %zu bytes of %zu", row, way, length,
         total);
    assert_fed(got.bytes + start, length);
    if (!old)
        assert_next_served(fd, &got);
    ck_assert_uint_eq(feed.done, 1);
    UNTIL(completions == (old ? 1 : 2) && closed == (old ? 1 : 0));
    ck_assert_uint_eq(closed, old ? 1 : 0);
    ck_assert_uint_eq(completions, old ? 1 : 2);
    ck_assert_uint_eq(sent[0], total);
    ck_assert_uint_eq(sent[1], 0);
    close(older);
    close(fd);
    free(got.bytes);
}
END_TEST

/* A request pipelined behind a streamed body waits for its end. */
START_TEST(test_pipelined)
{
    struct received got = {0};
    feed_with(300000, 70000, 300000);
    feed.pause = 100000;
    int fd = connect_over(AF_UNIX);
    say(fd, "GET /feed HTTP/1.1\r\nHost: a\r\n\r\nGET /next HTTP/1.1\r\nHost: a\r\n\r\n"
            "GET /feed HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
    const size_t start = head_length(fd, &got);
    receive_until(fd, &got, start + 200000);
    ck_assert_uint_eq(requests, 1);
    receive_all(fd, &got);
    assert_fed(got.bytes + start, 300000);
    must(strncmp(got.bytes + start + 300000, "HTTP/1.1 204 ", 13) == 0, "not in order");
    assert_fed(got.bytes + got.length - 300000, 300000);
    ck_assert_uint_eq(requests, 3);
    ck_assert_uint_eq(feed.done, 2);
    UNTIL(completions == 3);
    ck_assert(sent[0] == 300000 && sent[1] == 0 && sent[2] == 300000);
    close(fd);
    free(got.bytes);
}
END_TEST

/* A client that has closed its sending side still receives everything. */
START_TEST(test_half_closed)
{
    struct received got = {0};
    feed_with(500000, 70000, 500000);
    int fd = connect_over(AF_INET);
    say(fd, request_of(false));
    shutdown(fd, SHUT_WR);
    const size_t start = head_length(fd, &got);
    receive_until(fd, &got, start + 500000);
    assert_fed(got.bytes + start, 500000);
    close(fd);
    free(got.bytes);
}
END_TEST

static const struct {
    int64_t length;
    const char *says, *not ;
} heads[] = {{123456789, "Content-Length: 123456789\r\n", "Transfer-Encoding"},
             {0, "Content-Length: 0\r\n", "Transfer-Encoding"},
             {HTTP_LENGTH_UNKNOWN, "HTTP/1.1 200 ", "Content-Length"}};

START_TEST(test_head)
{
    struct received got = {0};
    feed_with(1000, 10, heads[_i].length);
    int fd = connect_over(AF_UNIX);
    say(fd, "HEAD /feed HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
    receive_all(fd, &got);
    must(strstr(got.bytes, heads[_i].says) && !strstr(got.bytes, heads[_i].not ), "%s", got.bytes);
    ck_assert_uint_eq(head_length(fd, &got), got.length);
    ck_assert_uint_eq(feed.reads, 0);
    ck_assert_uint_eq(feed.done, 1);
    UNTIL(completions == 1);
    ck_assert_uint_eq(sent[0], 0);
    close(fd);
    free(got.bytes);
}
END_TEST

/* --- Incomplete bodies --------------------------------------------------------- */

static const struct {
    size_t fails_at, pause;
    int64_t length; /* unknown, or 1,000,000 bytes */
    int err;
    bool old;
} failures[] = {
    {0, 0, 1000000, UV_EIO, false},
    {0, 0, HTTP_LENGTH_UNKNOWN, UV_EIO, false},
    {0, 0, HTTP_LENGTH_UNKNOWN, UV_EIO, true},
    {100000, 0, 1000000, UV_EIO, false},
    {100000, 50000, 1000000, UV_EIO, false},
    {100000, 50000, 1000000, UV_EOF, false},
    {100000, 0, 1000000, UV_EIO, true},
    {100000, 0, HTTP_LENGTH_UNKNOWN, UV_EIO, false},
    {100000, 50000, HTTP_LENGTH_UNKNOWN, UV_ECANCELED, false},
    {100000, 50000, HTTP_LENGTH_UNKNOWN, UV_ECANCELED, true},
};

START_TEST(test_failure)
{
    const bool sized = failures[_i].length >= 0, old = failures[_i].old;
    struct received got = {0};

    feed_with(1000000, 1000, failures[_i].length); /* less than a chunk */
    feed.fails_at = failures[_i].fails_at;
    feed.pause = failures[_i].pause;
    feed.err = failures[_i].err;
    /* libmicrohttpd cleans up the oldest connection by itself. */
    int older = connect_over(AF_INET);
    int fd = connect_over(AF_INET);
    say(fd, request_of(old));
    receive_all(fd, &got);
    UNTIL(closed);
    ck_assert_uint_eq(feed.done, 1);
    ck_assert_uint_eq(closed, 1);
    ck_assert_uint_eq(completions, 1);
    ck_assert_uint_eq(sent[0], failures[_i].fails_at);
    /* In HTTP/1.0 nothing else tells that the body is incomplete. */
    if (old && !sized)
        ck_assert_int_eq(got.err, ECONNRESET);
    else if (sized && got.length > 0)
        ck_assert_uint_lt(got.length - head_length(fd, &got), 1000000);
    else if (got.length > 0) {
        size_t end;
        join_chunks(&got, head_length(fd, &got), &end);
        ck_assert_uint_eq(end, 0);
    }
    close(older);
    close(fd);
    free(got.bytes);
}
END_TEST

static const struct {
    size_t pause;
    bool later;
    int family;
} leavings[] = {{1, false, AF_UNIX}, {1, false, AF_INET}, {1, true, AF_INET},
                {0, false, AF_UNIX}, {0, false, AF_INET}, {0, true, AF_INET}};

START_TEST(test_client_leaves)
{
    struct received got = {0};
    feed_with(SIZE_MAX, 10000, INT64_MAX);
    feed.pause = leavings[_i].pause;
    feed.later = leavings[_i].later;
    int fd = connect_over(leavings[_i].family);
    say(fd, request_of(false));
    receive_until(fd, &got, head_length(fd, &got) + 1);
    turns(20); /* fill the system's buffers */
    ck_assert_uint_eq(feed.done, 0);
    close(fd);
    UNTIL(feed.done == 1 && closed == 1);
    ck_assert_uint_eq(completions, 1);
    ck_assert(sent[0] > 0 && sent[0] <= feed.given);
    free(got.bytes);
}
END_TEST

/* A body that is not streamed counts as sent if it is complete, otherwise as 0 bytes. */
START_TEST(test_whole_body)
{
    struct received got = {0};
    int fd = connect_over(AF_INET);

    say(fd, "GET /whole HTTP/1.1\r\nHost: a\r\n\r\n");
    const size_t start = head_length(fd, &got);
    turns(10);
    ck_assert_uint_eq(completions, 0);
    if (_i == 0)
        receive_until(fd, &got, start + WHOLE);
    else
        close(fd);
    UNTIL(completions == 1);
    ck_assert_uint_eq(sent[0], _i == 0 ? WHOLE : 0);
    if (_i == 0)
        close(fd);
    free(got.bytes);
}
END_TEST

/* A body that the client does not take at once is reported once, before it is completed, and may be
 * cut off. */
START_TEST(test_waits)
{
    struct received got = {0};
    int fd = connect_over(AF_INET);

    patient = _i == 0;
    say(fd, "GET /none HTTP/1.1\r\nHost: a\r\n\r\n");
    head_length(fd, &got);
    UNTIL(completions == 1);
    ck_assert_uint_eq(waiting, 0);
    got.length = 0;
    say(fd, "GET /whole HTTP/1.1\r\nHost: a\r\n\r\n");
    UNTIL(waiting == 1 && completions == (patient ? 1 : 2) && closed == (patient ? 0 : 1));
    turns(10);
    ck_assert_uint_eq(waiting, 1);
    ck_assert_uint_eq(completions, patient ? 1 : 2);
    ck_assert_uint_eq(closed, patient ? 0 : 1);
    if (patient) {
        receive_until(fd, &got, head_length(fd, &got) + WHOLE);
        UNTIL(completions == 2);
        ck_assert_uint_eq(waiting, 1);
        ck_assert_uint_eq(sent[1], WHOLE);
    } else {
        receive_all(fd, &got);
        ck_assert_int_eq(got.err, ECONNRESET);
        ck_assert_uint_eq(sent[1], 0);
    }
    close(fd);
    free(got.bytes);
}
END_TEST

/* Before the response: the source is never read. */
START_TEST(test_client_leaves_before)
{
    feed_with(SIZE_MAX, 10000, INT64_MAX);
    feed.later = true;
    /* libmicrohttpd looks at the oldest connection even if nothing has happened to it. */
    int older = connect_over(AF_INET);
    int fd = connect_over(AF_INET);
    say(fd, request_of(false));
    while (requests == 0)
        uv_run(&loop, UV_RUN_NOWAIT);
    const struct linger reset = {.l_onoff = 1};
    setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
    close(fd);
    UNTIL(feed.done == 1 && closed == 1);
    close(older);
}
END_TEST

static const struct {
    size_t pause;
    int64_t length;
    unsigned turns; /* until http_close */
} closings[] = {{1, 1 << 30, 10},     {1, HTTP_LENGTH_UNKNOWN, 10},
                {0, 1 << 30, 10},     {0, HTTP_LENGTH_UNKNOWN, 10},
                {100000, 1 << 30, 4}, {100000, 1 << 30, 0}};

START_TEST(test_close)
{
    feed_with(1 << 30, 10000, closings[_i].length);
    feed.pause = closings[_i].pause;
    int fd = connect_over(AF_UNIX);
    say(fd, request_of(false));
    while (feed.reads == 0)
        uv_run(&loop, UV_RUN_NOWAIT);
    turns(closings[_i].turns);
    ck_assert_uint_eq(feed.done, 0);
    close_http();
    ck_assert_uint_eq(feed.done, 1);
    ck_assert_uint_eq(closed, 1);
    close(fd);
}
END_TEST

/* With a response that is not sent yet. */
START_TEST(test_close_before_sending)
{
    feed_with(1 << 30, 10000, 1 << 30);
    feed.later = true;
    int fd = connect_over(AF_UNIX);
    say(fd, request_of(false));
    while (requests == 0)
        uv_run(&loop, UV_RUN_NOWAIT);
    uv_timer_stop(&feed.timer);
    if (feed.begun == 0) /* a busy machine's timer may have been first */
        respond_from_feed();
    close_http();
    ck_assert_uint_eq(feed.reads, 0);
    ck_assert_uint_eq(feed.done, 1);
    close(fd);
}
END_TEST

/* --- Waiting -------------------------------------------------------------------- */

/* A body that waits for bytes uses no CPU time, has no deadline, and wakes on http_wake. */
START_TEST(test_waiting)
{
    struct received got = {0};
    feed_with(1000, 1000, 1000);
    feed.pause = 1;
    int fd = connect_over(AF_INET);
    say(fd, request_of(false));
    UNTIL(feed.reads > 0);
    turns(10);
    const unsigned reads = feed.reads;
    const unsigned busy = turns(60);
    must(busy < 10, "the loop had something to do in %u of 60 turns while waiting", busy);
    ck_assert_uint_eq(feed.reads, reads);
    feed.pause = 0;
    http_wake(feed.exchange);
    http_wake(feed.exchange);
    const size_t start = head_length(fd, &got);
    receive_until(fd, &got, start + 1000);
    assert_fed(got.bytes + start, 1000);
    assert_next_served(fd, &got);
    close(fd);
    free(got.bytes);
}
END_TEST

static const struct {
    size_t pause;
    bool reads;     /* the client reads for 300 ms, 30 times */
    unsigned after; /* ms from the beginning of the response to http_expire */
    unsigned slow;  /* connections closed for being slow */
} deadlines[] = {
    {0, false, 30000, 0},
    {0, false, 30001, 1},
    /* A reader that keeps up is not late. */
    {0, true, 30150, 0},
    {0, true, 40000, 1},
    /* A client that waits for us is not slow. */
    {1, false, 30500, 0},
    {1, false, 1000000, 0},
    {200000, true, 30150, 0},
};

START_TEST(test_deadline)
{
    struct received got = {0};
    unsigned slow;

    feed_with(1 << 30, 100000, 1 << 30);
    feed.pause = deadlines[_i].pause;
    int fd = connect_over(AF_UNIX);
    say(fd, request_of(false));
    while (requests == 0)
        uv_run(&loop, UV_RUN_NOWAIT);
    turns(20); /* fill the system's buffers */
    for (int ms = 0; ms < 300; ms += 10) {
        pass_ms(10);
        turns(2);
        if (deadlines[_i].reads)
            receive(fd, &got);
    }
    pass_ms(deadlines[_i].after - 300);
    http_expire(http, &slow);
    ck_assert_uint_eq(slow, deadlines[_i].slow);
    UNTIL(feed.done == deadlines[_i].slow && closed == deadlines[_i].slow);
    turns(4);
    ck_assert_uint_eq(closed, deadlines[_i].slow);
    close(fd);
    free(got.bytes);
}
END_TEST

/* Draining waits for a streamed body. */
START_TEST(test_drain)
{
    struct received got = {0};
    feed_with(1000000, 1000, 1000000);
    feed.pause = 1;
    int fd = connect_over(AF_INET);
    say(fd, request_of(false));
    UNTIL(feed.reads > 0);
    http_drain(http);
    pass_ms(700); /* longer than idle connections are kept */
    turns(10);
    ck_assert_uint_eq(drained, 0);
    feed.pause = 0;
    http_wake(feed.exchange);
    const size_t start = head_length(fd, &got);
    receive_until(fd, &got, start + 1000000);
    assert_fed(got.bytes + start, 1000000);
    pass_ms(700);
    UNTIL(drained == 1);
    ck_assert_uint_eq(feed.done, 1);
    close(fd);
    free(got.bytes);
}
END_TEST

static const struct {
    const char *sent, *head; /* what the client has sent; the beginning of what it receives */
    bool closed;
} rooms[] = {
    {"", "", true},
    {"GET /next HTTP/1.1\r\nHost: a\r\n\r\n", "HTTP/1.1 204 ", true},
    {"GET /next HTTP/1.1\r\nHo", "", true},
    {"GET /feed HTTP/1.1\r\nHost: a\r\n\r\n", "HTTP/1.1 200 ", false},
};

/* Closed to make room: at once, in order, and even if the client does not close its side. */
START_TEST(test_make_room)
{
    struct received got = {0};
    feed_with(1000, 1, 1000);
    feed.pause = 1;
    int fd = connect_over(AF_INET);
    say(fd, rooms[_i].sent);
    turns(5);
    pass_ms(600);
    ck_assert_uint_eq(http_make_room(http), rooms[_i].closed);
    UNTIL(closed == rooms[_i].closed);
    if (!rooms[_i].closed) {
        feed.pause = 0;
        http_wake(feed.exchange);
        receive_until(fd, &got, head_length(fd, &got) + 1000);
    } else {
        receive_all(fd, &got);
    }
    ck_assert_int_eq(got.err, 0);
    must(strncmp(got.bytes, rooms[_i].head, strlen(rooms[_i].head)) == 0, "%s", got.bytes);
    close(fd);
    free(got.bytes);
}
END_TEST

/* --- Turns ---------------------------------------------------------------------- */

static const char get_next[] = "GET /next HTTP/1.1\r\nHost: a\r\n\r\n";
static const char get_other[] = "GET /other HTTP/1.1\r\nHost: a\r\n\r\n";

/* A connection that always has its next request does not keep the loop from other events: each time
 * it polls, a few requests have been handled. */
START_TEST(test_polls)
{
    enum { PIPELINED = 400, FEW = 8 };
    static char text[PIPELINED * sizeof get_next];
    int fd = connect_over(AF_INET);

    for (int i = 0; i < PIPELINED; i++)
        strcat(text, get_next);
    say(fd, text);
    while (requests < PIPELINED) {
        const unsigned before = requests;
        uv_run(&loop, UV_RUN_NOWAIT);
        must(requests - before <= FEW, "%u requests before the loop polls", requests - before);
    }
    close(fd);
}
END_TEST

/* Greedy clients, and another one behind them. */
enum { GREEDY = 200, TURN = 32 };
static int greedy[GREEDY], other;

/* COUNT greedy clients, and the other one unless they are ALONE. A turn knows clients by some bits
 * of a hash that no one can foresee, so addresses are taken that differ in these bits. */
static void connect_crowd(unsigned count, bool alone)
{
    bool taken[CLIENT_SETS] = {false};
    uint32_t address[GREEDY + 1], next = 1;

    for (unsigned i = 0; i <= count; next++) {
        const struct sockaddr_in peer = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(next)};
        const uint64_t hash = client_limits_hash(clients, (const struct sockaddr *)&peer);
        if (!taken[hash % CLIENT_SETS])
            address[i++] = next;
        taken[hash % CLIENT_SETS] = true;
    }
    for (unsigned i = 0; i < GREEDY; i++)
        greedy[i] = connect_from(address[i % count], AF_UNIX);
    other = alone ? 0 : connect_from(address[count], AF_UNIX);
}

/* All of them send a request, the other client last. Returns how many the first turn handles. */
static unsigned crowd_asks(void)
{
    const unsigned before = requests;

    for (unsigned i = 0; i < GREEDY; i++)
        say(greedy[i], get_next);
    if (other)
        say(other, get_other);
    UNTIL(requests > before);
    return requests - before;
}

/* Likewise, in a turn that spares the other client since there was one before. */
static unsigned crowd_asks_again(void)
{
    ck_assert_uint_eq(crowd_asks(), GREEDY + 1);
    UNTIL(completions == requests);
    return crowd_asks();
}

static void crowd_leaves(void)
{
    for (unsigned i = 0; i < GREEDY; i++)
        close(greedy[i]);
}

static const struct {
    unsigned clients; /* greedy ones */
    unsigned handled; /* requests, in a turn that spares the other */
} crowds[] = {{1, TURN + 1}, {4, TURN + 1}, {100, GREEDY + 1}};

/* Clients that send more than a turn handles, and more than a few each, wait for later turns if
 * another client has a few requests at the same time. */
START_TEST(test_turns)
{
    connect_crowd(crowds[_i].clients, false);
    ck_assert_uint_eq(crowd_asks_again(), crowds[_i].handled);
    ck_assert_uint_eq(until_other, GREEDY + 1 + crowds[_i].handled);
    UNTIL(completions == 2 * (GREEDY + 1));
    /* Connections that have waited are like others afterwards, and the other client is forgotten.
     */
    pass_ms(1000);
    ck_assert_uint_eq(crowd_asks(), GREEDY + 1);
    UNTIL(completions == requests);
    crowd_leaves();
    close(other);
    UNTIL(closed == GREEDY + 1);
}
END_TEST

START_TEST(test_turns_alone)
{
    connect_crowd(1, true);
    for (int i = 0; i < 3; i++) {
        say(greedy[0], get_next);
        UNTIL(completions == requests && requests == (unsigned)i * (GREEDY + 1) + 1);
        ck_assert_uint_eq(crowd_asks(), GREEDY);
        UNTIL(completions == requests);
    }
    crowd_leaves();
}
END_TEST

/* Requests that wait for their turn are cut off at the end, and are finished by a drain. */
START_TEST(test_turns_end)
{
    const bool drains = _i;

    connect_crowd(1, false);
    ck_assert_uint_eq(crowd_asks_again(), TURN + 1);
    if (drains) {
        http_drain(http);
        UNTIL(completions == 2 * (GREEDY + 1));
        pass_ms(700);
        UNTIL(drained == 1);
    }
    const unsigned before = requests;
    close_http();
    ck_assert_uint_eq(requests, before);
    ck_assert_uint_eq(closed, GREEDY + 1);
    crowd_leaves();
    close(other);
}
END_TEST

/* The clients leave while their requests wait. */
START_TEST(test_turns_leavers)
{
    connect_crowd(1, false);
    ck_assert_uint_eq(crowd_asks_again(), TURN + 1);
    crowd_leaves();
    UNTIL(closed == GREEDY);
    const unsigned before = requests;
    say(other, get_other);
    UNTIL(requests > before);
    close(other);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("http");
    TCase *tcase = suite_case(suite, "sources");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_loop_test(tcase, test_body, 0, ROWS(bodies) * WAYS);
    tcase_add_test(tcase, test_pipelined);
    tcase_add_test(tcase, test_half_closed);
    tcase_add_loop_test(tcase, test_head, 0, ROWS(heads));
    tcase_add_loop_test(tcase, test_failure, 0, ROWS(failures));
    tcase_add_loop_test(tcase, test_client_leaves, 0, ROWS(leavings));
    tcase_add_test(tcase, test_client_leaves_before);
    tcase_add_loop_test(tcase, test_whole_body, 0, 2);
    tcase_add_loop_test(tcase, test_waits, 0, 2);
    tcase_add_loop_test(tcase, test_close, 0, ROWS(closings));
    tcase_add_test(tcase, test_close_before_sending);
    tcase_add_test(tcase, test_waiting);
    tcase_add_loop_test(tcase, test_deadline, 0, ROWS(deadlines));
    tcase_add_test(tcase, test_drain);
    tcase_add_loop_test(tcase, test_make_room, 0, ROWS(rooms));
    tcase_add_test(tcase, test_polls);
    tcase_add_loop_test(tcase, test_turns, 0, ROWS(crowds));
    tcase_add_loop_test(tcase, test_turns_end, 0, 2);
    tcase_add_test(tcase, test_turns_alone);
    tcase_add_test(tcase, test_turns_leavers);
    return suite_run(suite);
}
