/* The state of a running daemon, private to daemon.c, reload.c and shutdown.c. The main thread's,
 * except members that are marked. */
#ifndef FARLANDS_DAEMON_SERVER_H
#define FARLANDS_DAEMON_SERVER_H

#include <uv.h>

#include "server/daemon/daemon.h"
#include "server/daemon/shard.h"
#include "server/net/acceptor.h"
#include "server/tiles/pipeline.h"

enum { SHARDS_MAX = 64 };

struct server {
    uv_loop_t loop;
    daemon_loader *load;
    void *load_context;
    uv_mutex_t snapshot_lock; /* of SNAPSHOT, which only the main thread changes */
    struct snapshot *snapshot;
    struct metrics metrics; /* of everything but the shards */
    time_t started;
    struct access_log *access_log; /* or NULL */
    struct client_limits *clients;
    struct recent_worlds *recent_worlds;
    struct pipeline *pipeline;
    struct shard *shards[SHARDS_MAX];
    unsigned shard_count, drained_count; /* DRAINED_COUNT is atomic */
    unsigned streams;                    /* atomic */
    struct acceptor *acceptor;
    bool inherited; /* the sockets belong to the service manager, which keeps listening */
    uv_signal_t terminate, interrupt, hang_up;
    uv_timer_t drain_timer, reload_timer, watchdog;
    uv_async_t drained; /* all shards are drained */
    bool draining;      /* atomic */
    bool stopped;
};

#endif
