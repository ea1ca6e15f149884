/* A thread with an event loop that serves its share of the connections: mailbox, HTTP and service.
 * All functions may be called on any thread. */
#ifndef FARLANDS_DAEMON_SHARD_H
#define FARLANDS_DAEMON_SHARD_H

#include <sys/socket.h>

#include "server/api/service.h"

struct shard_parts {
    struct service_parts service; /* the shard sets its mailbox and metrics */
    /* On the shard's thread: a connection was closed; after shard_drain, the last one was. */
    void (*closed)(void *context, const struct sockaddr *peer);
    void (*drained)(void *context);
    void *context;
};

struct shard;

/* Start a shard, which takes a reference to SNAPSHOT. Returns 0 or a negative code. */
int shard_new(struct shard **out, const struct shard_parts *parts, struct snapshot *snapshot);

/* Serve the connected socket FD. Takes ownership even on error; parts.closed is called once for it.
 */
void shard_adopt(struct shard *shard, int fd, const struct sockaddr *peer, socklen_t length);

unsigned shard_connections(const struct shard *shard);

/* The time of its last tick, in ms of uv_hrtime; it ticks four times per second. */
uint64_t shard_ticked_at(const struct shard *shard);

const struct metrics *shard_metrics(const struct shard *shard);

/* Use SNAPSHOT for new requests, with a reference of its own. Not concurrently. */
void shard_use(struct shard *shard, struct snapshot *snapshot);

/* Close each connection after its pending response. */
void shard_drain(struct shard *shard);

/* Refuse pending requests, close all connections and end the thread. Once. */
void shard_stop(struct shard *shard);

/* Wait for a stopped shard's thread. */
void shard_join(struct shard *shard);

/* After shard_join. */
void shard_free(struct shard *shard);

#endif
