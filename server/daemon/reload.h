/* Reloads the configuration on SIGHUP. The main thread's. */
#ifndef FARLANDS_DAEMON_RELOAD_H
#define FARLANDS_DAEMON_RELOAD_H

#include "server/daemon/server.h"

/* Handle SIGHUP from now on. */
void reload_start(struct server *server);

/* Raise the limit of open files for CONFIG's connections. Returns the number of connections that
 * are possible, with a warning in the log if they are fewer; 0: none. */
unsigned reload_connections(const struct config *config);

#endif
