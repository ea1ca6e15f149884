#include "access_sink.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

/* Opened anew, since others may share the descriptor that we were given and would
 * not expect it to refuse. Where that cannot be, ours waits: the log's thread alone. */
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

int access_sink_open(struct access_sink *output, const char *path)
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
    output->fd = fd;
    output->is_file = S_ISREG(status.st_mode);
    output->is_socket = S_ISSOCK(status.st_mode);
    return 0;
}

void access_sink_close(struct access_sink *output)
{
    close(output->fd);
}

ssize_t access_sink_write(const struct access_sink *output, struct iovec parts[2])
{
    const struct msghdr message = {.msg_iov = parts, .msg_iovlen = 2};
    ssize_t written;
    do
        written = output->is_socket ? sendmsg(output->fd, &message, MSG_DONTWAIT | MSG_NOSIGNAL)
                                    : writev(output->fd, parts, 2);
    while (written < 0 && errno == EINTR);
    return written < 0 ? -errno : written;
}

bool access_sink_cut(const struct access_sink *output, size_t count)
{
    struct stat status;
    if (!output->is_file)
        return false;
    off_t end = lseek(output->fd, 0, SEEK_CUR); /* of our last write: O_APPEND moves it, too */
    return end >= (off_t)count && fstat(output->fd, &status) == 0 && status.st_size == end &&
           ftruncate(output->fd, end - (off_t)count) == 0;
}
