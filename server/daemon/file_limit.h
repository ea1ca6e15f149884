/* The limit of open files, RLIMIT_NOFILE. */
#ifndef FARLANDS_DAEMON_FILE_LIMIT_H
#define FARLANDS_DAEMON_FILE_LIMIT_H

/* Raise the limit for CONNECTIONS and the daemon's other files, as far as the hard limit allows.
 * Returns the number of connections that are possible, at most CONNECTIONS. */
unsigned file_limit_raise(unsigned connections);

#endif
