/*
 * Lines on stderr: time, level, text. Any thread; a line is never torn. Where
 * nobody reads them, lines are dropped: nothing waits for a log.
 */
#ifndef FARLANDS_TELEMETRY_LOG_H
#define FARLANDS_TELEMETRY_LOG_H

#include <stdbool.h>

#include "config/config.h"

/* Once at start, before there are threads: which lines are written. */
void log_start(enum log_level level);

/* Another level from now on. Any thread. */
void log_change(enum log_level level);

/* Whether a line of LEVEL would be written: ask before costly arguments. */
bool log_enabled(enum log_level level);

__attribute__((format(printf, 2, 3))) void log_line(enum log_level level, const char *format, ...);

#endif
