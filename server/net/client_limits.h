/*
 * How many connections, waiting misses and streams each client address has.
 * Any thread; takes a lock, so only where a connection or a stream comes or goes
 * and where a tile is missed. Memory is bounded by what is open.
 */
#ifndef FARLANDS_NET_CLIENT_LIMITS_H
#define FARLANDS_NET_CLIENT_LIMITS_H

#include <stdbool.h>
#include <sys/socket.h>

enum client_count { CLIENT_CONNECTIONS, CLIENT_MISSES, CLIENT_STREAMS, CLIENT_COUNTS };

struct client_limits;

int client_limits_new(struct client_limits **out); /* 0, -ENOMEM or -EAGAIN */
void client_limits_free(struct client_limits *clients);

/*
 * Count one more WHAT of PEER's client, unless it has LIMIT of them already (0:
 * any number may be). Returns whether it may enter; then, and only then,
 * client_limits_leave is called once.
 *
 * A client is an IPv4 address, the same where it comes as an IPv6 one that
 * stands for it, or the first 64 bits of an IPv6 address: whoever has one of
 * those has them all. Other peers and NULL have no limit, nor has anyone where
 * memory is out: better a client too many than none.
 */
bool client_limits_enter(struct client_limits *clients, const struct sockaddr *peer,
                         enum client_count what, unsigned limit);
void client_limits_leave(struct client_limits *clients, const struct sockaddr *peer,
                         enum client_count what);

/* How many clients are known: those with a count above 0. */
unsigned client_limits_count(struct client_limits *clients);

#endif
