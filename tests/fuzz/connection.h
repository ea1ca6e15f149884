/*
 * Whole connections, for fuzz targets: the input is sent to a daemon in this process. Its first
 * byte is the size of the pieces in which it is sent. Its second byte selects how the client ends:
 * it half-closes, and then every request that libmicrohttpd does not refuse itself gets a response,
 * in order; or it disconnects at once. Each response is well-formed, with a known status and a body
 * of the given length. Every request is completed once. When the client has disconnected, its
 * connection is closed, and no file stays open.
 *
 * A streamed response may be cut off if its client has half-closed.
 */
#ifndef FARLANDS_FUZZ_CONNECTION_H
#define FARLANDS_FUZZ_CONNECTION_H

#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "server/tiles/render.h"
#include "tests/fuzz/daemon.h"
#include "tests/fuzz/responses.h"

enum {
    PIECES_MAX = 256,
    GOT_MAX = 1 << 24, /* the client disconnects after this many bytes */
    TICK_MS = 20,
    QUIET = 4, /* turns of the loop without any event */
    FILES_MAX = 64,
};

/* --- The client ---------------------------------------------------------------- */

struct client {
    struct daemon *server;
    uv_poll_t poll;
    uv_timer_t clock; /* also wakes a loop that sleeps with no work left */
    int ticks, most_ticks;
    int fd, handles;      /* not closed yet */
    const uint8_t *bytes; /* the whole input */
    size_t size;
    struct input input; /* the rest of it */
    size_t piece;
    bool half_close; /* or disconnect at once */
    bool ended, reset, full;
    size_t length;
    char *got;
};

static void client_receive(struct client *client)
{
    client->full = client->length == GOT_MAX;
    if (client->full)
        return;
    const ssize_t n =
        recv(client->fd, client->got + client->length, GOT_MAX - client->length, MSG_DONTWAIT);
    if (n > 0)
        client->length += (size_t)n;
    client->reset |= n < 0 && errno != EAGAIN;
    client->ended |= n == 0 || client->reset;
}

static void client_send(struct client *client)
{
    struct input *input = &client->input;
    const size_t wanted = input->left < client->piece ? input->left : client->piece;
    const ssize_t n = send(client->fd, input->at, wanted, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (n < 0 && errno == EAGAIN)
        return;
    const size_t sent = n < 0 ? input->left : (size_t)n; /* on error the rest is lost */
    input->at += sent;
    input->left -= sent;
    if (input->left == 0 && client->half_close)
        shutdown(client->fd, SHUT_WR);
}

static void on_ready(uv_poll_t *poll, int status, int events)
{
    struct client *client = poll->data;
    (void)status;
    if (events & UV_WRITABLE && client->input.left > 0)
        client_send(client);
    if (events & UV_READABLE || status < 0)
        client_receive(client);
    uv_poll_start(poll, client->input.left > 0 ? UV_READABLE | UV_WRITABLE : UV_READABLE, on_ready);
}

static void on_tick(uv_timer_t *timer)
{
    struct client *client = timer->data;
    must(client->ticks++ < client->most_ticks,
         "%zu bytes unsent, %zu requests, %zu bytes of responses", client->input.left,
         client->server->requests, client->length);
}

static void on_closed(uv_handle_t *handle)
{
    struct client *client = handle->data;
    client->handles--;
}

/* --- Responses --------------------------------------------------------------- */

/* True if the response HEAD to ASKED may be streamed: it has more than a piece of 2-byte samples.
 */
static bool is_streamed(const struct asked *asked, const struct head *head)
{
    return asked->region && (head->lengths == 0 || head->status == 206 ||
                             head->length > (size_t)RENDER_PIECE_MAX * 2);
}

/* Check a page of libmicrohttpd's own, HEAD with the bytes from AT on, which no request has: it is
 * the last response. 0.9 appends it a second time to some. */
static void check_own_page(const struct head *head, const char *at, const char *end)
{
    must(head->close && head->status >= 400, "%u without a request", head->status);
    must(!memmem(at, (size_t)(end - at), "HTTP/1.1 2", 10), "a response after %u", head->status);
}

/* True if all responses are there and complete, and the connection has closed if they say so. */
static bool is_complete(const struct client *client)
{
    const char *at = client->got, *end = at + client->length;
    size_t responses = 0;
    bool last = false;
    while (at < end) {
        struct head head;
        must(!last, "a response after the last one");
        at = check_head(&head, at, end);
        if (!at)
            return false;
        last = head.close;
        if (responses >= client->server->requests) {
            check_own_page(&head, at, end);
            return client->ended;
        }
        const struct asked asked = client->server->asked[responses++];
        must(last || !(asked.refused || asked.last), "%u keeps the connection", head.status);
        if (!head_has_body(&head, asked.head))
            continue;
        must(head.lengths == 1 || asked.region, "no length with status %u", head.status);
        at = check_body(&head, at, end, client->ended);
        if (!at)
            return client->ended && is_streamed(&asked, &head);
    }
    return responses >= client->server->requests && (client->ended || !last);
}

/* --- One input --------------------------------------------------------------- */

/* Send and receive until the client disconnects, the connection ends, or no response is missing.
 * (The connection may then stay open until its deadline: libmicrohttpd does not notice a half-close
 * that arrives together with the last bytes.) */
static void client_talk(struct client *client)
{
    uv_loop_t *loop = &client->server->loop;
    size_t length = 0;
    int quiet = 0;
    while (!client->ended && !client->full && client->input.left > 0)
        uv_run(loop, UV_RUN_ONCE);
    while (client->half_close && !client->ended && !client->full &&
           (quiet < QUIET || !is_complete(client))) {
        uv_run(loop, quiet < QUIET ? UV_RUN_NOWAIT : UV_RUN_ONCE);
        quiet = client->length == length ? quiet + 1 : 0;
        length = client->length;
    }
    must(client->reset || client->full || !client->half_close || is_complete(client),
         "responses are missing");
}

/* Disconnect, and wait until nothing is left that could affect the next input. */
static void client_disconnect(struct client *client)
{
    uv_loop_t *loop = &client->server->loop;
    uv_poll_stop(&client->poll);
    uv_close((uv_handle_t *)&client->poll, on_closed);
    close(client->fd);
    for (int i = 0;
         daemon_is_busy(client->server) || client->server->closed < client->server->adopted; i++) {
        uv_run(loop, i < QUIET ? UV_RUN_NOWAIT : UV_RUN_ONCE);
        /* Notices disconnected clients whose response waits for bytes. */
        http_expire(client->server->http, &(unsigned){0});
    }
    for (int i = 0; i < QUIET; i++) /* the last messages */
        uv_run(loop, UV_RUN_NOWAIT);
    must(client->server->closed == client->server->adopted, "closed twice");
    must(client_limits_count(client->server->clients) == 0, "pending requests left");
    must(client->server->completed == client->server->requests, "%zu of %zu requests completed",
         client->server->completed, client->server->requests);
    uv_close((uv_handle_t *)&client->clock, on_closed);
    while (client->handles > 0)
        uv_run(loop, UV_RUN_NOWAIT);
}

static void client_run(struct client *client)
{
    int ends[2];
    must(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends) == 0 &&
             ends[1] < FILES_MAX,
         "files stay open: %s", strerror(errno));
    client->fd = ends[0];
    client->handles = 2;
    client->poll.data = client->clock.data = client;
    uv_poll_init(&client->server->loop, &client->poll, client->fd);
    uv_timer_init(&client->server->loop, &client->clock);
    uv_update_time(&client->server->loop);
    uv_timer_start(&client->clock, on_tick, TICK_MS, TICK_MS);
    uv_poll_start(&client->poll, UV_READABLE | UV_WRITABLE, on_ready);
    if (client->input.left == 0 && client->half_close)
        shutdown(client->fd, SHUT_WR);
    daemon_adopt(client->server, ends[1]);
    client_talk(client);
    client_disconnect(client);
    is_complete(client); /* well-formed even if cut off */
}

/* Send an input to SERVER, which responds within PATIENCE_MS, or PATIENCE times as long. */
static void connection_run(struct daemon *server, const uint8_t *bytes, size_t size,
                           int patience_ms)
{
    static char got[GOT_MAX];
    const char *patience = getenv("PATIENCE");
    struct input input = {bytes, size};
    daemon_forget(server);
    const size_t piece = input_byte(&input), least = size / PIECES_MAX + 1;
    const bool half_close = !(input_byte(&input) & 1);
    struct client client = {.server = server,
                            .bytes = bytes,
                            .size = size,
                            .input = input,
                            .piece = piece == 0      ? size + 1
                                     : piece < least ? least
                                                     : piece,
                            .half_close = half_close,
                            .most_ticks = patience_ms / TICK_MS * (patience ? atoi(patience) : 1),
                            .got = got};
    client_run(&client);
}

#endif
