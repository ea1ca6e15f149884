#include "directory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int directory_create(int fd, char *name, unsigned *made)
{
    for (char *slash = strchr(name + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        int err = mkdirat(fd, name, 0777) ? -errno : 0;
        *slash = '/';
        if (!err)
            ++*made;
        else if (err != -EEXIST)
            return err;
    }
    return 0;
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
