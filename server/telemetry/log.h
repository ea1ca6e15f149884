/*
 * The log on stderr: one line per call, with time and level. Any thread; lines are never mixed. It
 * never blocks: if stderr is not read, lines are dropped. Control characters, C1 included, and
 * bytes that are not UTF-8 become question marks, so that text from clients cannot control a
 * terminal.
 */
#ifndef FARLANDS_TELEMETRY_LOG_H
#define FARLANDS_TELEMETRY_LOG_H

#include <stdbool.h>

#include "config/values/log_level.h"

/* Call it once, before other threads start. Until then the level is LOG_INFO. */
void log_start(enum log_level level);

void log_set_level(enum log_level level);

/* True if LEVEL is written; check this before preparing costly arguments. */
bool log_enabled(enum log_level level);

__attribute__((format(printf, 2, 3))) void log_line(enum log_level level, const char *format, ...);

#endif
