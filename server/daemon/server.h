/* A running daemon's state, private to the room. Members and functions are for the main thread
 * unless marked. */
#ifndef FARLANDS_DAEMON_SERVER_H
#define FARLANDS_DAEMON_SERVER_H

#include "server/api/service.h"
#include "server/daemon/daemon.h"
#include "server/net/acceptor.h"
#include "server/tiles/pipeline.h"

enum { SHARDS_MAX = 64 };

/* A thread with an event loop, a mailbox, an HTTP server and a service, for its share of the
 * connections. Members are for this thread unless marked. */
struct shard {
    struct server *server;
    struct metrics metrics; /* atomic */
    uv_loop_t loop;
    uv_thread_t thread;
    uv_timer_t tick, stop_timer;
    uint64_t due; /* when the next tick is due, in ms of loop time */
    bool busy;    /* connections are in use, so it ticks */
    struct mailbox *mailbox;
    struct service *service;
    struct http *http;
    unsigned connections;           /* atomic */
    struct snapshot *next_snapshot; /* atomic: to use next, or NULL */
    bool room_wanted;               /* atomic: ROOM is in the mailbox */
    bool probed;                    /* atomic: PROBE is in the mailbox */
    struct message change, room, drain, stop, probe;
};

/* A watched configuration file. */
struct watch {
    uv_timer_t timer;
    uv_fs_t request;
    uv_stat_t seen; /* zero: the file does not exist */
};

struct server {
    uv_loop_t loop;
    const struct daemon_options *options;
    uv_stat_t loaded;         /* the file's state before the configuration was read */
    uv_mutex_t snapshot_lock; /* for the next two, which only the main thread changes */
    struct snapshot *snapshot;
    struct config_error reload_error; /* the last reload's; empty: none */
    struct metrics metrics;           /* everything but the shards */
    time_t started;
    struct access_log *access_log; /* or NULL */
    struct client_limits *clients;
    struct recent_worlds *recent_worlds;
    struct pipeline *pipeline;
    struct shard *shards[SHARDS_MAX];
    unsigned shard_count, drained_count; /* DRAINED_COUNT is atomic */
    unsigned streams;                    /* atomic */
    struct acceptor *acceptor;
    unsigned room_turn; /* the next shard to make room */
    bool inherited;     /* the sockets are the service manager's, which keeps listening */
    uv_signal_t terminate, interrupt, hang_up;
    uv_timer_t drain_timer, reload_timer, watchdog;
    uv_async_t drained;    /* all shards are drained */
    struct reload *reload; /* a reload in progress, or NULL */
    bool reload_again;     /* requested during this reload */
    struct watch watch;
    bool draining; /* atomic */
    bool stopped;
};

/* The number of shards for CONFIG. */
unsigned server_shards(const struct config *config);

/* Returns the metrics as text, or NULL if out of memory. Any thread. CONTEXT is the server. */
struct blob *server_scrape(void *context);

/* Any thread. CONTEXT is the server. */
enum readiness server_readiness(void *context);

/* Start a shard and add it to SERVER. Returns 0 or a negative code; on error the shard is leaked,
 * because the process is expected to exit. */
int shard_new(struct server *server);

/* Serve the connected socket FD. Takes ownership of FD even on error: acceptor_closed is called
 * exactly once. */
void shard_adopt(struct shard *shard, int fd, const struct sockaddr *peer, socklen_t length);

/* Use SNAPSHOT for new requests; takes a reference of its own. */
void shard_use(struct shard *shard, struct snapshot *snapshot);

/* Close some of the shard's connections, so that others can be accepted. */
void shard_make_room(struct shard *shard);

/* Check the shard's loop. Returns false if the loop has not run since the last call. */
bool shard_probe(struct shard *shard);

/* Close each connection after its pending response. After the last one, shutdown_shard_drained is
 * called. */
void shard_drain(struct shard *shard);

/* Refuse pending requests, close all connections and end the thread. Call it once. */
void shard_stop(struct shard *shard);

/* Free SHARD after its thread has ended. */
void shard_free(struct shard *shard);

/* Read the configuration. Returns 0 and sets *CONFIG, or a negative code and sets ERROR. */
int reload_config(const struct daemon_options *options, struct config **config,
                  struct config_error *error);

/* Handle SIGHUP from now on. */
void reload_start(struct server *server);

/* Reload the configuration soon. Several requests within RELOAD_DELAY_MS cause one reload; any
 * number during a reload cause one more. */
void reload_request(struct server *server);

/* Copy the last reload's error, empty if the reload was applied. Any thread. CONTEXT is the
 * server. */
void reload_last_error(void *context, struct config_error *error);

/* After the loop has ended, wait for a reload in progress. Returns false if the reload hangs: then
 * its thread may use SERVER at any time. */
bool reload_stop(struct server *server);

/* Returns FILE's state, zero if FILE cannot be found. Any thread. */
uv_stat_t watch_state(const char *file);

/* True if a file whose state was A and is B has not changed. */
bool watch_is_same(const uv_stat_t *a, const uv_stat_t *b);

/* True if a text read from FILE after the state BEFORE is whole: meanwhile no program has changed
 * FILE, or emptied FILE before writing it again. Any thread. */
bool watch_is_whole(const char *file, const uv_stat_t *before);

/* Remember the watched file's state, before the file is read, so that no later change is missed. */
void watch_init(struct server *server);

/* From now on, request a reload for each change. Signals must be blocked. */
void watch_start(struct server *server);

/* Raise the limit of open files for CONFIG's connections. Returns how many connections are
 * possible, 0: none; logs a warning if they are fewer than configured. */
unsigned reload_connections(const struct config *config);

/* Raise the limit of open files, as far as the hard limit allows, for CONNECTIONS and the other
 * files of a daemon with SHARDS. Returns how many connections are possible, at most CONNECTIONS. */
unsigned reload_file_limit(unsigned connections, unsigned shards);

/* Handle SIGTERM and SIGINT from now on. Returns 0 or a negative code. */
int shutdown_start(struct server *server);

/* Stop at once: close the acceptor, if any, all shards and all handles. The loop then ends. */
void shutdown_now(struct server *server);

/* Count a shard that has no connections left. Any thread. */
void shutdown_shard_drained(struct server *server);

/* Block or unblock the daemon's signals. Threads inherit the mask: a thread created while signals
 * are blocked never receives any. */
void shutdown_block_signals(bool block);

#endif
