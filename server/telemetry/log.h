/*
 * The log on stderr: one line per call, with time and level. Any thread; lines are never mixed.
 * Never blocks: lines are dropped if stderr is not read. Control characters, C1 too, and bytes that
 * are not UTF-8 become question marks: texts of clients cannot control a terminal.
 */
#ifndef FARLANDS_TELEMETRY_LOG_H
#define FARLANDS_TELEMETRY_LOG_H

#include <stdbool.h>

#include "config/values/log_level.h"

/* Once, before other threads start. Before it, the level is LOG_INFO. */
void log_start(enum log_level level);

void log_set_level(enum log_level level);

/* True if lines of LEVEL are written; check it before preparing costly arguments. */
bool log_enabled(enum log_level level);

__attribute__((format(printf, 2, 3))) void log_line(enum log_level level, const char *format, ...);

#endif
