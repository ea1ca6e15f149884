/*
 * `farlands serve`: the whole daemon.
 *
 * Start: access log, render pool and caches, shards, then the listening sockets, which come from
 * the service manager if it passes any (LISTEN_FDS), and one line on stdout with the URL. Signals
 * are blocked until then.
 *
 * Threads: the main thread accepts connections and handles signals; each shard serves its share of
 * the connections; the render pool and the disk cache have their own threads; a configuration is
 * read again by a thread that ends with it.
 *
 * Reload, on SIGHUP, or when the file changes if it is watched: the configuration is read again and
 * applied as a whole, or not at all with the reason in the log. Open connections stay. Keys that
 * only a restart can change must be the same; see reload.c. Signals during a reload cause one more.
 *
 * Shutdown, on SIGTERM or SIGINT: new connections are left to the next process if the sockets are
 * inherited, and otherwise accepted as far as they are in the backlog. Each connection closes after
 * its pending response. After limits.drain, or a second signal, queued renders are refused
 * and the rest is cut off.
 *
 * The service manager is told about READY, RELOADING and STOPPING, and its watchdog is notified as
 * long as all shards run (sd_notify(3)).
 */
#ifndef FARLANDS_DAEMON_DAEMON_H
#define FARLANDS_DAEMON_DAEMON_H

#include <stdbool.h>

struct daemon_options {
    const char *file;           /* NULL: the built-in configuration */
    const char *listen, *cache; /* override the configuration's unless NULL */
    bool watch;                 /* reload FILE, a regular one, when it changes */
    bool saved;                 /* FILE must be the document of a world */
};

/*
 * Serve until a signal. Returns the process's exit code: 0 after a shutdown; 2, with the reason on
 * stderr, if the configuration is invalid; 1 if it could not start, with the reason in the log.
 * Exits the process itself, with 0, if a worker hangs at the end.
 */
int daemon_run(const struct daemon_options *options);

#endif
