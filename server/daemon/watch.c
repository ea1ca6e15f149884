/*
 * Watches the configuration file by checking its state many times a second. Notifications (inotify)
 * would miss some changes: behind a symbolic link, on a network file system, on a virtual machine's
 * host, or by an editor that saves by renaming.
 */
#include "server.h"

#include <sys/stat.h>

enum { LOOK_MS = 50 }; /* between two checks */

static bool is_same_time(uv_timespec_t a, uv_timespec_t b)
{
    return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

bool watch_is_same(const uv_stat_t *a, const uv_stat_t *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
           is_same_time(a->st_mtim, b->st_mtim) && is_same_time(a->st_ctim, b->st_ctim);
}

/* Returns the file state that REQUEST has found, and cleans up REQUEST. */
static uv_stat_t take_state(uv_fs_t *request)
{
    const uv_stat_t state = request->result == 0 ? request->statbuf : (uv_stat_t){0};
    uv_fs_req_cleanup(request);
    return state;
}

/* True if a program has emptied the file. Many programs do so first and write the text later;
 * meanwhile the empty configuration would be valid. */
static bool is_emptied(const uv_stat_t *state)
{
    return S_ISREG(state->st_mode) && state->st_size == 0;
}

static void on_look(uv_timer_t *timer);

static void look_later(struct server *server)
{
    uv_timer_start(&server->watch.timer, on_look, LOOK_MS, 0);
}

static void on_state(uv_fs_t *request)
{
    struct server *server = request->data;
    const uv_stat_t state = take_state(request);

    if (server->stopped)
        return;
    if (!watch_is_same(&state, &server->watch.seen) && !is_emptied(&state)) {
        server->watch.seen = state;
        reload_request(server);
    }
    look_later(server);
}

static void on_look(uv_timer_t *timer)
{
    struct server *server = timer->data;
    uv_fs_t *request = &server->watch.request;

    request->data = server;
    if (uv_fs_stat(&server->loop, request, server->options->file, on_state))
        look_later(server);
}

uv_stat_t watch_state(const char *file)
{
    uv_fs_t request = {0};
    uv_fs_stat(NULL, &request, file, NULL);
    return take_state(&request);
}

bool watch_is_whole(const char *file, const uv_stat_t *before)
{
    const uv_stat_t after = watch_state(file);
    return watch_is_same(before, &after) && !is_emptied(&after);
}

void watch_init(struct server *server)
{
    server->watch.seen = watch_state(server->options->file);
}

void watch_start(struct server *server)
{
    uv_timer_init(&server->loop, &server->watch.timer);
    server->watch.timer.data = server;
    on_look(&server->watch.timer); /* starts libuv's threads, which inherit the signal mask */
}
