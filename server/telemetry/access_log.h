/*
 * The access log: one line of JSON per request. Never blocks a request. Each serving thread formats
 * its lines into a ring of its own, without locks or system calls. The log's thread writes the
 * rings out every tenth of a second, or when one is half full. It sleeps when no line has come for
 * that long: the next one wakes it. Lines are dropped while a ring is full, because a pipe is not
 * read or a disk is full.
 */
#ifndef FARLANDS_TELEMETRY_ACCESS_LOG_H
#define FARLANDS_TELEMETRY_ACCESS_LOG_H

#include <stdbool.h>
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
 * Write ENTRY to LINE as JSON, with a line feed and without a NUL. Control characters are escaped,
 * and bytes that are not UTF-8 one by one as ISO 8859-1. Returns the length.
 */
size_t access_format(char line[ACCESS_FORMAT_MAX], const struct access_entry *entry,
                     struct access_clock *clock);

/* Write the address of CLIENT, IPv4 in IPv6 as IPv4, without a NUL; nothing if it is NULL or of a
 * Unix socket. Returns the end, at most INET6_ADDRSTRLEN - 1 bytes on. */
char *access_put_client(char *at, const struct sockaddr *client);

struct access_log;

/*
 * Append to the file PATH, which is created if missing (0640 and the umask), or to stdout if it is
 * "-". RINGS is the number of writing threads. One process per file. Returns 0, or a negative code:
 * -ENOENT, -EACCES, -EISDIR, -ENXIO (a FIFO without a reader), -ENOMEM, ...
 */
int access_log_open(struct access_log **out, const char *path, unsigned rings);

/*
 * Write out the rings, for up to a second, and close. No thread may be in access_log_write. If a
 * write hangs, the log is leaked: the process is expected to exit.
 */
void access_log_close(struct access_log *log);

/* Log ENTRY in ring number RING, on the one thread that owns it. Returns false if the ring is full
 * and the line was dropped. */
bool access_log_write(struct access_log *log, unsigned ring, const struct access_entry *entry);

/* Reopen the path soon, after a log rotation has renamed the file. On failure a warning is logged
 * and the old file stays in use. Any thread. */
void access_log_reopen(struct access_log *log);

#endif
