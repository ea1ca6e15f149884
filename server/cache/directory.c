#include "directory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Make the directory whose name ends at SLASH. */
static int make(int fd, char *name, char *slash, unsigned *made)
{
    *slash = '\0';
    int err = mkdirat(fd, name, 0777) ? -errno : 0;
    *slash = '/';
    *made += !err;
    return err == -EEXIST ? 0 : err;
}

/* Tries the last directory first, because usually all but the last one or two exist. */
int directory_create(int fd, char *name, unsigned *made)
{
    char *const last = strrchr(name + 1, '/');
    char *slash = last;
    int err = last ? make(fd, name, last, made) : 0;

    while (err == -ENOENT && (slash = memrchr(name + 1, '/', (size_t)(slash - name - 1))))
        err = make(fd, name, slash, made);
    while (!err && slash != last) {
        slash = strchr(slash + 1, '/');
        err = make(fd, name, slash, made);
    }
    return err;
}

static int open_path(const char *path)
{
    char *slashed;
    unsigned made = 0;
    if (asprintf(&slashed, "%s/", path) < 0)
        return -ENOMEM;
    int err = directory_create(AT_FDCWD, slashed, &made);
    free(slashed);
    if (err)
        return err;
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return fd >= 0 ? fd : -errno;
}

int directory_open(struct directory *directory, const char *path)
{
    directory->path = strdup(path);
    if (!directory->path)
        return -ENOMEM;
    directory->fd = open_path(path);
    if (directory->fd >= 0)
        return 0;
    free(directory->path);
    return directory->fd;
}

void directory_close(struct directory *directory)
{
    close(directory->fd);
    free(directory->path);
}

int directory_reopen(struct directory *directory)
{
    int fd = open_path(directory->path);
    if (fd < 0)
        return fd;
    int err = dup3(fd, directory->fd, O_CLOEXEC) < 0 ? -errno : 0;
    close(fd);
    return err;
}
