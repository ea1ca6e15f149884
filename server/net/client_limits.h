/*
 * Counts each client's connections, pending misses, streams and bytes. Any thread. Each call takes
 * a lock, so calls are made only when a connection or stream begins or ends, on cache misses, and
 * on hits if the client does not take the response at once. Memory is proportional to the number of
 * clients with a count above 0.
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
 * Count one more of KIND for PEER's client, unless there are LIMIT already (0: no limit). Returns
 * true if within the limit; then the caller must call client_limits_leave once.
 *
 * A client is an IPv4 address, also if mapped to IPv6, or an IPv6 network of 64 bits, because a /64
 * is usually one subscriber. Other address families and NULL are not limited. Returns true if out
 * of memory.
 */
bool client_limits_enter(struct client_limits *clients, const struct sockaddr *peer,
                         enum client_count kind, unsigned limit);
void client_limits_leave(struct client_limits *clients, const struct sockaddr *peer,
                         enum client_count kind);

/* A hash for fair queueing, one per client. It differs between processes, so nobody can foresee it.
 * All peers that are not limited share one. */
uint64_t client_limits_hash(const struct client_limits *clients, const struct sockaddr *peer);

/*
 * Count BYTES more that are held until PEER's client has read them. All clients together hold at
 * most LIMIT bytes, and each at most as many as are left free then: dynamic thresholds (Choudhury
 * and Hahne, IEEE/ACM Transactions on Networking 6(2), 1998) with alpha = 1. So one client may hold
 * half the limit, and each of N greedy ones 1/(N+1), with as much left for others. Peers without an
 * IP address count as one client. Returns 0, and later client_limits_drop releases the bytes;
 * -ENOBUFS if less than BYTES are free; -EDQUOT if the client would hold too much; or -ENOMEM.
 */
int client_limits_hold(struct client_limits *clients, const struct sockaddr *peer, uint64_t bytes,
                       uint64_t limit);
void client_limits_drop(struct client_limits *clients, const struct sockaddr *peer, uint64_t bytes);

/* The same for SIZE bytes at BYTES, which several responses may share: counted once per client. */
int client_limits_hold_shared(struct client_limits *clients, const struct sockaddr *peer,
                              const void *bytes, uint64_t size, uint64_t limit);
void client_limits_drop_shared(struct client_limits *clients, const struct sockaddr *peer,
                               const void *bytes);

/* How many bytes all clients hold. */
uint64_t client_limits_held(struct client_limits *clients);

/*
 * Where the count of KIND for PEER's client is. Other threads change the count: read it atomically.
 * Valid until a caller that has entered leaves. NULL if PEER is not counted.
 */
const unsigned *client_limits_watch(struct client_limits *clients, const struct sockaddr *peer,
                                    enum client_count kind);

/* How many clients have a count above 0. */
unsigned client_limits_count(struct client_limits *clients);

#endif
