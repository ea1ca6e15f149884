/* Where an access log goes: a file, a pipe, a socket. One thread. */
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

/*
 * Append to the file PATH, made where it is missing (0640 and the umask), or to
 * standard output where it is "-". Returns 0 or a negative code.
 */
int access_sink_open(struct access_sink *output, const char *path);
void access_sink_close(struct access_sink *output);

/* Write both PARTS, or some of their bytes. Returns how many, or a negative code:
 * -EAGAIN where a pipe or socket is full. */
ssize_t access_sink_write(const struct access_sink *output, struct iovec parts[2]);

/* Take the last COUNT bytes written off a file again, unless somebody has written
 * behind them. Returns whether they are gone. */
bool access_sink_cut(const struct access_sink *output, size_t count);

#endif
