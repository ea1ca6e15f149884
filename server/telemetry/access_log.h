/*
 * The access log: one line of JSON per request. Never blocks a request. Each serving thread formats
 * its lines into a ring of its own, without locks or system calls. The log's thread writes the
 * rings out every tenth of a second, or when one is half full. Lines are dropped while a ring is
 * full, because a pipe is not read or a disk is full.
 */
#ifndef FARLANDS_TELEMETRY_ACCESS_LOG_H
#define FARLANDS_TELEMETRY_ACCESS_LOG_H

#include <stdbool.h>

#include "server/telemetry/access_format.h"

struct access_log;

/*
 * Append to the file PATH, or to stdout if it is "-"; see access_sink_open. RINGS is the number of
 * writing threads. One process per file. Returns 0, or a negative code: -ENOENT, -EACCES, -EISDIR,
 * -ENXIO (a FIFO without a reader), -ENOMEM, ...
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
