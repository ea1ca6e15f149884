#include "tile_file.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "server/cache/file_io.h"
#include "server/core/clock.h"
#include "server/png/image_checksum.h"

enum {
    FILE_MAX = 1 << 20, /* the largest tile is 513 x 513 x 3 bytes, if incompressible */
    /* The mtime is the last use, accurate to this many seconds, because a write per hit would cost
     * more than the hit. */
    TOUCH_SECONDS = 600,
};

static int open_once(bool noatime, int directory, const char *name, bool wait)
{
    /* O_NOATIME: reading must not cause writes. */
    struct open_how how = {.flags = O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK |
                                    (noatime ? O_NOATIME : 0),
                           .resolve = RESOLVE_CACHED};
    int fd = wait ? openat(directory, name, (int)how.flags)
                  : (int)syscall(SYS_openat2, directory, name, &how, sizeof how);
    return fd < 0 ? -errno : fd;
}

static int open_file(struct tile_reader *reader, int directory, const char *name, bool wait)
{
    const bool noatime = !__atomic_load_n(&reader->no_noatime, __ATOMIC_RELAXED);
    int fd = open_once(noatime, directory, name, wait);
    if (fd == -EPERM && noatime) {
        __atomic_store_n(&reader->no_noatime, true, __ATOMIC_RELAXED);
        fd = open_once(false, directory, name, wait);
    }
    /* Kernels before 5.12, and sandboxes. */
    if (!wait && (fd == -ENOSYS || fd == -EINVAL || fd == -EPERM)) {
        __atomic_store_n(&reader->no_nowait, true, __ATOMIC_RELAXED);
        return -EAGAIN;
    }
    return fd;
}

static int read_all(int fd, uint8_t *bytes, size_t length)
{
    ssize_t n = file_transfer(fd, bytes, length, 0, false);
    return n == (ssize_t)length ? 0 : n < 0 ? (int)n : -EILSEQ; /* truncated since fstat */
}

/* Read from the page cache only. */
static int read_cached(struct tile_reader *reader, int fd, uint8_t *bytes, size_t length)
{
    const struct iovec all = {bytes, length};
    ssize_t n = preadv2(fd, &all, 1, 0, RWF_NOWAIT);
    if (n < 0 && (errno == EOPNOTSUPP || errno == ENOSYS || errno == EINVAL))
        __atomic_store_n(&reader->no_nowait, true, __ATOMIC_RELAXED);
    return n == (ssize_t)length ? 0 : -EAGAIN;
}

static bool is_stale(const struct stat *status)
{
    return llabs((long long)(clock_of_day_coarse().tv_sec - status->st_mtime)) > TOUCH_SECONDS;
}

int tile_file_read(struct blob **out, struct tile_reader *reader, int directory, const char *name,
                   bool wait, int *touch)
{
    struct stat status;
    *touch = -1;
    if (!wait && __atomic_load_n(&reader->no_nowait, __ATOMIC_RELAXED))
        return -EAGAIN;
    int fd = open_file(reader, directory, name, wait);
    if (fd < 0)
        return fd;
    int err = fstat(fd, &status) ? -errno : 0;
    if (!err && (!S_ISREG(status.st_mode) || status.st_size > FILE_MAX || status.st_size == 0))
        err = -EILSEQ;
    struct blob *blob = NULL;
    if (!err) {
        size_t length = (size_t)status.st_size;
        blob = blob_new(length);
        err = !blob  ? -ENOMEM
              : wait ? read_all(fd, blob->bytes, length)
                     : read_cached(reader, fd, blob->bytes, length);
    }
    if (!err && !image_checksum_verify(blob->bytes, blob->length, name))
        err = -EILSEQ;
    if (!err && is_stale(&status))
        *touch = fd;
    else
        close(fd);
    if (err)
        blob_release(blob);
    else
        *out = blob;
    return err;
}

/* No fsync: a file that a power loss tears is a miss, because the checksum doesn't match. */
int tile_file_write(int directory, const char *name, const struct blob *png)
{
    int fd = openat(directory, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd < 0)
        return -errno;
    ssize_t n = file_transfer(fd, (void *)png->bytes, png->length, 0, true);
    int err = n == (ssize_t)png->length ? 0 : n < 0 ? (int)n : -EIO;
    if (close(fd) && !err)
        err = -errno;
    if (err)
        unlinkat(directory, name, 0);
    return err;
}
