/* A request as one line of JSON, for the access log. Any thread. */
#ifndef FARLANDS_TELEMETRY_ACCESS_FORMAT_H
#define FARLANDS_TELEMETRY_ACCESS_FORMAT_H

#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <time.h>

/* Where what was answered came from; NONE: it is no tile, or there is none. */
enum access_from { FROM_NONE, FROM_MEMORY, FROM_DISK, FROM_RENDER, FROM_JOINED };

struct access_entry {
    struct timespec time;          /* since 1970 */
    const struct sockaddr *client; /* or NULL: unknown */
    const char *method, *uri;
    unsigned status;
    uint64_t bytes;       /* of the body */
    uint64_t nanoseconds; /* that the answer took */
    enum access_from from;
    const char *user_agent, *referer; /* or NULL; any bytes */
};

/* The second that was last written out, as text: one a thread, zeroed to begin with. */
struct access_clock {
    time_t second;
    char text[24];
};

/* No line is longer, its line feed included: longer texts in it end in U+2026. */
enum { ACCESS_FORMAT_MAX = 4096 };

/*
 * Write ENTRY to LINE, with a line feed and no NUL; returns its length. Control
 * characters are escaped, and so is what is not UTF-8: byte by byte, as ISO 8859-1.
 */
size_t access_format(char line[ACCESS_FORMAT_MAX], const struct access_entry *entry,
                     struct access_clock *clock);

#endif
