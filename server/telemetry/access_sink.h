/* The file, pipe or socket that an access log is written to. One thread. */
#ifndef FARLANDS_TELEMETRY_ACCESS_SINK_H
#define FARLANDS_TELEMETRY_ACCESS_SINK_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <sys/uio.h>

struct access_sink {
    int fd;
    bool is_file, is_socket;
};

/* Append to the file PATH, which is created if missing (0640 and the umask), or to stdout if PATH
 * is "-". Returns 0 or a negative code. */
int access_sink_open(struct access_sink *sink, const char *path);
void access_sink_close(struct access_sink *sink);

/* Write both PARTS, or some bytes of them. Returns the number of bytes, or a negative code: -EAGAIN
 * if a pipe or socket is full. */
ssize_t access_sink_write(const struct access_sink *sink, struct iovec parts[2]);

/* Remove the last COUNT written bytes from a file, unless another process has appended to it.
 * Returns true if they were removed. */
bool access_sink_cut(const struct access_sink *sink, size_t count);

#endif
