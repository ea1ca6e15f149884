#include "access_sink.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

/* Reopened, because O_NONBLOCK on fd 1 itself would affect every process that shares it. If that
 * fails, writes may block the log's thread, and no other. */
static int open_stdout(void)
{
    int fd = open("/proc/self/fd/1", O_WRONLY | O_APPEND | O_NONBLOCK | O_CLOEXEC);
    return fd >= 0 ? fd : fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
}

static int open_path(const char *path)
{
    const int flags = O_WRONLY | O_APPEND | O_CREAT | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
    return strcmp(path, "-") == 0 ? open_stdout() : open(path, flags, 0640);
}

int access_sink_open(struct access_sink *sink, const char *path)
{
    struct stat status;
    int fd = open_path(path);
    if (fd < 0)
        return -errno;
    if (fstat(fd, &status) < 0) {
        int err = -errno;
        close(fd);
        return err;
    }
    sink->fd = fd;
    sink->is_file = S_ISREG(status.st_mode);
    sink->is_socket = S_ISSOCK(status.st_mode);
    return 0;
}

void access_sink_close(struct access_sink *sink)
{
    close(sink->fd);
}

ssize_t access_sink_write(const struct access_sink *sink, struct iovec parts[2])
{
    const struct msghdr message = {.msg_iov = parts, .msg_iovlen = 2};
    ssize_t written;
    do
        written = sink->is_socket ? sendmsg(sink->fd, &message, MSG_DONTWAIT | MSG_NOSIGNAL)
                                  : writev(sink->fd, parts, 2);
    while (written < 0 && errno == EINTR);
    return written < 0 ? -errno : written;
}

bool access_sink_cut(const struct access_sink *sink, size_t count)
{
    struct stat status;
    if (!sink->is_file)
        return false;
    off_t end = lseek(sink->fd, 0, SEEK_CUR); /* the end of our last write, also with O_APPEND */
    return end >= (off_t)count && fstat(sink->fd, &status) == 0 && status.st_size == end &&
           ftruncate(sink->fd, end - (off_t)count) == 0;
}
