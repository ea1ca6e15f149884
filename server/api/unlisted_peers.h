/*
 * Peers that send headers of proxies but are not in `proxies`, so that each is logged once: a proxy
 * that was forgotten there shows by nothing but http:// in URLs, and all its clients count as one.
 * Any thread, without a lock.
 */
#ifndef FARLANDS_API_UNLISTED_PEERS_H
#define FARLANDS_API_UNLISTED_PEERS_H

#include <stdint.h>
#include <sys/socket.h>

/* Clients may send such headers, too: the log gets no more lines than this. */
enum { UNLISTED_PEERS_MAX = 64 };

/* Initially zero. */
struct unlisted_peers {
    uint64_t hash[UNLISTED_PEERS_MAX]; /* atomic; of addresses; 0: free, as are those that follow */
};

/* Remember the address of PEER. Returns how many there are now, or 0 if it is not new, or if there
 * is no room. */
unsigned unlisted_peers_add(struct unlisted_peers *peers, const struct sockaddr *peer);

/* Add PEER and, if it is new, warn that HEADER is ignored. */
void unlisted_peers_warn(struct unlisted_peers *peers, const struct sockaddr *peer,
                         const char *header);

#endif
