/*
 * The access log: a line of JSON a request, dropped rather than waited for.
 * Threads that serve have a lane each, into which they format without a lock or
 * a system call; one thread of the log's own writes what is in the lanes, every
 * tenth of a second or when one is half full. Where that thread has to wait,
 * for a pipe that nobody reads or a full disk, nobody else does.
 */
#ifndef FARLANDS_TELEMETRY_ACCESS_LOG_H
#define FARLANDS_TELEMETRY_ACCESS_LOG_H

#include <stdbool.h>

#include "server/telemetry/access_format.h"

struct access_log;

/*
 * Append to the file PATH, made where it is missing (0640 and the umask), or to
 * standard output where it is "-"; LANES threads will write. One daemon a file.
 * Returns 0, or a negative code: -ENOENT, -EACCES, -EISDIR, -ENXIO (a FIFO that
 * nobody reads), -ENOMEM, ...
 */
int access_log_open(struct access_log **out, const char *path, unsigned lanes);

/*
 * Write what is in the lanes, for up to a second, and close. No thread may be
 * in access_log_write. Where a write hangs for longer it is left to itself: the
 * process is expected to end then.
 */
void access_log_close(struct access_log *log);

/*
 * Log ENTRY, on the one thread that owns LANE (0 .. lanes - 1). Returns false
 * where the lane is full: the line is dropped.
 */
bool access_log_write(struct access_log *log, unsigned lane, const struct access_entry *entry);

/*
 * Open the file at its path anew, as after it was moved away to be rotated; soon
 * rather than at once. Where that fails the log says so and the old file goes on.
 * Any thread.
 */
void access_log_reopen(struct access_log *log);

#endif
