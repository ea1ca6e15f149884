/* Drains and stops the daemon on SIGTERM and SIGINT. The main thread's. */
#ifndef FARLANDS_DAEMON_SHUTDOWN_H
#define FARLANDS_DAEMON_SHUTDOWN_H

#include "server/daemon/server.h"

/* Handle SIGTERM and SIGINT from now on. Returns 0 or a negative code. */
int shutdown_start(struct server *server);

/* Stop at once: close the acceptor, if any, and all shards and handles. The loop then ends. */
void shutdown_now(struct server *server);

/* A shard has no connections left. Any thread. CONTEXT is the struct server. */
void shutdown_shard_drained(void *context);

/* Block or unblock the daemon's signals. Threads inherit the mask: those created while signals are
 * blocked never receive any. */
void shutdown_block_signals(bool block);

#endif
