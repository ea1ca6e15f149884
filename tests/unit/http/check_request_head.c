/* What a handler is given of heads, and which of them are refused. What libmicrohttpd refuses by
 * itself is in tests/http/33-refusals.test.mjs. */
#include "server/http/http.h"

#include "tests/unit/support/fixtures.h"

#define GET "GET / HTTP/1.1\r\n"
#define HOST GET "Host: a\r\n"

static uv_loop_t loop;
static struct http *http;

/* The last request, as text: METHOD URI HOST USER-AGENT, and how it was judged. */
static struct {
    unsigned count, refused;
    char text[256], why[64], list[64];
    bool decoded, last;
} seen;

static void handle(void *context, struct http_exchange *exchange,
                   const struct http_request *request)
{
    (void)context;
    seen.count++;
    seen.refused = request->refused;
    seen.decoded = request->decoded;
    seen.last = request->last;
    snprintf(seen.text, sizeof seen.text, "%s %.100s %s %s", request->verb, request->uri,
             request->host ? request->host : "(none)",
             request->user_agent ? request->user_agent : "(none)");
    snprintf(seen.list, sizeof seen.list, "%s|%s|%s",
             request->accept_encoding ? request->accept_encoding : "",
             request->if_match ? request->if_match : "",
             request->if_none_match ? request->if_none_match : "");
    snprintf(seen.why, sizeof seen.why, "%s", request->why ? request->why : "");
    http_respond(exchange, &(struct http_response){.status = 204});
}

static void on_closed(void *context, const struct sockaddr *peer)
{
    (void)context, (void)peer;
}

/* Send SIZE bytes of HEAD, with the empty line at its end, and run the loop until it is answered or
 * refused. */
static void send_bytes(const char *head, size_t size)
{
    const struct sockaddr_in peer = {.sin_family = AF_INET};
    int ends[2];
    char answer[4096];

    memset(&seen, 0, sizeof seen);
    ck_assert_int_eq(uv_loop_init(&loop), 0);
    const struct http_parts parts = {
        .loop = &loop, .idle = 60, .connections = 4, .handler = handle, .closed = on_closed};
    ck_assert_int_eq(http_new(&http, &parts), 0);
    tcp_pair(ends);
    http_adopt(http, ends[0], (const struct sockaddr *)&peer, sizeof peer);
    ck_assert_int_eq(send(ends[1], head, size, 0), (int)size);
    ck_assert_int_eq(send(ends[1], "\r\n", 2, 0), 2);
    while (recv(ends[1], answer, sizeof answer, MSG_DONTWAIT) < 0)
        uv_run(&loop, UV_RUN_NOWAIT);
    http_close(http);
    uv_run(&loop, UV_RUN_DEFAULT);
    http_free(http);
    ck_assert_int_eq(uv_loop_close(&loop), 0);
    close(ends[1]);
}

static void send_head(const char *head)
{
    send_bytes(head, strlen(head));
}

static const struct {
    const char *text; /* as seen */
    bool decoded;
    const char *head;
} served[] = {
    {"GET / a (none)", false, HOST},
    {"HEAD /a?b=%20 a:80 (none)", false, "HEAD /a?b=%20 HTTP/1.1\r\nhOST: a:80\r\nAccept: */*\r\n"},
    {"GET /a?b=1,2;3 a (none)", true, "GET /a?b=1%2c2%3B3 HTTP/1.1\r\nHost: a\r\n"},
    {"GET /a+b?c a (none)", false, "GET /a+b?c HTTP/1.1\r\nHost: a\r\n"},
    {"OPTIONS * a (none)", false, "OPTIONS * HTTP/1.1\r\nHost: a\r\n"},
    {"GET / a (none)", false, HOST "Content-Length: 0\r\n"},
    {"GET / a b\tc", false, HOST "User-Agent: b\tc\r\n"},
    {"GET / a \xe9", false, HOST "User-Agent: \xe9\r\n"},
    {"GET / a c", false, HOST "User-Agent: b\r\nuser-agent: c\r\n"},
    {"GET / a b: c:", false, HOST "User-Agent: b: c:\r\n"},
    {"GET / a c", false, GET "Host:a\r\nUser-Agent:c\r\n"},
    {"GET / a c", false, GET "Host:  \t a\r\nUser-Agent:   c\r\n"},
    {"GET / a ", false, GET "Host: a\r\nUser-Agent:\r\n"},
    {"GET / (none) (none)", false, "GET / HTTP/1.0\r\n"},
    {"GET / a (none)", false, "GET / HTTP/1.0\r\nHost: a\r\n"},
    {"GET / a (none)", false, "GET / HTTP/1.2\r\nHost: a\r\n"},
    {"GET /b?c a:1 (none)", false, "GET http://a:1/b?c HTTP/1.1\r\nHost: d\r\n"},
    {"GET / a (none)", false, "GET HTTP://a HTTP/1.1\r\nHost: a\r\n"},
    {"GET /?@ [::1]:80 (none)", false, "GET http://[::1]:80?@ HTTP/1.1\r\nHost: a\r\n"},
    {"GET http:/ a (none)", false, "GET http:/ HTTP/1.1\r\nHost: a\r\n"},
};

START_TEST(test_served)
{
    send_head(served[_i].head);
    ck_assert_uint_eq(seen.count, 1);
    ck_assert_uint_eq(seen.refused, 0);
    ck_assert_str_eq(seen.text, served[_i].text);
    ck_assert_int_eq(seen.decoded, served[_i].decoded);
    ck_assert(!seen.last || strstr(served[_i].head, "HTTP/1.0"));
}
END_TEST

/* Accept-Encoding, If-Match and If-None-Match in several lines are one list each. */
static const struct {
    const char *list, *head;
} lists[] = {
    {"||", HOST},
    {"gzip||", HOST "Accept-Encoding: gzip\r\n"},
    {"gzip, zstd||", HOST "Accept-Encoding: gzip\r\naccept-encoding: zstd\r\n"},
    {"gzip, , zstd;q=0||", HOST "Accept-Encoding: gzip\r\nAccept-Encoding:\r\nX: y\r\n"
                                "Accept-Encoding: zstd;q=0\r\n"},
    {"a, b|\"c\", \"d\"|\"e\", \"f\", *",
     HOST "If-None-Match: \"e\"\r\nIf-Match: \"c\"\r\nAccept-Encoding: a\r\n"
          "If-None-Match: \"f\"\r\nAccept-Encoding: b\r\nIf-Match: \"d\"\r\nIf-None-Match: *\r\n"},
};

START_TEST(test_lists)
{
    send_head(lists[_i].head);
    ck_assert_uint_eq(seen.refused, 0);
    ck_assert_str_eq(seen.list, lists[_i].list);
}
END_TEST

static const struct {
    unsigned refused;
    const char *why, *head;
} refused[] = {
    {405, "method: expected GET, HEAD or OPTIONS", "POST / HTTP/1.1\r\nHost: a\r\n"},
    {405, "method: expected GET, HEAD or OPTIONS", "get / HTTP/1.1\r\nHost: a\r\n"},
    {400, "method: expected GET, HEAD or OPTIONS", "G(T / HTTP/1.1\r\nHost: a\r\n"},
    {400, "URL: invalid character", "GET /\" HTTP/1.1\r\nHost: a\r\n"},
    {400, "URL: invalid character", "GET /a#b HTTP/1.1\r\nHost: a\r\n"},
    {400, "URL: invalid character", "GET /\xc3\xb6 HTTP/1.1\r\nHost: a\r\n"},
    {400, "URL: invalid character", "GET /\x01 HTTP/1.1\r\nHost: a\r\n"},
    {400, "URL: expected http://HOST/...", "GET http:// HTTP/1.1\r\nHost: a\r\n"},
    {400, "URL: expected http://HOST/...", "GET http:///a HTTP/1.1\r\nHost: a\r\n"},
    {400, "URL: expected http://HOST/...", "GET http://?a HTTP/1.1\r\nHost: a\r\n"},
    {400, "URL: expected http://HOST/...", "GET http://a@b/ HTTP/1.1\r\nHost: a\r\n"},
    {400, "Transfer-Encoding: request bodies are not accepted",
     HOST "Transfer-Encoding: chunked\r\n"},
    {400, "Content-Length: request bodies are not accepted", HOST "Content-Length: 1\r\n"},
    {400, "Content-Length: request bodies are not accepted", HOST "Content-Length: 00\r\n"},
    {400, "Content-Length: request bodies are not accepted",
     HOST "Content-Length: 0\r\ncontent-length: 5\r\n"},
    {417, "Expect: request bodies are not accepted", HOST "Expect: 100-continue\r\n"},
    {400, "Host: given twice", HOST "HOST: b\r\n"},
    {400, "Host: given twice", "GET / HTTP/1.0\r\nHost: a\r\nHost: b\r\n"},
    {400, "header: folded, or invalid character", HOST "X(Y): 0\r\n"},
    {400, "header: folded, or invalid character", HOST "X\xe9: 0\r\n"},
    {400, "header: folded, or invalid character", HOST "X: a\x7f\r\n"},
    {400, "header: folded, or invalid character", HOST "X: a\x01\r\n"},
    /* The first reason is kept. */
    {405, "method: expected GET, HEAD or OPTIONS", "POST / HTTP/1.1\r\nHost: a\r\nHost: b\r\n"},
    {417, "Expect: request bodies are not accepted", HOST "Expect: x\r\nContent-Length: 1\r\n"},
};

START_TEST(test_refused)
{
    send_head(refused[_i].head);
    ck_assert_uint_eq(seen.count, 1);
    ck_assert_uint_eq(seen.refused, refused[_i].refused);
    ck_assert_str_eq(seen.why, refused[_i].why);
}
END_TEST

/* Each is refused by libmicrohttpd, or here, and what is behind it is not served. A part that is
 * hidden may be as long as what others lack. */
static const char *const hidden[] = {
    HOST "X: a\r\n b\r\n",
    HOST "X:\r\n a\r\n",
    HOST "X: a\r\n\tContent-Length: 5\r\n",
    HOST "Content-Length:\r\n 5\r\n",
    HOST "X : a\r\n",
    GET " Host: a\r\nHost: b\r\n",
    HOST "Content-Length:\n 40\n",
    HOST "Transfer-Encoding:\n chunked\n",
    GET "Host:a\r\nA:b\r\nContent-Length:\r\n 40\r\n",
    HOST "X: a\nY: b\r\n",
    "GET / HTTP/1.1\nHost: a\r\n",
    HOST "X: a\rY: b\r\n",
    "GET  / HTTP/1.1\r\nHost:a\r\n",
    "GET / HTTP/1.1 \r\nHost:a\r\n",
};

START_TEST(test_hidden)
{
    char text[512];
    snprintf(text, sizeof text, "%s\r\n" GET "Host: behind\r\n", hidden[_i]);
    send_head(text);
    ck_assert_uint_le(seen.count, 1);
    ck_assert(seen.count == 0 || seen.refused == 400);
}
END_TEST

static const struct {
    const char *head;
    size_t size;
} nuls[] = {
#define NULS(text)               \
    {                            \
        (text), sizeof(text) - 1 \
    }
    NULS(GET "Host:a\r\nA:b\r\nX: a\0c\r\n"),
    NULS(GET "Host:a\r\nX: a\0\r\n"),
    NULS(HOST "\0X: y\r\n"),
    NULS("HEAD\0 / HTTP/1.1\r\nHost:a\r\n"),
    NULS("GET /\0 HTTP/1.1\r\nHost:a\r\n"),
};

START_TEST(test_nuls)
{
    send_bytes(nuls[_i].head, nuls[_i].size);
    ck_assert(seen.count == 0 || seen.refused == 400);
}
END_TEST

static const struct {
    const char *head;
    bool last;
} connections[] = {
    {HOST "Connection: close\r\n", true},
    {HOST "Connection: keep-alive\r\n", false},
    {HOST "Connection: Close\r\n", true},
    {HOST "Connection: a, close ,b\r\n", true},
    {HOST "Connection: closed\r\n", false},
    {HOST "Connection: keep-alive,\tclose\r\n", true},
    {"GET / HTTP/1.0\r\n", true},
    {"GET / HTTP/1.0\r\nConnection: keep-alive\r\n", false},
    {"GET / HTTP/1.0\r\nConnection: close\r\n", true},
};

START_TEST(test_connection)
{
    send_head(connections[_i].head);
    ck_assert_uint_eq(seen.refused, 0);
    ck_assert_int_eq(seen.last, connections[_i].last);
}
END_TEST

START_TEST(test_lengths)
{
    static char head[16 * 1024];
    for (int length = 8191; length <= 8194; length++) {
        snprintf(head, sizeof head, "GET /%0*d HTTP/1.1\r\nHost: a\r\n", length - 1, 0);
        send_head(head);
        ck_assert_uint_eq(seen.refused, length > 8192 ? 414 : 0);
    }
    for (int length = 12287; length <= 12290; length++) {
        const int rest = (int)strlen(HOST "X: \r\n\r\n");
        snprintf(head, sizeof head, HOST "X: %0*d\r\n", length - rest, 0);
        send_head(head);
        ck_assert_uint_eq(seen.refused, length > 12288 ? 431 : 0);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("request_head");
    TCase *tcase = suite_case(suite, "request_head");
    tcase_add_loop_test(tcase, test_served, 0, ROWS(served));
    tcase_add_loop_test(tcase, test_lists, 0, ROWS(lists));
    tcase_add_loop_test(tcase, test_refused, 0, ROWS(refused));
    tcase_add_loop_test(tcase, test_hidden, 0, ROWS(hidden));
    tcase_add_loop_test(tcase, test_nuls, 0, ROWS(nuls));
    tcase_add_loop_test(tcase, test_connection, 0, ROWS(connections));
    tcase_add_test(tcase, test_lengths);
    return suite_run(suite);
}
