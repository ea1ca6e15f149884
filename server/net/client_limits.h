/*
 * Counts each client's connections, pending misses, streams and bytes. Any thread. Takes a lock, so
 * it is used when a connection or stream begins or ends, on cache misses, and on hits only if the
 * client does not take the response at once. Memory is proportional to the clients with a count
 * above 0.
 */
#ifndef FARLANDS_NET_CLIENT_LIMITS_H
#define FARLANDS_NET_CLIENT_LIMITS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

enum client_count { CLIENT_CONNECTIONS, CLIENT_MISSES, CLIENT_STREAMS, CLIENT_COUNTS };

struct client_limits;

int client_limits_new(struct client_limits **out);      /* 0, -ENOMEM or -EAGAIN */
void client_limits_free(struct client_limits *clients); /* nothing may be held */

/*
 * Count one more of KIND for PEER's client, unless it has LIMIT of them (0: no limit). Returns true
 * if it was within the limit; the caller then calls client_limits_leave once.
 *
 * A client is an IPv4 address, also if mapped to IPv6, or the first 64 bits of an IPv6 address,
 * since a /64 is usually one subscriber. Other address families and NULL are not limited. Fails
 * open if out of memory.
 */
bool client_limits_enter(struct client_limits *clients, const struct sockaddr *peer,
                         enum client_count kind, unsigned limit);
void client_limits_leave(struct client_limits *clients, const struct sockaddr *peer,
                         enum client_count kind);

/* A hash of PEER's client for fair queueing, not to be foreseen: it differs between processes. All
 * peers that are not limited have the same one. */
uint64_t client_limits_hash(const struct client_limits *clients, const struct sockaddr *peer);

/*
 * Count BYTES more that are held until PEER's client has read them. All clients together hold at
 * most LIMIT bytes, and each of them at most as many as are then left free: the dynamic thresholds
 * of Choudhury and Hahne (IEEE/ACM Transactions on Networking 6(2), 1998) with alpha = 1. So one
 * client may hold half of LIMIT, and of N greedy ones each 1/(N+1), with as much left for others.
 * Peers without an IP address count as one client. Returns 0; -ENOBUFS if less than BYTES are free,
 * -EDQUOT if the client would hold too much, or -ENOMEM. If 0, client_limits_drop releases them.
 */
int client_limits_hold(struct client_limits *clients, const struct sockaddr *peer, uint64_t bytes,
                       uint64_t limit);
void client_limits_drop(struct client_limits *clients, const struct sockaddr *peer, uint64_t bytes);

/* The same for SIZE bytes at the address BYTES, which several responses may share: they are counted
 * once per client. */
int client_limits_hold_shared(struct client_limits *clients, const struct sockaddr *peer,
                              const void *bytes, uint64_t size, uint64_t limit);
void client_limits_drop_shared(struct client_limits *clients, const struct sockaddr *peer,
                               const void *bytes);

/* The bytes that all clients hold. */
uint64_t client_limits_held(struct client_limits *clients);

/*
 * The number of KIND that PEER's client has, which other threads change: read it atomically. Valid
 * until the caller leaves, if it has entered. NULL if PEER is not counted.
 */
const unsigned *client_limits_watch(struct client_limits *clients, const struct sockaddr *peer,
                                    enum client_count kind);

/* The number of clients with a count above 0. */
unsigned client_limits_count(struct client_limits *clients);

#endif
