#include "atomic_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Others may finish, or give up, between two looks at the name. */
enum { ATTEMPTS = 64 };

struct atomic_file {
    char *file, *path;
    int fd; /* whose lock says that the writer lives; -1: finished */
};

static bool is_there(const char *path)
{
    struct stat status;
    return lstat(path, &status) == 0;
}

/* Of the open file, not of the process: another one in this process is another writer. */
static int lock(int fd)
{
    struct flock all = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    if (fcntl(fd, F_OFD_SETLK, &all) == 0)
        return 0;
    return errno == EACCES || errno == EAGAIN ? -EBUSY : -errno;
}

/* Whether PATH still names the open file. */
static bool is_named(int fd, const char *path)
{
    struct stat open_one, named;
    return fstat(fd, &open_one) == 0 && lstat(path, &named) == 0 &&
           open_one.st_dev == named.st_dev && open_one.st_ino == named.st_ino;
}

/* The locked file is emptied, where it is one of ours that nobody writes any more. */
static int take_over(int fd, bool (*is_ours)(int fd))
{
    struct stat status;
    if (fstat(fd, &status))
        return -errno;
    if (!S_ISREG(status.st_mode) || (status.st_size > 0 && !is_ours(fd)))
        return -ENOTUNIQ;
    return ftruncate(fd, 0) ? -errno : 0;
}

/* The descriptor of PATH, locked and empty; -EAGAIN where it was renamed or deleted meanwhile. */
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

int atomic_file_new(struct atomic_file **out, const char *file, bool (*is_ours)(int fd))
{
    if (!*file)
        return -ENOENT;
    if (is_there(file))
        return -EEXIST;
    int err = -ENOMEM, fd = -EAGAIN;
    struct atomic_file *unfinished = calloc(1, sizeof *unfinished);
    if (!unfinished)
        return -ENOMEM;
    unfinished->file = strdup(file);
    if (!unfinished->file)
        goto fail_file;
    if (asprintf(&unfinished->path, "%s%s" ATOMIC_FILE_SUFFIX, file[0] == '/' ? "" : "./", file) <
        0)
        goto fail_path;
    for (int i = 0; fd == -EAGAIN && i < ATTEMPTS; i++)
        fd = open_locked(unfinished->path, is_ours);
    err = fd == -EAGAIN ? -EBUSY : fd;
    if (err < 0)
        goto fail_open;
    unfinished->fd = fd;
    /* It may have been finished by whoever had the name before. */
    if (is_there(file)) {
        atomic_file_free(unfinished);
        return -EEXIST;
    }
    *out = unfinished;
    return 0;

fail_open:
    free(unfinished->path);
fail_path:
    free(unfinished->file);
fail_file:
    free(unfinished);
    return err;
}

const char *atomic_file_path(const struct atomic_file *unfinished)
{
    return unfinished->path;
}

/* Never in the place of another file. */
static int move(const char *from, const char *to)
{
    if (renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0)
        return 0;
    if (errno != EINVAL && errno != ENOSYS)
        return -errno;
    /* A file system that cannot, such as NFS, has hard links, which never replace either. */
    if (link(from, to))
        return -errno;
    unlink(from);
    return 0;
}

/* So that the name, too, outlives a power loss. The file is whole without it: no failure. */
static void sync_folder(const char *path)
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

int atomic_file_finish(struct atomic_file *unfinished)
{
    if (fsync(unfinished->fd))
        return -errno;
    if (!is_named(unfinished->fd, unfinished->path))
        return -ENOENT;
    int err = move(unfinished->path, unfinished->file);
    if (err)
        return err;
    close(unfinished->fd);
    unfinished->fd = -1;
    sync_folder(unfinished->path);
    return 0;
}

void atomic_file_free(struct atomic_file *unfinished)
{
    if (!unfinished)
        return;
    if (unfinished->fd >= 0) {
        if (is_named(unfinished->fd, unfinished->path))
            unlink(unfinished->path);
        close(unfinished->fd);
    }
    free(unfinished->path);
    free(unfinished->file);
    free(unfinished);
}
