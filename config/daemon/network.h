/* IPv4 and IPv6 addresses and CIDR networks, and all peers on Unix sockets. Pure. */
#ifndef FARLANDS_CONFIG_NETWORK_H
#define FARLANDS_CONFIG_NETWORK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sockaddr;

/* IPv4 is stored as IPv4-mapped IPv6, ::ffff:a.b.c.d. */
struct network {
    uint8_t address[16]; /* zero after the first BITS bits */
    uint8_t bits;        /* 0 to 128; 96 to 128 for IPv4 */
    bool local;          /* Unix sockets; the rest is 0 */
};

/* Parse ADDRESS, ADDRESS/BITS, or "unix"; the host bits must be 0. Returns 0 or -EINVAL. */
int network_parse(struct network *out, const char *text, size_t length);

/*
 * True if PEER is in NETWORK. IPv4 peers, IPv4-mapped or not, are only in IPv4 networks, so ::/0
 * has no IPv4 peer. Peers on Unix sockets are only in "unix".
 */
bool network_contains(const struct network *network, const struct sockaddr *peer);

#endif
