/*
 * `farlands serve`: the whole daemon.
 *
 * Start: access log, render pool and caches, then shards, then the listening sockets, and last one
 * line on stdout with the URL. The service manager may pass the sockets (LISTEN_FDS). Signals are
 * blocked until the start is complete.
 *
 * Threads: the main thread accepts connections and handles signals. Each shard serves its share of
 * the connections. The render pool and the disk cache have threads of their own. A reload reads the
 * configuration on a thread that ends afterwards.
 *
 * Reload, on SIGHUP, or whenever a watched file changes: the configuration is read again and
 * applied as a whole, or not at all with the reason in the log. Open connections stay. Keys that
 * only a restart can change must be the same; see reload.c. Signals during a reload cause one more.
 *
 * Shutdown, on SIGTERM or SIGINT: if the sockets are inherited, new connections are left to the
 * next process; otherwise the backlog's connections are still accepted. Each connection closes
 * after its pending response. After limits.drain, or at a second signal, queued renders are refused
 * and the remaining connections cut off.
 *
 * The service manager is told READY, RELOADING and STOPPING, and its watchdog is notified as long
 * as all shards run (sd_notify(3)).
 */
#ifndef FARLANDS_DAEMON_DAEMON_H
#define FARLANDS_DAEMON_DAEMON_H

#include <stdbool.h>

struct daemon_options {
    const char *file;           /* NULL: the built-in configuration */
    const char *listen, *cache; /* unless NULL, override the configuration */
    bool watch;                 /* reload when FILE, a regular one, changes */
    bool saved;                 /* FILE must be a world's document */
};

/*
 * Serve until a signal. Returns the process's exit code: 0 after a shutdown; 2, with the reason on
 * stderr, if the configuration is invalid; 1, with the reason in the log, if the daemon could not
 * start. If a worker hangs at the end, exits the process with 0 instead of returning.
 */
int daemon_run(const struct daemon_options *options);

#endif
