#include "unfinished_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SUFFIX ".unfinished"

/* FILE.unfinished may be renamed or deleted between opening and locking it. */
enum { ATTEMPTS = 64 };

static bool exists(const char *path)
{
    struct stat status;
    return lstat(path, &status) == 0;
}

/* An OFD lock, because it also excludes a second writer in this process. */
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

/* FD is locked by us, so the last writer is dead. */
static int take_over(int fd, bool (*is_ours)(int fd))
{
    struct stat status;
    if (fstat(fd, &status))
        return -errno;
    if (!S_ISREG(status.st_mode) || (status.st_size > 0 && !is_ours(fd)))
        return -ENOTUNIQ;
    return ftruncate(fd, 0) ? -errno : 0;
}

/* Returns a descriptor for PATH, locked and empty; -EAGAIN if PATH was renamed or deleted
 * meanwhile. */
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

int unfinished_file_open(struct unfinished_file *out, const char *file, bool (*is_ours)(int fd))
{
    *out = (struct unfinished_file){.fd = -1};
    if (!*file)
        return -ENOENT;
    if (exists(file))
        return -EEXIST;
    out->file = strdup(file);
    /* With a slash no program mistakes the path for an option or a URI. */
    if (asprintf(&out->path, "%s%s" SUFFIX, file[0] == '/' ? "" : "./", file) < 0)
        out->path = NULL;
    if (!out->file || !out->path)
        return -ENOMEM;
    for (int i = 0; i < ATTEMPTS; i++) {
        out->fd = open_locked(out->path, is_ours);
        if (out->fd >= 0) /* the last writer may have finished FILE */
            return exists(file) ? -EEXIST : 0;
        if (out->fd != -EAGAIN)
            return out->fd;
    }
    return -EBUSY;
}

void unfinished_file_close(struct unfinished_file *unfinished)
{
    if (unfinished->fd >= 0) {
        if (is_named(unfinished->fd, unfinished->path))
            unlink(unfinished->path);
        close(unfinished->fd);
    }
    free(unfinished->path);
    free(unfinished->file);
    *unfinished = (struct unfinished_file){.fd = -1};
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

/* Make the rename survive a power loss. Errors are ignored: the file is complete either way. */
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

int unfinished_file_finish(struct unfinished_file *unfinished)
{
    if (fsync(unfinished->fd))
        return -errno;
    if (!is_named(unfinished->fd, unfinished->path))
        return -ENOENT;
    int err = rename_new(unfinished->path, unfinished->file);
    if (err)
        return err;
    close(unfinished->fd);
    unfinished->fd = -1;
    sync_directory(unfinished->path);
    return 0;
}

char *unfinished_file_explain(const char *file, int err, const char *detail,
                              char why[UNFINISHED_FILE_WHY])
{
    if (err == -EEXIST)
        snprintf(why, UNFINISHED_FILE_WHY, "%s: file exists; archives are never overwritten", file);
    else if (err == -EBUSY)
        snprintf(why, UNFINISHED_FILE_WHY, "%s" SUFFIX ": another run is writing it", file);
    else if (err == -ENOTUNIQ)
        snprintf(why, UNFINISHED_FILE_WHY,
                 "%s" SUFFIX ": file exists and is not an interrupted archive", file);
    else
        snprintf(why, UNFINISHED_FILE_WHY, "%s: %s%s%s%s", file, strerror(-err), detail ? " (" : "",
                 detail ? detail : "", detail ? ")" : "");
    return why;
}
