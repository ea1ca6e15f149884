#include "http.h"

#include <assert.h>
#include <errno.h>
#include <microhttpd.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#include "server/framing.h"
#include "server/links.h"
#include "server/listener.h"
#include "server/log.h"

enum {
    /* Request line and headers as they came and as they are kept (cookies
     * twice), and the headers of the answer. */
    CONNECTION_MEMORY = 32 * 1024,
    OTHER_FILES = 320, /* render threads, cache files, the loop's own */
    ADDRESS_MAX = 300,
    SWEEP_MS = 250,     /* how often deadlines are looked at */
    ACCEPTS_MAX = 1000, /* rounds of accepting what is in the backlog when draining */
};

struct http {
    uv_loop_t *loop;
    struct MHD_Daemon *daemon;
    uv_poll_t poll;
    uv_timer_t timer;
    uv_prepare_t prepare;
    uv_timer_t sweep;
    bool work_due; /* a connection was resumed: libmicrohttpd must run before the loop sleeps */
    http_handler *handler;
    void *context;
    struct links links;
    int listen_fd;
    bool draining;
    void (*drained)(void *context);
    void *drained_context;
    uint64_t logged; /* when libmicrohttpd's last message was let through, ms */
    char address[ADDRESS_MAX];
};

enum state {
    STATE_NEW,     /* request line known */
    STATE_CHECKED, /* headers known and acceptable */
    STATE_HANDLED, /* with the handler */
    STATE_PARKED,  /* suspended until the answer is there */
    STATE_ANSWERED,
};

struct http_exchange {
    struct http *http;
    struct MHD_Connection *connection;
    struct link *link;
    enum state state;
    struct http_request request;
    bool close; /* close the connection after the answer */
    unsigned status;
    struct MHD_Response *response;
    uint64_t begun; /* ns, for the log */
    char uri[];
};

static void on_timer(uv_timer_t *timer);

static void run(struct http *http)
{
    unsigned long long timeout;

    http->work_due = false;
    MHD_run(http->daemon);
    /* A timeout of 0 counts: its fds are edge-triggered, so what MHD left
     * undone does not make the epoll fd readable again. */
    if (MHD_get_timeout(http->daemon, &timeout) == MHD_YES)
        uv_timer_start(&http->timer, on_timer, timeout, 0);
    else
        uv_timer_stop(&http->timer);
}

static void on_timer(uv_timer_t *timer)
{
    run(timer->data);
}

static void on_poll(uv_poll_t *poll, int status, int events)
{
    (void)status;
    (void)events;
    run(poll->data);
}

static void on_prepare(uv_prepare_t *prepare)
{
    struct http *http = prepare->data;
    if (http->work_due)
        run(http);
    if (http->draining && !http->links.first && http->drained) {
        void (*drained)(void *) = http->drained;
        http->drained = NULL;
        drained(http->drained_context);
    }
}

static void on_sweep(uv_timer_t *timer)
{
    struct http *http = timer->data;
    links_sweep(&http->links, uv_now(http->loop), http->draining);
}

/* --- One exchange ---------------------------------------------------------- */

/* The headers that matter, and the framing of all of them. */
struct head {
    struct framing framing;
    struct http_request *request;
};

/* Where the handler looks for the header NAME, or NULL where it never does. */
static const char **header_place(struct http_request *request, const char *name)
{
    const struct {
        const char *name;
        const char **place;
    } places[] = {
        {"Host", &request->host},
        {"Accept-Encoding", &request->accept_encoding},
        {"If-Match", &request->if_match},
        {"If-None-Match", &request->if_none_match},
        {"If-Range", &request->if_range},
        {"Range", &request->range},
        {"X-Forwarded-Host", &request->forwarded_host},
        {"X-Forwarded-Prefix", &request->forwarded_prefix},
        {"X-Forwarded-Proto", &request->forwarded_proto},
    };
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++)
        if (strcasecmp(places[i].name, name) == 0)
            return places[i].place;
    return NULL;
}

static enum MHD_Result on_header(void *context, enum MHD_ValueKind kind, const char *name,
                                 const char *value)
{
    struct head *head = context;
    (void)kind;

    if (!value)
        value = "";
    framing_header(&head->framing, name, value);
    const char **place = header_place(head->request, name);
    if (place)
        *place = value;
    return MHD_YES;
}

static void examine(struct http_exchange *exchange, const char *method, const char *version)
{
    struct http_request *request = &exchange->request;
    struct head head = {.request = request};

    framing_line(&head.framing, method, exchange->uri, version);
    MHD_get_connection_values(exchange->connection, MHD_HEADER_KIND, on_header, &head);
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(exchange->connection, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);
    framing_end(&head.framing, info ? info->header_size : 0);
    request->method = strcmp(method, "HEAD") == 0      ? HTTP_HEAD
                      : strcmp(method, "OPTIONS") == 0 ? HTTP_OPTIONS
                                                       : HTTP_GET;
    info = MHD_get_connection_info(exchange->connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    request->peer = info ? info->client_addr : NULL;
    request->uri = exchange->uri;
    request->refused = head.framing.refused;
    request->why = head.framing.why;
    exchange->close = head.framing.close;
}

static struct link *link_of(struct MHD_Connection *connection)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    return info ? info->socket_context : NULL;
}

static void enter(struct http_exchange *exchange, enum link_phase phase)
{
    link_enter(exchange->link, phase, uv_now(exchange->http->loop));
}

static void *on_uri(void *context, const char *uri, struct MHD_Connection *connection)
{
    struct http *http = context;
    size_t length = strlen(uri);
    struct http_exchange *exchange = calloc(1, sizeof *exchange + length + 1);
    if (!exchange)
        return NULL; /* on_request then closes the connection */
    exchange->http = http;
    exchange->connection = connection;
    exchange->link = link_of(connection);
    exchange->begun = uv_hrtime();
    memcpy(exchange->uri, uri, length);
    enter(exchange, LINK_HEADERS);
    return exchange;
}

static void release_body(void *blob)
{
    blob_release(blob);
}

static ssize_t no_body(void *context, uint64_t position, char *buffer, size_t max)
{
    (void)context, (void)position, (void)buffer, (void)max;
    return MHD_CONTENT_READER_END_OF_STREAM;
}

static size_t body_length(const struct http_answer *answer)
{
    return !answer->body ? 0 : answer->count ? answer->count : answer->body->length;
}

static struct MHD_Response *make_response(struct http_exchange *exchange,
                                          const struct http_answer *answer)
{
    struct MHD_Response *response;

    if (answer->body) {
        response = MHD_create_response_from_buffer_with_free_callback_cls(
            body_length(answer), answer->body->bytes + answer->first, release_body,
            blob_hold(answer->body));
    } else if (exchange->request.method == HTTP_HEAD && answer->status == MHD_HTTP_OK) {
        response = MHD_create_response_from_callback(answer->length < 0 ? MHD_SIZE_UNKNOWN
                                                                        : (uint64_t)answer->length,
                                                     1024, no_body, NULL, NULL);
        /* Of an unknown length libmicrohttpd would send the end of a chunked
         * body even for HEAD; like this it says nothing, and closes. */
        if (response && answer->length < 0)
            MHD_set_response_options(response, MHD_RF_HTTP_1_0_COMPATIBLE_STRICT, MHD_OPTION_END);
    } else {
        /* A 304 then says Content-Length: 0. Leaving it out needs a newer
         * libmicrohttpd, and with the true length some clients wait for a body. */
        response = MHD_create_response_from_buffer(0, NULL, MHD_RESPMEM_PERSISTENT);
    }
    if (!response) {
        blob_release(answer->body);
        return NULL;
    }
    bool whole = !answer->type || MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE,
                                                          answer->type) == MHD_YES;
    for (int i = 0; i < answer->header_count; i++)
        whole = MHD_add_response_header(response, answer->headers[i].name,
                                        answer->headers[i].value) == MHD_YES &&
                whole;
    if (exchange->http->draining || exchange->close)
        whole = MHD_add_response_header(response, MHD_HTTP_HEADER_CONNECTION, "close") == MHD_YES &&
                whole;
    if (!whole) {
        MHD_destroy_response(response);
        return NULL;
    }
    return response;
}

static void log_exchange(const struct http_exchange *exchange, const struct http_answer *answer)
{
    static const char *const methods[] = {"GET", "HEAD", "OPTIONS"};
    if (!log_enabled(LOG_DEBUG))
        return;
    log_line(LOG_DEBUG, "%s %.500s %u %zu bytes %.3f ms",
             exchange->request.refused ? "refused" : methods[exchange->request.method],
             exchange->uri, answer->status, body_length(answer),
             (double)(uv_hrtime() - exchange->begun) / 1e6);
}

void http_answer(struct http_exchange *exchange, const struct http_answer *answer)
{
    assert(exchange->state == STATE_HANDLED || exchange->state == STATE_PARKED);
    exchange->status = answer->status;
    exchange->response = make_response(exchange, answer);
    log_exchange(exchange, answer);
    if (exchange->state == STATE_PARKED) {
        MHD_resume_connection(exchange->connection);
        exchange->http->work_due = true;
    }
    exchange->state = STATE_ANSWERED;
}

static enum MHD_Result queue_response(struct http_exchange *exchange)
{
    if (!exchange->response)
        return MHD_NO; /* out of memory even for headers: close the connection */
    enter(exchange, LINK_SENDING);
    enum MHD_Result queued =
        MHD_queue_response(exchange->connection, exchange->status, exchange->response);
    MHD_destroy_response(exchange->response);
    exchange->response = NULL;
    return queued;
}

/*
 * libmicrohttpd 0.9.75 reads from a resumed connection before it asks for the
 * answer, and where the client has closed its sending side, closes it. Only
 * connections with a timeout of their own are looked after first: so one that
 * waits gets one.
 */
static void set_timeout(struct http_exchange *exchange, unsigned seconds)
{
    MHD_set_connection_option(exchange->connection, MHD_CONNECTION_OPTION_TIMEOUT, seconds);
}

static enum MHD_Result on_request(void *context, struct MHD_Connection *connection, const char *url,
                                  const char *method, const char *version, const char *upload,
                                  size_t *upload_size, void **exchange_place)
{
    struct http *http = context;
    struct http_exchange *exchange = *exchange_place;
    (void)connection, (void)url, (void)upload, (void)upload_size;

    if (!exchange)
        return MHD_NO;
    switch (exchange->state) {
    case STATE_NEW:
        examine(exchange, method, version);
        exchange->state = STATE_CHECKED;
        /* An answer to the first call makes MHD close the connection: right for
         * what is refused, wrong for everything else. */
        if (!exchange->request.refused)
            return MHD_YES;
        break;
    case STATE_CHECKED:
        break;
    case STATE_ANSWERED:
        set_timeout(exchange, LINK_IDLE_SECONDS);
        return queue_response(exchange);
    default:
        return MHD_NO;
    }
    exchange->state = STATE_HANDLED;
    enter(exchange, LINK_HANDLED);
    http->handler(http->context, exchange, &exchange->request);
    if (exchange->state == STATE_ANSWERED)
        return queue_response(exchange);
    exchange->state = STATE_PARKED;
    set_timeout(exchange, LINK_IDLE_SECONDS + 1);
    MHD_suspend_connection(exchange->connection);
    return MHD_YES;
}

static void on_completed(void *context, struct MHD_Connection *connection, void **exchange_place,
                         enum MHD_RequestTerminationCode code)
{
    struct http *http = context;
    struct http_exchange *exchange = *exchange_place;
    (void)code;

    link_enter(link_of(connection), LINK_IDLE, uv_now(http->loop));
    if (exchange && exchange->response)
        MHD_destroy_response(exchange->response);
    free(exchange);
    *exchange_place = NULL;
}

static void on_connection(void *context, struct MHD_Connection *connection, void **link_place,
                          enum MHD_ConnectionNotificationCode code)
{
    struct http *http = context;

    if (code == MHD_CONNECTION_NOTIFY_STARTED) {
        const union MHD_ConnectionInfo *info =
            MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
        struct link *link = link_new(&http->links, info->connect_fd, uv_now(http->loop));
        if (!link) /* nothing would look after it */
            shutdown(info->connect_fd, SHUT_RDWR);
        *link_place = link;
    } else {
        link_free(*link_place);
        *link_place = NULL;
    }
}

/* --- Starting and stopping ------------------------------------------------- */

static size_t leave_encoded(void *context, struct MHD_Connection *connection, char *text)
{
    (void)context, (void)connection;
    return strlen(text);
}

__attribute__((format(printf, 2, 0))) static void on_log(void *context, const char *format,
                                                         va_list arguments)
{
    struct http *http = context;
    char text[512];
    uint64_t now = uv_hrtime() / 1000000;

    if (http->logged && now - http->logged < 1000)
        return; /* it can log a million lines a second when files run out */
    http->logged = now;
    vsnprintf(text, sizeof text, format, arguments);
    text[strcspn(text, "\n")] = '\0';
    log_line(LOG_WARNING, "libmicrohttpd: %s", text);
}

static void on_panic(void *context, const char *file, unsigned line, const char *reason)
{
    (void)context;
    log_line(LOG_ERROR, "libmicrohttpd gave up: %s (%s:%u)", reason ? reason : "", file, line);
    abort();
}

static int start_daemon(struct http *http, int fd, unsigned connections)
{
    const unsigned flags = MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ERROR_LOG;

    MHD_set_panic_func(on_panic, NULL);
    http->daemon = MHD_start_daemon(
        flags, 0, NULL, NULL, on_request, http, MHD_OPTION_EXTERNAL_LOGGER, on_log, http,
        MHD_OPTION_LISTEN_SOCKET, fd, MHD_OPTION_CONNECTION_LIMIT, connections,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CONNECTION_MEMORY,
        MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)LINK_IDLE_SECONDS, MHD_OPTION_STRICT_FOR_CLIENT, 1,
        MHD_OPTION_SIGPIPE_HANDLED_BY_APP, 1, MHD_OPTION_URI_LOG_CALLBACK, on_uri, http,
        MHD_OPTION_UNESCAPE_CALLBACK, leave_encoded, NULL, MHD_OPTION_NOTIFY_COMPLETED,
        on_completed, http, MHD_OPTION_NOTIFY_CONNECTION, on_connection, http, MHD_OPTION_END);
    return http->daemon ? 0 : -ENOMEM;
}

/* The loop's handles. They cannot fail here but for epoll's own memory. */
static int start_loop(struct http *http)
{
    const union MHD_DaemonInfo *info = MHD_get_daemon_info(http->daemon, MHD_DAEMON_INFO_EPOLL_FD);
    if (!info)
        return -EINVAL;
    int err = uv_poll_init(http->loop, &http->poll, info->epoll_fd);
    if (err)
        return err;
    uv_timer_init(http->loop, &http->timer);
    uv_prepare_init(http->loop, &http->prepare);
    uv_timer_init(http->loop, &http->sweep);
    http->poll.data = http->timer.data = http->prepare.data = http->sweep.data = http;
    uv_poll_start(&http->poll, UV_READABLE, on_poll);
    uv_prepare_start(&http->prepare, on_prepare);
    uv_timer_start(&http->sweep, on_sweep, SWEEP_MS, SWEEP_MS);
    return 0;
}

/* Out of descriptors, accepting would spin: take fewer connections instead. */
static int fit_connections(unsigned *connections)
{
    unsigned files = listener_raise_file_limit(*connections + OTHER_FILES);
    if (files <= OTHER_FILES)
        return -EMFILE;
    if (files - OTHER_FILES < *connections) {
        log_line(LOG_WARNING, "limits.connections is %u, but %u open files (ulimit -Hn) allow %u",
                 *connections, files, files - OTHER_FILES);
        *connections = files - OTHER_FILES;
    }
    return 0;
}

int http_new(struct http **out, uv_loop_t *loop, const char *listen, unsigned connections,
             http_handler *handler, void *context)
{
    struct http *http = calloc(1, sizeof *http);
    if (!http)
        return -ENOMEM;
    http->loop = loop;
    http->handler = handler;
    http->context = context;
    int err = fit_connections(&connections);
    if (err)
        goto fail_listen;
    int fd = listener_open(listen);
    err = fd < 0 ? fd : 0;
    if (err)
        goto fail_listen;
    http->listen_fd = fd;
    listener_address(fd, http->address, sizeof http->address);
    err = start_daemon(http, fd, connections);
    if (err) {
        close(fd);
        goto fail_listen;
    }
    err = start_loop(http);
    if (err)
        goto fail_loop;
    *out = http;
    return 0;

fail_loop:
    MHD_stop_daemon(http->daemon);
fail_listen:
    free(http);
    return err;
}

const char *http_address(const struct http *http)
{
    return http->address;
}

void http_drain(struct http *http, void (*drained)(void *context), void *context)
{
    http->draining = true;
    http->drained = drained;
    http->drained_context = context;
    /* Whoever is in the backlog has connected, and gets an answer. */
    struct pollfd backlog = {.fd = http->listen_fd, .events = POLLIN};
    for (int i = 0; i < ACCEPTS_MAX && poll(&backlog, 1, 0) == 1; i++)
        run(http);
    int fd = MHD_quiesce_daemon(http->daemon);
    if (fd != MHD_INVALID_SOCKET)
        close(fd);
    /* From now on on_sweep closes whoever has asked for nothing, after a grace
     * in which a request under way arrives. */
    http->work_due = true;
}

void http_close(struct http *http)
{
    MHD_run(http->daemon);     /* sends what has just been answered */
    uv_poll_stop(&http->poll); /* before its fd is closed */
    uv_close((uv_handle_t *)&http->poll, NULL);
    uv_close((uv_handle_t *)&http->timer, NULL);
    uv_close((uv_handle_t *)&http->prepare, NULL);
    uv_close((uv_handle_t *)&http->sweep, NULL);
    MHD_stop_daemon(http->daemon);
    http->daemon = NULL;
}

void http_free(struct http *http)
{
    free(http);
}
