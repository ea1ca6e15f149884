/*
 * A thread with an event loop of its own, that talks with its share of the
 * connections: mailbox, HTTP and service. Any thread may call these.
 */
#ifndef FARLANDS_DAEMON_SHARD_H
#define FARLANDS_DAEMON_SHARD_H

#include <sys/socket.h>

#include "server/api/service.h"

struct shard_parts {
    struct service_parts service; /* its mailbox and metrics are the shard's own */
    /* On the shard's thread: a connection is no more; and the shard has drained. */
    void (*closed)(void *context, const struct sockaddr *peer);
    void (*drained)(void *context);
    void *context;
};

struct shard;

/* Start one. A reference to SNAPSHOT is taken. Returns 0 or a negative code. */
int shard_new(struct shard **out, const struct shard_parts *parts, struct snapshot *snapshot);

/* Serve the connected socket FD, which is taken over; closed will be called for it. */
void shard_adopt(struct shard *shard, int fd, const struct sockaddr *peer, socklen_t length);

/* Connections that it has. */
unsigned shard_connections(const struct shard *shard);

/* When its loop last turned, in milliseconds of uv_hrtime: it does four times a second. */
uint64_t shard_turned(const struct shard *shard);

/* What it counts. */
const struct metrics *shard_metrics(const struct shard *shard);

/* Go by SNAPSHOT from now on, of which a reference is taken. One thread only calls this. */
void shard_use(struct shard *shard, struct snapshot *snapshot);

/* Close each connection after the answer that it waits for; drained is called when none is left. */
void shard_drain(struct shard *shard);

/* Refuse what waits and cut off the rest; the thread then ends. Once. */
void shard_stop(struct shard *shard);

/* Wait for the end of a stopped one. */
void shard_join(struct shard *shard);

/* Free one that has ended. */
void shard_free(struct shard *shard);

#endif
