/* Formats a request as one line of JSON for the access log. Any thread. */
#ifndef FARLANDS_TELEMETRY_ACCESS_FORMAT_H
#define FARLANDS_TELEMETRY_ACCESS_FORMAT_H

#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <time.h>

/* The source of a tile; FROM_NONE if the response is not a tile. */
enum access_from { FROM_NONE, FROM_MEMORY, FROM_DISK, FROM_RENDER, FROM_JOINED };

struct access_entry {
    struct timespec time;          /* since 1970 */
    const struct sockaddr *client; /* NULL: unknown */
    const char *method, *uri;
    unsigned status;
    uint64_t bytes;       /* of the body that were sent (a lower bound if cut off) */
    uint64_t nanoseconds; /* until the response began */
    enum access_from from;
    const char *user_agent, *referer; /* or NULL; any bytes */
};

/* Caches the text of the last second. One per thread, initially zero. */
struct access_clock {
    time_t second;
    char text[24];
};

/* The most bytes of a line, with its line feed. Longer texts are cut and end in U+2026. */
enum { ACCESS_FORMAT_MAX = 4096 };

/*
 * Write ENTRY to LINE, with a line feed and without a NUL. Control characters are escaped, and
 * bytes that are not UTF-8 one by one as ISO 8859-1. Returns the length.
 */
size_t access_format(char line[ACCESS_FORMAT_MAX], const struct access_entry *entry,
                     struct access_clock *clock);

#endif
