/* HOST:PORT as in `listen`, public_url and the Host header (RFC 3986, section 3.2). Pure. */
#ifndef FARLANDS_CONFIG_AUTHORITY_H
#define FARLANDS_CONFIG_AUTHORITY_H

#include <stdbool.h>
#include <stddef.h>

enum { AUTHORITY_MAX = 256, AUTHORITY_NO_PORT = -1 };

/* Points into the parsed text. */
struct authority {
    const char *host; /* without brackets; not terminated */
    size_t host_length;
    bool zone; /* true for an IPv6 address with a zone, such as fe80::1%eth0 */
    int port;  /* 0 to 65535, or AUTHORITY_NO_PORT */
};

/* HOST, HOST:PORT, [IPV6] or [IPV6]:PORT, shorter than AUTHORITY_MAX. Returns 0 or -EINVAL. */
int authority_parse(struct authority *out, const char *text, size_t length);

/* True for an address to listen on: it has a port, and may have a zone. */
bool authority_can_listen(const char *text, size_t length);

/* True for the authority of a URL: no zone, and no port 0. */
bool authority_can_be_in_url(const char *text, size_t length);

#endif
