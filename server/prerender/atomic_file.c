#include "atomic_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* FILE.unfinished may be renamed or deleted between opening and locking it. */
enum { ATTEMPTS = 64 };

struct atomic_file {
    char *file, *path;
    int fd; /* holds the lock; -1: not begun or finished */
};

static bool exists(const char *path)
{
    struct stat status;
    return lstat(path, &status) == 0;
}

/* An OFD lock, so that it also excludes a second writer in this process. */
static int lock(int fd)
{
    struct flock all = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    if (fcntl(fd, F_OFD_SETLK, &all) == 0)
        return 0;
    return errno == EACCES || errno == EAGAIN ? -EBUSY : -errno;
}

static bool is_named(int fd, const char *path)
{
    struct stat open_one, named;
    return fstat(fd, &open_one) == 0 && lstat(path, &named) == 0 &&
           open_one.st_dev == named.st_dev && open_one.st_ino == named.st_ino;
}

/* FD is locked: its writer is dead. */
static int take_over(int fd, bool (*is_ours)(int fd))
{
    struct stat status;
    if (fstat(fd, &status))
        return -errno;
    if (!S_ISREG(status.st_mode) || (status.st_size > 0 && !is_ours(fd)))
        return -ENOTUNIQ;
    return ftruncate(fd, 0) ? -errno : 0;
}

/* Returns PATH's descriptor, locked and empty; -EAGAIN if PATH was renamed or deleted meanwhile. */
static int open_locked(const char *path, bool (*is_ours)(int fd))
{
    int fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0666);
    if (fd < 0)
        return errno == ELOOP || errno == EISDIR || errno == ENXIO ? -ENOTUNIQ : -errno;
    int err = lock(fd);
    if (!err && !is_named(fd, path))
        err = -EAGAIN;
    if (!err)
        err = take_over(fd, is_ours);
    if (err)
        close(fd);
    return err ? err : fd;
}

static int open_unfinished(struct atomic_file *atomic, bool (*is_ours)(int fd))
{
    for (int i = 0; i < ATTEMPTS; i++) {
        int fd = open_locked(atomic->path, is_ours);
        if (fd >= 0) {
            atomic->fd = fd;
            return exists(atomic->file) ? -EEXIST : 0; /* its last writer may have finished it */
        }
        if (fd != -EAGAIN)
            return fd;
    }
    return -EBUSY;
}

int atomic_file_new(struct atomic_file **out, const char *file, bool (*is_ours)(int fd))
{
    if (!*file)
        return -ENOENT;
    if (exists(file))
        return -EEXIST;
    struct atomic_file *atomic = calloc(1, sizeof *atomic);
    if (!atomic)
        return -ENOMEM;
    atomic->fd = -1;
    atomic->file = strdup(file);
    char *path;
    if (asprintf(&path, "%s%s" ATOMIC_FILE_SUFFIX, file[0] == '/' ? "" : "./", file) >= 0)
        atomic->path = path;
    int err = atomic->file && atomic->path ? open_unfinished(atomic, is_ours) : -ENOMEM;
    if (err) {
        atomic_file_free(atomic);
        return err;
    }
    *out = atomic;
    return 0;
}

const char *atomic_file_path(const struct atomic_file *atomic)
{
    return atomic->path;
}

/* Fails if TO exists. */
static int rename_new(const char *from, const char *to)
{
    if (renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0)
        return 0;
    if (errno != EINVAL && errno != ENOSYS)
        return -errno;
    /* File systems without RENAME_NOREPLACE, such as NFS, have hard links, which never replace. */
    if (link(from, to))
        return -errno;
    unlink(from);
    return 0;
}

/* Makes the rename survive a power loss. Best effort: the file is complete either way. */
static void sync_directory(const char *path)
{
    const char *slash = strrchr(path, '/');
    char *directory = strndup(path, (size_t)(slash - path) + 1);
    int fd = directory ? open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    if (fd >= 0) {
        fsync(fd);
        close(fd);
    }
    free(directory);
}

int atomic_file_finish(struct atomic_file *atomic)
{
    if (fsync(atomic->fd))
        return -errno;
    if (!is_named(atomic->fd, atomic->path))
        return -ENOENT;
    int err = rename_new(atomic->path, atomic->file);
    if (err)
        return err;
    close(atomic->fd);
    atomic->fd = -1;
    sync_directory(atomic->path);
    return 0;
}

void atomic_file_free(struct atomic_file *atomic)
{
    if (!atomic)
        return;
    if (atomic->fd >= 0) {
        if (is_named(atomic->fd, atomic->path))
            unlink(atomic->path);
        close(atomic->fd);
    }
    free(atomic->path);
    free(atomic->file);
    free(atomic);
}
