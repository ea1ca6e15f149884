/* `farlands serve`: wires the parts, runs them until a signal, takes them down in reverse. */
#ifndef FARLANDS_SERVE_H
#define FARLANDS_SERVE_H

#include "config/config.h"

/* Serve until SIGTERM or SIGINT. Returns the process's exit code. */
int serve(const struct config *config);

#endif
