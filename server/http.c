#include "http.h"

#include <assert.h>
#include <errno.h>
#include <microhttpd.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "server/log.h"

enum {
    IDLE_SECONDS = 60,             /* a silent connection is closed */
    CONNECTION_MEMORY = 16 * 1024, /* request line and headers must fit */
    URI_MAX = 8 * 1024,
    OTHER_FILES = 320, /* render threads, cache files, the loop's own */
    ADDRESS_MAX = 300,
};

/* A client's connection, for draining. */
struct link {
    struct link *next, **self;
    int fd;
    bool busy; /* between request line and end of answer */
};

struct http {
    uv_loop_t *loop;
    struct MHD_Daemon *daemon;
    uv_poll_t poll;
    uv_timer_t timer;
    uv_prepare_t prepare;
    bool work_due; /* a connection was resumed: libmicrohttpd must run before the loop sleeps */
    http_handler *handler;
    void *context;
    struct link *links;
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
    enum state state;
    struct http_request request;
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
    if (http->draining && !http->links && http->drained) {
        void (*drained)(void *) = http->drained;
        http->drained = NULL;
        drained(http->drained_context);
    }
}

/* --- What is acceptable ---------------------------------------------------- */

static bool is_token(const char *name)
{
    /* tchar of RFC 9110, section 5.6.2 */
    for (const char *c = name; *c; c++)
        if (!((*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || (*c >= '0' && *c <= '9') ||
              strchr("!#$%&'*+-.^_`|~", *c)))
            return false;
    return *name != '\0';
}

static bool has_control(const char *value)
{
    for (const unsigned char *c = (const unsigned char *)value; *c; c++)
        if ((*c < 32 && *c != '\t') || *c == 127)
            return true;
    return false;
}

/* What the headers tell that decides whether the request may be served. */
struct framing {
    unsigned hosts, lengths;
    const char *fault;
    struct http_request *request;
};

static enum MHD_Result on_header(void *context, enum MHD_ValueKind kind, const char *name,
                                 const char *value)
{
    struct framing *framing = context;
    (void)kind;

    if (!value)
        value = "";
    if (!is_token(name) || has_control(value))
        framing->fault = "a header has characters that headers cannot have";
    else if (strcasecmp(name, "Transfer-Encoding") == 0)
        framing->fault = "Transfer-Encoding: a request with a body is not accepted";
    else if (strcasecmp(name, "Content-Length") == 0 && (framing->lengths++ || strcmp(value, "0")))
        framing->fault = "Content-Length: a request with a body is not accepted";
    else if (strcasecmp(name, "Host") == 0 && framing->hosts++)
        framing->fault = "Host: given twice";
    if (strcasecmp(name, "Host") == 0)
        framing->request->host = value;
    else if (strcasecmp(name, "If-None-Match") == 0)
        framing->request->if_none_match = value;
    return MHD_YES;
}

/* The characters of the server's own URLs; anything else cannot be one of them. */
static bool uri_acceptable(const char *uri)
{
    static const char others[] = "/._-@:?&=,;~";
    for (const char *c = uri; *c; c++)
        if (!((*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || (*c >= '0' && *c <= '9') ||
              strchr(others, *c)))
            return false;
    return true;
}

static void refuse(struct http_request *request, unsigned status, const char *why)
{
    if (request->refused)
        return;
    request->refused = status;
    request->why = why;
}

static void examine(struct http_exchange *exchange, const char *method, const char *version)
{
    struct http_request *request = &exchange->request;
    struct framing framing = {.request = request};

    request->uri = exchange->uri;
    MHD_get_connection_values(exchange->connection, MHD_HEADER_KIND, on_header, &framing);
    if (strcmp(method, "GET") == 0)
        request->method = HTTP_GET;
    else if (strcmp(method, "HEAD") == 0)
        request->method = HTTP_HEAD;
    else if (strcmp(method, "OPTIONS") == 0)
        request->method = HTTP_OPTIONS;
    else
        refuse(request, 405, "method: accepted are GET, HEAD and OPTIONS");
    if (framing.fault)
        refuse(request, 400, framing.fault);
    if (framing.hosts == 0 && strcmp(version, "HTTP/1.0") != 0)
        refuse(request, 400, "Host: missing");
    if (strlen(exchange->uri) > URI_MAX)
        refuse(request, 414, "URL: longer than 8 KiB");
    if (!uri_acceptable(exchange->uri) &&
        !(request->method == HTTP_OPTIONS && strcmp(exchange->uri, "*") == 0))
        refuse(request, 400,
               "URL: has characters that none of this server's URLs has; nothing in "
               "them is percent-encoded");
}

/* --- One exchange ---------------------------------------------------------- */

static struct link *link_of(struct MHD_Connection *connection)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    return info ? info->socket_context : NULL;
}

static void *on_uri(void *context, const char *uri, struct MHD_Connection *connection)
{
    struct http *http = context;
    size_t length = strlen(uri);
    struct http_exchange *exchange = calloc(1, sizeof *exchange + length + 1);
    if (!exchange)
        return NULL; /* on_request answers 503 */
    exchange->http = http;
    exchange->connection = connection;
    exchange->begun = uv_hrtime();
    memcpy(exchange->uri, uri, length);
    struct link *link = link_of(connection);
    if (link)
        link->busy = true;
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

static struct MHD_Response *make_response(struct http_exchange *exchange,
                                          const struct http_answer *answer)
{
    struct MHD_Response *response;

    if (answer->body)
        response = MHD_create_response_from_buffer_with_free_callback_cls(
            answer->body->length, answer->body->bytes, release_body, blob_hold(answer->body));
    else if (exchange->request.method == HTTP_HEAD && answer->status == MHD_HTTP_OK)
        response = MHD_create_response_from_callback(answer->length < 0 ? MHD_SIZE_UNKNOWN
                                                                        : (uint64_t)answer->length,
                                                     1024, no_body, NULL, NULL);
    else
        response = MHD_create_response_from_buffer(0, NULL, MHD_RESPMEM_PERSISTENT);
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
    if (exchange->http->draining)
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
             exchange->uri, answer->status, answer->body ? answer->body->length : 0,
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
    enum MHD_Result queued =
        MHD_queue_response(exchange->connection, exchange->status, exchange->response);
    MHD_destroy_response(exchange->response);
    exchange->response = NULL;
    return queued;
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
        return queue_response(exchange);
    default:
        return MHD_NO;
    }
    exchange->state = STATE_HANDLED;
    http->handler(http->context, exchange, &exchange->request);
    if (exchange->state == STATE_ANSWERED)
        return queue_response(exchange);
    exchange->state = STATE_PARKED;
    MHD_suspend_connection(exchange->connection);
    return MHD_YES;
}

static void on_completed(void *context, struct MHD_Connection *connection, void **exchange_place,
                         enum MHD_RequestTerminationCode code)
{
    struct http *http = context;
    struct http_exchange *exchange = *exchange_place;
    struct link *link = link_of(connection);
    (void)code;

    if (link) {
        link->busy = false;
        if (http->draining)
            shutdown(link->fd, SHUT_RD);
    }
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
        struct link *link = calloc(1, sizeof *link);
        *link_place = link;
        if (!link)
            return; /* only draining misses it, and has a deadline */
        link->fd = info ? info->connect_fd : -1;
        link->next = http->links;
        link->self = &http->links;
        if (link->next)
            link->next->self = &link->next;
        http->links = link;
    } else if (*link_place) {
        struct link *link = *link_place;
        *link->self = link->next;
        if (link->next)
            link->next->self = link->self;
        free(link);
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

/* Make sure that CONNECTIONS sockets can be open besides the process's own files. */
static int raise_file_limit(unsigned connections)
{
    struct rlimit limit;
    rlim_t needed = (rlim_t)connections + OTHER_FILES;

    if (getrlimit(RLIMIT_NOFILE, &limit))
        return -errno;
    if (limit.rlim_cur >= needed)
        return 0;
    if (limit.rlim_max < needed)
        return -EMFILE;
    limit.rlim_cur = needed;
    return setrlimit(RLIMIT_NOFILE, &limit) ? -errno : 0;
}

static int listen_socket(const struct addrinfo *address)
{
    int on = 1;
    int fd = socket(address->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -errno;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (bind(fd, address->ai_addr, address->ai_addrlen) || listen(fd, SOMAXCONN)) {
        int err = -errno;
        close(fd);
        return err;
    }
    return fd;
}

/* HOST:PORT -> a listening socket, or a negative code. */
static int listen_on(const char *text)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE};
    struct addrinfo *addresses;
    char host[256];
    const char *colon = strrchr(text, ':');
    bool bracketed = text[0] == '[';

    snprintf(host, sizeof host, "%.*s", (int)(colon - text) - 2 * bracketed, text + bracketed);
    int err = getaddrinfo(host, colon + 1, &hints, &addresses);
    if (err)
        return err == EAI_MEMORY ? -ENOMEM : UV_EAI_NONAME;
    int fd = listen_socket(addresses);
    freeaddrinfo(addresses);
    return fd;
}

static void read_address(struct http *http, int fd)
{
    struct sockaddr_storage address;
    socklen_t length = sizeof address;
    char host[200], port[16];

    if (getsockname(fd, (struct sockaddr *)&address, &length) ||
        getnameinfo((struct sockaddr *)&address, length, host, sizeof host, port, sizeof port,
                    NI_NUMERICHOST | NI_NUMERICSERV))
        return;
    bool brackets = strchr(host, ':') != NULL;
    snprintf(http->address, sizeof http->address, "%s%s%s:%s", brackets ? "[" : "", host,
             brackets ? "]" : "", port);
}

static int start_daemon(struct http *http, int fd, unsigned connections)
{
    const unsigned flags = MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ERROR_LOG;

    MHD_set_panic_func(on_panic, NULL);
    http->daemon = MHD_start_daemon(
        flags, 0, NULL, NULL, on_request, http, MHD_OPTION_EXTERNAL_LOGGER, on_log, http,
        MHD_OPTION_LISTEN_SOCKET, fd, MHD_OPTION_CONNECTION_LIMIT, connections,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CONNECTION_MEMORY,
        MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)IDLE_SECONDS, MHD_OPTION_STRICT_FOR_CLIENT, 1,
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
    http->poll.data = http->timer.data = http->prepare.data = http;
    uv_poll_start(&http->poll, UV_READABLE, on_poll);
    uv_prepare_start(&http->prepare, on_prepare);
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
    int err = raise_file_limit(connections);
    if (err)
        goto fail_listen;
    int fd = listen_on(listen);
    err = fd < 0 ? fd : 0;
    if (err)
        goto fail_listen;
    read_address(http, fd);
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
    run(http); /* whoever is in the backlog has connected, and gets an answer */
    int fd = MHD_quiesce_daemon(http->daemon);
    if (fd != MHD_INVALID_SOCKET)
        close(fd);
    /* What has arrived is still read and answered; then the end of the stream is seen. */
    for (struct link *link = http->links; link; link = link->next)
        if (!link->busy)
            shutdown(link->fd, SHUT_RD);
    http->work_due = true;
}

void http_close(struct http *http)
{
    uv_poll_stop(&http->poll); /* before its fd is closed */
    uv_close((uv_handle_t *)&http->poll, NULL);
    uv_close((uv_handle_t *)&http->timer, NULL);
    uv_close((uv_handle_t *)&http->prepare, NULL);
    MHD_stop_daemon(http->daemon);
    http->daemon = NULL;
}

void http_free(struct http *http)
{
    free(http);
}

const char *http_error(int err)
{
    switch (err) {
    case -EADDRINUSE:
        return "the address is in use";
    case UV_EAI_NONAME:
        return "unknown host";
    case -EMFILE:
        return "too few files may be open for limits.connections (see ulimit -Hn)";
    default:
        return uv_strerror(err);
    }
}
