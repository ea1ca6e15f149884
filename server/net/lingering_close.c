#include "lingering_close.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "server/core/clock.h"

/*
 * A client closes one round trip after the response, and a lost packet takes at most a second more:
 * so 2 s. A refused head is usually shorter than 1 MiB; a body may be endless. More than 64
 * lingering sockets only happen under attack.
 */
enum { LINGER_MS = 2000, LINGER_BYTES = 1 << 20, LINGERS_MAX = 64 };

/* Bytes per read, and reads before other connections get their turn. */
enum { DISCARD_BYTES = 16 * 1024, DISCARD_ROUNDS = 8 };

/* How often sockets are polled. They are not watched, because libuv aborts if there is no memory
 * for the table of watched files. */
enum { DISCARD_MS = 10 };

struct lingerer {
    LIST_ENTRY(lingerer) entry;
    int fd;
    uint64_t since; /* ms */
    size_t left;    /* bytes that may still be discarded */
    struct sockaddr_storage peer;
};

/* Discard received data. Returns false at the end, on an error, or after *LEFT bytes. */
static bool discard(int fd, size_t *left)
{
    char bytes[DISCARD_BYTES];

    for (int i = 0; i < DISCARD_ROUNDS; i++) {
        ssize_t count = recv(fd, bytes, sizeof bytes, MSG_DONTWAIT);
        if (count < 0)
            return errno == EAGAIN || errno == EINTR;
        if (count == 0 || (size_t)count >= *left)
            return false;
        *left -= (size_t)count;
    }
    return true;
}

static void stop(struct lingering_close *lingering, struct lingerer *lingerer)
{
    LIST_REMOVE(lingerer, entry);
    lingering->count--;
    close(lingerer->fd);
    lingering->closed(lingering->closed_context, (const struct sockaddr *)&lingerer->peer);
    free(lingerer);
}

static void on_timer(uv_timer_t *timer)
{
    struct lingering_close *lingering = timer->data;

    for (struct lingerer *lingerer = LIST_FIRST(&lingering->list), *next; lingerer;
         lingerer = next) {
        next = LIST_NEXT(lingerer, entry);
        if (!discard(lingerer->fd, &lingerer->left) ||
            clock_loop_ms(lingering->clock, lingering->loop) - lingerer->since >= LINGER_MS)
            stop(lingering, lingerer);
    }
    if (lingering->count == 0)
        uv_timer_stop(timer);
}

static struct lingerer *new_lingerer(int fd)
{
    struct lingerer *lingerer = calloc(1, sizeof *lingerer);
    if (!lingerer)
        return NULL;
    lingerer->fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    if (lingerer->fd >= 0)
        return lingerer;
    free(lingerer);
    return NULL;
}

static void start_timer(struct lingering_close *lingering)
{
    if (!lingering->has_timer)
        uv_timer_init(lingering->loop, &lingering->timer);
    lingering->has_timer = true;
    lingering->timer.data = lingering;
    if (!uv_is_active((uv_handle_t *)&lingering->timer))
        uv_timer_start(&lingering->timer, on_timer, DISCARD_MS, DISCARD_MS);
}

bool lingering_close_add(struct lingering_close *lingering, int fd, const struct sockaddr *peer,
                         socklen_t length)
{
    size_t left = LINGER_BYTES;

    shutdown(fd, SHUT_WR);
    if (!discard(fd, &left) || lingering->ended || lingering->count >= LINGERS_MAX)
        return false;
    struct lingerer *lingerer = new_lingerer(fd);
    if (!lingerer)
        return false;
    lingerer->since = clock_loop_ms(lingering->clock, lingering->loop);
    lingerer->left = left;
    if (peer)
        memcpy(&lingerer->peer, peer, length);
    LIST_INSERT_HEAD(&lingering->list, lingerer, entry);
    lingering->count++;
    start_timer(lingering);
    return true;
}

void lingering_close_all(struct lingering_close *lingering)
{
    lingering->ended = true;
    for (struct lingerer *lingerer = LIST_FIRST(&lingering->list), *next; lingerer;
         lingerer = next) {
        next = LIST_NEXT(lingerer, entry);
        stop(lingering, lingerer);
    }
    if (lingering->has_timer)
        uv_close((uv_handle_t *)&lingering->timer, NULL);
    lingering->has_timer = false;
}
