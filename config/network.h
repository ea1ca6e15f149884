/* Addresses and CIDR networks, IPv4 and IPv6, and which peers are in them. Pure. */
#ifndef FARLANDS_CONFIG_NETWORK_H
#define FARLANDS_CONFIG_NETWORK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sockaddr;

/* IPv4 as the IPv6 addresses that stand for it, ::ffff:a.b.c.d. */
struct network {
    uint8_t address[16]; /* all zero beyond the first BITS */
    uint8_t bits;        /* 0 to 128; of IPv4 96 to 128 */
};

/* ADDRESS or ADDRESS/BITS, nothing set in ADDRESS beyond its BITS. Returns 0 or -EINVAL. */
int network_parse(struct network *out, const char *text, size_t length);

/* Whether PEER is in NETWORK. One that is neither IPv4 nor IPv6 is in none; an IPv4 peer is in
 * IPv4 networks alone, also where it came as an IPv6 address that stands for it. */
bool network_contains(const struct network *network, const struct sockaddr *peer);

#endif
