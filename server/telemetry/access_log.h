/*
 * The access log: one line of JSON per request. It never blocks a request. Each serving thread
 * formats lines into a ring of its own, without locks or system calls. The log's thread writes the
 * rings out every 0.1 s, or when a ring is half full. If no line has come for that long, the thread
 * sleeps, and the next line wakes it. While a ring is full, because a pipe is not read or a disk is
 * full, lines are dropped.
 */
#ifndef FARLANDS_TELEMETRY_ACCESS_LOG_H
#define FARLANDS_TELEMETRY_ACCESS_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <time.h>

/* A tile's source; FROM_NONE if the response is not a tile. */
enum access_from { FROM_NONE, FROM_MEMORY, FROM_DISK, FROM_RENDER, FROM_JOINED };

struct access_entry {
    struct timespec time;          /* since 1970 */
    const struct sockaddr *client; /* NULL: unknown */
    const char *method, *uri;
    unsigned status;
    uint64_t bytes;       /* sent of the body (a lower bound if cut off) */
    uint64_t nanoseconds; /* until the response began */
    enum access_from from;
    const char *user_agent, *referer; /* or NULL; any bytes */
};

/* Caches the present second as text. One per thread, initially zero. */
struct access_clock {
    time_t second;
    char text[24];
};

/* The most bytes in a line, with its line feed. Longer texts are cut and end in U+2026. */
enum { ACCESS_FORMAT_MAX = 4096 };

/* Write ENTRY to LINE as JSON, with a line feed and without a NUL. Control characters are escaped;
 * so are bytes that are not UTF-8, each as if it were ISO 8859-1. Returns the length. */
size_t access_format(char line[ACCESS_FORMAT_MAX], const struct access_entry *entry,
                     struct access_clock *clock);

/* Write CLIENT's address without a NUL, an IPv4 address in IPv6 as IPv4; nothing if CLIENT is NULL
 * or a Unix socket. Returns the end, at most INET6_ADDRSTRLEN - 1 bytes further. */
char *access_put_client(char *at, const struct sockaddr *client);

struct access_log;

/*
 * Append to the file PATH, which is created if missing (0640 and the umask), or to stdout if PATH
 * is "-". RINGS is the number of writing threads. Only one process may write to a file. Returns 0,
 * or a negative code: -ENOENT, -EACCES, -EISDIR, -ENXIO (a FIFO without a reader), -ENOMEM, ...
 */
int access_log_open(struct access_log **out, const char *path, unsigned rings);

/* Write out the rings, for up to a second, and close. No thread may be in access_log_write. If a
 * write hangs, the log is leaked, because the process is expected to exit. */
void access_log_close(struct access_log *log);

/* Log ENTRY in ring RING, on the one thread that owns this ring. Returns false if the ring is full
 * and the line was dropped. */
bool access_log_write(struct access_log *log, unsigned ring, const struct access_entry *entry);

/* Reopen PATH soon, because a log rotation has renamed the file. If that fails, a warning is logged
 * and the old file stays in use. Any thread. */
void access_log_reopen(struct access_log *log);

#endif
