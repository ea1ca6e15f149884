/*
 * HOST:PORT, wherever it stands: in `listen`, in public_url, in the Host header.
 * One judgement of what it may look like; each place says what it needs of it.
 */
#ifndef FARLANDS_CONFIG_AUTHORITY_H
#define FARLANDS_CONFIG_AUTHORITY_H

#include <stdbool.h>
#include <stddef.h>

enum { AUTHORITY_MAX = 256, AUTHORITY_NO_PORT = -1 };

/* The parts of the text it was parsed from. */
struct authority {
    const char *host; /* without brackets; not terminated */
    size_t host_length;
    bool zone; /* an IPv6 address with the name of an interface, such as fe80::1%eth0 */
    int port;  /* 0 to 65535, or AUTHORITY_NO_PORT */
};

/* HOST, HOST:PORT, [IPV6] or [IPV6]:PORT, shorter than AUTHORITY_MAX. Returns 0 or -EINVAL. */
int authority_parse(struct authority *out, const char *text, size_t length);

/* Whether TEXT is one to listen on: with a port, and a zone if need be. */
bool authority_can_listen(const char *text, size_t length);

/* Whether TEXT is one for a URL, where a port is not needed and a zone unknown. */
bool authority_can_be_in_url(const char *text, size_t length);

#endif
