#include "tile_walk.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "server/layers/layer.h"

/* What is below each other. */
enum level { FINGERPRINTS, LAYERS, ZOOMS, COLUMNS, TILES };

/* The length of the whole number that NAME begins with, as tile_path writes it; or 0. */
static size_t integer_length(const char *name)
{
    const char *digits = name + (*name == '-');
    size_t count = strspn(digits, "0123456789");
    if (count == 0 || (*digits == '0' && (count > 1 || digits != name)))
        return 0;
    errno = 0;
    strtoll(name, NULL, 10);
    return errno ? 0 : (size_t)(digits - name) + count;
}

static bool is_integer(const char *name)
{
    size_t length = integer_length(name);
    return length > 0 && name[length] == '\0';
}

static bool is_tile(const char *name)
{
    size_t length = integer_length(name);
    return length > 0 &&
           (strcmp(name + length, ".png") == 0 || strcmp(name + length, "@2x.png") == 0);
}

static bool is_fingerprint(const char *name)
{
    return strlen(name) == FINGERPRINT_TEXT - 1 &&
           strspn(name, "0123456789abcdef") == FINGERPRINT_TEXT - 1;
}

static bool is_zoom(const char *name)
{
    enum { FURTHEST = 64 }; /* beyond every native_zoom's range */
    return is_integer(name) && llabs(strtoll(name, NULL, 10)) <= FURTHEST;
}

static bool is_ours(enum level level, const char *name)
{
    switch (level) {
    case FINGERPRINTS:
        return is_fingerprint(name);
    case LAYERS:
        return layer_find(name) >= 0;
    case ZOOMS:
        return is_zoom(name);
    case COLUMNS:
        return is_integer(name);
    default:
        return is_tile(name);
    }
}

/* What was deleted or is someone else's is no reason to end. */
static int passed_over(int err)
{
    switch (err) {
    case -ENOENT:
    case -ENOTDIR:
    case -ELOOP:
    case -EACCES:
    case -EPERM:
        return 0;
    default:
        return err;
    }
}

/* NULL, and errno says why. */
static DIR *open_folder(int parent, const char *name)
{
    int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return NULL;
    DIR *directory = fdopendir(fd);
    if (!directory) {
        int err = errno;
        close(fd);
        errno = err;
    }
    return directory;
}

static void visit_file(const struct walk *walk, struct walk_folder *directory, const char *name)
{
    struct stat status;
    if (fstatat(directory->fd, name, &status, AT_SYMLINK_NOFOLLOW) || !S_ISREG(status.st_mode))
        return;
    directory->entries++;
    directory->left += !walk->tile(walk->context, directory, name, &status);
}

static void visit_temporary(const struct walk *walk, int fd, const char *name)
{
    struct stat status;
    if (fstatat(fd, name, &status, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(status.st_mode))
        walk->temporary(walk->context, fd, name, &status);
}

static int visit_folder(const struct walk *walk, enum level level, struct walk_folder *directory);

static int visit(const struct walk *walk, enum level level, struct walk_folder *directory,
                 const char *name)
{
    if (!is_ours(level, name))
        return 0;
    if (level == TILES) {
        visit_file(walk, directory, name);
        return 0;
    }
    if (level == FINGERPRINTS) {
        memcpy(directory->fingerprint, name, FINGERPRINT_TEXT);
        if (!walk->fingerprint(walk->context, name))
            return 0;
    }
    struct walk_folder below = {.parent = directory->fd, .name = name};
    memcpy(below.fingerprint, directory->fingerprint, FINGERPRINT_TEXT);
    int err = visit_folder(walk, level + 1, &below);
    if (err)
        return passed_over(err);
    directory->entries++;
    directory->left += !walk->leave(walk->context, &below);
    return 0;
}

/* Every entry of DIRECTORY, which is on LEVEL; its descriptor is closed afterwards. */
static int visit_folder(const struct walk *walk, enum level level, struct walk_folder *directory)
{
    struct stat status;
    int err = 0;
    DIR *stream = open_folder(directory->parent, directory->name);
    if (!stream)
        return -errno;
    directory->fd = dirfd(stream);
    while (!err) {
        if (!walk->go_on(walk->context)) {
            err = -ECANCELED;
            break;
        }
        errno = 0;
        const struct dirent *entry = readdir(stream);
        if (!entry) {
            err = errno ? -errno : 0;
            break;
        }
        if (level == FINGERPRINTS &&
            strncmp(entry->d_name, TEMPORARY_PREFIX, strlen(TEMPORARY_PREFIX)) == 0)
            visit_temporary(walk, directory->fd, entry->d_name);
        else
            err = visit(walk, level, directory, entry->d_name);
    }
    if (fstat(directory->fd, &status) == 0)
        directory->size = (uint64_t)status.st_size;
    closedir(stream);
    directory->fd = -1;
    return err;
}

int tile_walk(int fd, const struct walk *walk)
{
    struct walk_folder top = {.parent = fd, .name = "."};
    return visit_folder(walk, FINGERPRINTS, &top);
}

static bool pass_by(void *context, const char *fingerprint)
{
    (void)context, (void)fingerprint;
    return false;
}

int tile_walk_top(int fd, const struct walk *walk)
{
    struct walk top_only = *walk;
    top_only.fingerprint = pass_by;
    return tile_walk(fd, &top_only);
}
