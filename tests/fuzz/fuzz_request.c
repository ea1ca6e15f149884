/*
 * Whole connections: the input is sent to a daemon in this process. Its first byte is the size of
 * the pieces in which it is sent. Its second byte selects how the client ends: it half-closes, and
 * then every request gets a response, in order; or it disconnects at once. Each response is
 * well-formed, with a known status and a body of the given length. Every request is completed once.
 * When the client has disconnected, its connection is closed, and no file stays open.
 *
 * A streamed response may be cut off if its client has half-closed.
 *
 * Renders and spawn searches are fakes, immediate or on the render thread.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "server/png/deflate/adler.h"
#include "server/tiles/render.h"
#include "server/world/spawn_search.h"
#include "tests/fuzz/daemon.h"
#include "tests/fuzz/responses.h"

enum {
    INPUT_MAX = 1 << 14, /* a request has at least 16 bytes: GET / HTTP/1.0 and its end */
    PIECES_MAX = 256,
    GOT_MAX = 1 << 24, /* the client disconnects after this many bytes */
    PATIENCE_MS = 8000,
    TICK_MS = 20,
    QUIET = 4, /* turns of the loop without any event */
    FILES_MAX = 64,
    FIRST_PNG = 3000, /* bytes of the PNG at x 0; 7 more for each x */
};

/* --- Fake renders -------------------------------------------------------------- */

struct render_scratch {
    char unused;
};

int render_scratch_new(struct render_scratch **out)
{
    *out = calloc(1, sizeof **out);
    return *out ? 0 : -ENOMEM;
}

void render_scratch_free(struct render_scratch *scratch)
{
    free(scratch);
}

const void *render_scratch_pixels(const struct render_scratch *scratch)
{
    return scratch;
}

/* Some fail. Raw tiles have the right length, because it is sent before they are rendered. */
int render_tile(struct blob **out, struct render_scratch *scratch, const struct tile *tile,
                struct render_times *times)
{
    (void)scratch, (void)times;
    const size_t samples = (size_t)tile_size(tile) * (size_t)tile_size(tile);
    const size_t length = tile->format == FORMAT_PNG ? FIRST_PNG + 7 * (size_t)(tile->x & 1023)
                                                     : samples * format_sample_bytes(tile->format);
    if ((tile->x & 7) == 5)
        return -EIO;
    *out = blob_new(length);
    if (!*out)
        return -ENOMEM;
    memset((*out)->bytes, '.', length);
    return 0;
}

/* Create samples of WIDTH bytes. Some pieces fail, also after others that succeeded. */
static int fake_piece(struct blob **out, const struct farlands_box *box, size_t width)
{
    const size_t count =
        (size_t)box->width * (size_t)box->height * (size_t)(box->depth ? box->depth : 1);
    must(count <= RENDER_PIECE_MAX, "%zu samples at once", count);
    must(box->y <= FARLANDS_LIMIT && box->z <= FARLANDS_LIMIT, "beyond the limit");
    if (((box->y + box->z) / box->step & 1023) == 77)
        return -EIO;
    *out = blob_new(count * width);
    if (!*out)
        return -ENOMEM;
    memset((*out)->bytes, '.', (*out)->length);
    return 0;
}

static struct farlands_box flat(const struct farlands_grid *grid)
{
    return (struct farlands_box){.x = grid->x,
                                 .y = grid->y,
                                 .step = grid->step,
                                 .width = grid->width,
                                 .height = grid->height};
}

int render_values(struct blob **out, struct render_scratch *scratch, const struct content *content,
                  enum format format, const struct farlands_grid *grid)
{
    const struct farlands_box box = flat(grid);
    (void)scratch, (void)content;
    return fake_piece(out, &box, format_sample_bytes(format));
}

int render_band(struct blob **out, struct adler *sum, struct render_scratch *scratch,
                const struct content *content, const struct farlands_grid *grid, int height)
{
    const struct farlands_box box = flat(grid);
    (void)scratch, (void)content, (void)height;
    *sum = adler_of((const uint8_t *)"", 0);
    return fake_piece(out, &box, 1);
}

int render_density(struct blob **out, struct render_scratch *scratch, const struct world *world,
                   const struct farlands_box *box)
{
    (void)scratch, (void)world;
    return fake_piece(out, box, 4);
}

/* --- Fake searches -------------------------------------------------------------- */

struct spawn_search {
    int left; /* calls of spawn_search_run() */
    struct spawn_place place;
};

struct farlands_scratch *render_scratch_noise(struct render_scratch *scratch)
{
    static struct farlands_scratch *only;
    (void)scratch;
    if (!only && farlands_scratch_new(&only))
        abort();
    return only;
}

int spawn_search_new(struct spawn_search **out, const struct farlands_terrain *terrain, int water,
                     const struct spawn_query *query)
{
    (void)terrain, (void)water;
    struct spawn_search *search = calloc(1, sizeof *search);
    if (!search)
        return -ENOMEM;
    search->left = (int)(query->x & 31);
    search->place.x = query->x;
    search->place.y = query->y;
    *out = search;
    return 0;
}

void spawn_search_free(struct spawn_search *search)
{
    free(search);
}

enum spawn_state spawn_search_run(struct spawn_search *search, struct farlands_scratch *scratch,
                                  int64_t samples)
{
    (void)scratch, (void)samples;
    if (search->left-- > 0)
        return SPAWN_NOT_YET;
    return search->place.y & 1 ? SPAWN_NONE : SPAWN_FOUND;
}

const struct spawn_place *spawn_search_place(const struct spawn_search *search)
{
    return &search->place;
}

static struct daemon *server;

/* --- The client ---------------------------------------------------------------- */

struct client {
    uv_poll_t poll;
    uv_timer_t clock; /* also wakes a loop that sleeps with no work left */
    int ticks;
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
    must(client->ticks++ < PATIENCE_MS / TICK_MS,
         "%zu bytes unsent, %zu requests, %zu bytes of responses", client->input.left,
         server->requests, client->length);
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
        must(responses < server->requests, "%u without a request", head.status);
        const struct asked asked = server->asked[responses++];
        must(last || !(asked.refused || asked.last), "%u keeps the connection", head.status);
        if (!head_has_body(&head, asked.head))
            continue;
        must(head.lengths == 1 || asked.region, "no length with status %u", head.status);
        at = check_body(&head, at, end, client->ended);
        if (!at)
            return client->ended && is_streamed(&asked, &head);
    }
    return responses >= server->requests && (client->ended || !last);
}

/* --- One input --------------------------------------------------------------- */

/* Send and receive until the client disconnects, the connection ends, or no response is missing.
 * (The connection may then stay open until its deadline: libmicrohttpd does not notice a half-close
 * that arrives together with the last bytes.) */
static void client_talk(struct client *client)
{
    uv_loop_t *loop = &server->loop;
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
    uv_loop_t *loop = &server->loop;
    uv_poll_stop(&client->poll);
    uv_close((uv_handle_t *)&client->poll, on_closed);
    close(client->fd);
    for (int i = 0; daemon_is_busy(server) || server->closed < server->adopted; i++) {
        uv_run(loop, i < QUIET ? UV_RUN_NOWAIT : UV_RUN_ONCE);
        http_expire(server->http); /* notices disconnected clients whose response waits for bytes */
    }
    for (int i = 0; i < QUIET; i++) /* the last messages */
        uv_run(loop, UV_RUN_NOWAIT);
    must(server->closed == server->adopted, "closed twice");
    must(client_limits_count(server->clients) == 0, "pending requests left");
    must(server->completed == server->requests, "%zu of %zu requests completed", server->completed,
         server->requests);
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
    uv_poll_init(&server->loop, &client->poll, client->fd);
    uv_timer_init(&server->loop, &client->clock);
    uv_update_time(&server->loop);
    uv_timer_start(&client->clock, on_tick, TICK_MS, TICK_MS);
    uv_poll_start(&client->poll, UV_READABLE | UV_WRITABLE, on_ready);
    if (client->input.left == 0 && client->half_close)
        shutdown(client->fd, SHUT_WR);
    daemon_adopt(server, ends[1]);
    client_talk(client);
    client_disconnect(client);
    is_complete(client); /* well-formed even if cut off */
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static char got[GOT_MAX];
    struct input input = {bytes, size};
    if (size > INPUT_MAX)
        return 0;
    if (!server)
        server = daemon_new();
    daemon_forget(server);
    const size_t piece = input_byte(&input), least = size / PIECES_MAX + 1;
    const bool half_close = !(input_byte(&input) & 1);
    struct client client = {.bytes = bytes,
                            .size = size,
                            .input = input,
                            .piece = piece == 0      ? INPUT_MAX
                                     : piece < least ? least
                                                     : piece,
                            .half_close = half_close,
                            .got = got};
    client_run(&client);
    return 0;
}
