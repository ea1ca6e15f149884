/* `farlands serve`: wires the parts, runs them until a signal, takes them down in reverse. */
#ifndef FARLANDS_DAEMON_DAEMON_H
#define FARLANDS_DAEMON_DAEMON_H

#include "config/config.h"

/* Read the configuration: 0 with *OUT, or a negative code with ERROR filled. */
typedef int daemon_loader(void *context, struct config **out, struct config_error *error);

/*
 * Serve by CONFIG, which is taken over, until SIGTERM or SIGINT; on SIGHUP, by
 * what LOAD reads. Returns the process's exit code.
 */
int daemon_run(struct config *config, daemon_loader *load, void *context);

#endif
