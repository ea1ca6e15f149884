#include "log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "server/core/clock.h"
#include "server/telemetry/utf8.h"

static enum log_level threshold = LOG_INFO;
static int output = STDERR_FILENO;

/* If stdout, stderr and the access log are one file, they would overwrite each other without
 * O_APPEND. */
static void append_only(int fd)
{
    int flags = fcntl(fd, F_GETFL);
    if (flags >= 0)
        (void)fcntl(fd, F_SETFL, flags | O_APPEND);
}

void log_start(enum log_level level)
{
    append_only(STDOUT_FILENO);
    append_only(STDERR_FILENO);
    /* Open stderr again, because O_NONBLOCK on fd 2 itself would affect every process that shares
     * fd 2. A socket cannot be reopened, so it is written with MSG_DONTWAIT. */
    int own = open("/proc/self/fd/2", O_WRONLY | O_APPEND | O_NONBLOCK | O_CLOEXEC);
    if (own >= 0)
        output = own;
    log_set_level(level);
}

void log_set_level(enum log_level level)
{
    __atomic_store_n(&threshold, level, __ATOMIC_RELAXED);
}

bool log_enabled(enum log_level level)
{
    return level <= __atomic_load_n(&threshold, __ATOMIC_RELAXED);
}

/* Clients must not forge lines or control terminals. TEXT ends with a NUL. */
static void hide_controls(char *text, size_t length)
{
    for (size_t i = 0; i < length;) {
        const unsigned size = utf8_printable((const uint8_t *)text + i);
        if (size == 0)
            text[i] = '?';
        i += size ? size : 1;
    }
}

void log_line(enum log_level level, const char *format, ...)
{
    static const char *const names[] = {"error", "warning", "info", "debug"};
    char line[1024];
    struct tm utc;
    va_list arguments;

    if (!log_enabled(level))
        return;
    const struct timespec now = clock_of_day();
    gmtime_r(&now.tv_sec, &utc);
    size_t n = strftime(line, sizeof line, "%Y-%m-%dT%H:%M:%S", &utc);
    n += (size_t)snprintf(line + n, sizeof line - n, ".%03ldZ %s ", now.tv_nsec / 1000000,
                          names[level]);
    va_start(arguments, format);
    int written = vsnprintf(line + n, sizeof line - n - 1, format, arguments);
    va_end(arguments);
    n += written < 0 ? 0 : (size_t)written;
    if (n > sizeof line - 2)
        n = sizeof line - 2;
    hide_controls(line, n);
    line[n++] = '\n';
    /* One write per line, so that the lines of several threads do not mix. */
    ssize_t written_now = send(output, line, n, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (written_now < 0 && errno == ENOTSOCK)
        written_now = write(output, line, n);
    (void)written_now; /* dropped if it failed */
}
