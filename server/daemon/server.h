/* The state of a running daemon, private to the room. The main thread's, except members and
 * functions that are marked. */
#ifndef FARLANDS_DAEMON_SERVER_H
#define FARLANDS_DAEMON_SERVER_H

#include "server/api/service.h"
#include "server/daemon/daemon.h"
#include "server/net/acceptor.h"
#include "server/tiles/pipeline.h"

enum { SHARDS_MAX = 64 };

/* A thread with an event loop that serves its share of the connections: mailbox, HTTP and service.
 * Members that are not marked are the thread's. */
struct shard {
    struct server *server;
    struct metrics metrics; /* atomic */
    uv_loop_t loop;
    uv_thread_t thread;
    uv_timer_t tick, stop_timer;
    uint64_t due; /* the next tick, in ms of the loop's time */
    bool busy;    /* it ticks as long as connections are in use */
    struct mailbox *mailbox;
    struct service *service;
    struct http *http;
    unsigned connections;           /* atomic */
    struct snapshot *next_snapshot; /* atomic: to be used, or NULL */
    bool room_wanted;               /* atomic: ROOM is in the mailbox */
    bool probed;                    /* atomic: PROBE is in the mailbox */
    struct message change, room, drain, stop, probe;
};

/* The state of a watched configuration file. */
struct watch {
    uv_timer_t timer;
    uv_fs_t request;
    uv_stat_t seen; /* zero: the file does not exist */
};

struct server {
    uv_loop_t loop;
    const struct daemon_options *options;
    uv_stat_t loaded;         /* the state of the file before the configuration was read from it */
    uv_mutex_t snapshot_lock; /* of the next two, which only the main thread changes */
    struct snapshot *snapshot;
    struct config_error reload_error; /* of the last reload; empty: none */
    struct metrics metrics;           /* of everything but the shards */
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
    bool inherited;     /* the sockets belong to the service manager, which keeps listening */
    uv_signal_t terminate, interrupt, hang_up;
    uv_timer_t drain_timer, reload_timer, watchdog;
    uv_async_t drained;    /* all shards are drained */
    struct reload *reload; /* a configuration that is being read, or NULL */
    bool reload_again;     /* asked for meanwhile */
    struct watch watch;
    bool draining; /* atomic */
    bool stopped;
};

/* The number of shards that CONFIG asks for. */
unsigned server_shards(const struct config *config);

/* Returns the text of the metrics, or NULL if out of memory. Any thread. CONTEXT is the server. */
struct blob *server_scrape(void *context);

/* Any thread. CONTEXT is the server. */
enum readiness server_readiness(void *context);

/* Start a shard and add it to SERVER's. Returns 0 or a negative code: the process is then expected
 * to exit, and the shard is leaked. */
int shard_new(struct server *server);

/* Serve the connected socket FD. Takes ownership even on error; acceptor_closed is called once for
 * it. */
void shard_adopt(struct shard *shard, int fd, const struct sockaddr *peer, socklen_t length);

/* Use SNAPSHOT for new requests, with a reference of its own. */
void shard_use(struct shard *shard, struct snapshot *snapshot);

/* Close some of its connections, so that others can be accepted. */
void shard_make_room(struct shard *shard);

/* See whether its loop runs: returns false if it has not run since the last call. */
bool shard_probe(struct shard *shard);

/* Close each connection after its pending response. shutdown_shard_drained is called after the last
 * one. */
void shard_drain(struct shard *shard);

/* Refuse pending requests, close all connections and end the thread. Once. */
void shard_stop(struct shard *shard);

/* After the thread has ended. */
void shard_free(struct shard *shard);

/* Read the configuration. Returns 0 with *CONFIG, or a negative code with ERROR. */
int reload_config(const struct daemon_options *options, struct config **config,
                  struct config_error *error);

/* Handle SIGHUP from now on. */
void reload_start(struct server *server);

/* Reload the configuration soon. Requests within a short time cause one reload, and requests during
 * a reload one more. */
void reload_request(struct server *server);

/* Copy the error of the last reload, empty if it was applied. Any thread. CONTEXT is the server. */
void reload_last_error(void *context, struct config_error *error);

/* After the loop has ended: wait for a reload that is still running. Returns false if it hangs:
 * then it uses SERVER for ever. */
bool reload_stop(struct server *server);

/* The state of FILE, zero if it cannot be found. Any thread. */
uv_stat_t watch_state(const char *file);

/* Whether a file with the state A has not changed if it has the state B. */
bool watch_is_same(const uv_stat_t *a, const uv_stat_t *b);

/* Whether what was read of FILE since its state was BEFORE is a whole text: no program has changed
 * it meanwhile, or emptied it in order to write it. Any thread. */
bool watch_is_whole(const char *file, const uv_stat_t *before);

/* Remember the state of the watched file. Call it before the file is read, so that no later change
 * is missed. */
void watch_init(struct server *server);

/* Request a reload for each change from now on. Call it while signals are blocked. */
void watch_start(struct server *server);

/* Raise the limit of open files for CONFIG's connections. Returns the number of connections that
 * are possible, with a warning in the log if they are fewer; 0: none. */
unsigned reload_connections(const struct config *config);

/* Raise the limit for CONNECTIONS and the other files of a daemon with SHARDS, as far as the hard
 * limit allows. Returns the number of connections that are possible, at most CONNECTIONS. */
unsigned reload_file_limit(unsigned connections, unsigned shards);

/* Handle SIGTERM and SIGINT from now on. Returns 0 or a negative code. */
int shutdown_start(struct server *server);

/* Stop at once: close the acceptor, if any, and all shards and handles. The loop then ends. */
void shutdown_now(struct server *server);

/* A shard has no connections left. Any thread. */
void shutdown_shard_drained(struct server *server);

/* Block or unblock the daemon's signals. Threads inherit the mask: those created while signals are
 * blocked never receive any. */
void shutdown_block_signals(bool block);

#endif
