/*
 * Peers that send proxy headers but are not in `proxies`. Each is logged once, because a proxy that
 * was forgotten there is hard to notice: URLs begin with http://, and all clients behind the proxy
 * count as one. Any thread, without a lock.
 */
#ifndef FARLANDS_API_UNLISTED_PEERS_H
#define FARLANDS_API_UNLISTED_PEERS_H

#include <stdint.h>
#include <sys/socket.h>

/* Clients may send such headers, too: the log gets no more lines than this. */
enum { UNLISTED_PEERS_MAX = 64 };

/* Initially zero. */
struct unlisted_peers {
    uint64_t hash[UNLISTED_PEERS_MAX]; /* of addresses, atomic; 0: free, as all that follow */
};

/* Remember PEER's address. Returns how many there are now, or 0 if PEER is not new, or if there is
 * no room. */
unsigned unlisted_peers_add(struct unlisted_peers *peers, const struct sockaddr *peer);

/* Add PEER and, if it is new, warn that HEADER is ignored. */
void unlisted_peers_warn(struct unlisted_peers *peers, const struct sockaddr *peer,
                         const char *header);

#endif
