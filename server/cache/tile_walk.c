#include "tile_walk.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "server/layers/layer.h"

/* What a directory's entries are, by its depth. */
enum level { FINGERPRINTS, LAYERS, ZOOMS, COLUMNS, TILES };

enum { ZOOM_MAX = 64 }; /* beyond the range for any native_zoom */

/* The length of the integer at the start of NAME, as tile_path writes integers; or 0. */
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

/* NAME without PREFIX, if any. */
static const char *without(const char *name, const char *prefix)
{
    const size_t length = strlen(prefix);
    return strncmp(name, prefix, length) == 0 ? name + length : name;
}

static bool is_tile(const char *name)
{
    size_t length = integer_length(name);
    const char *extension = without(without(name + length, "@2x"), "+border");
    const int format = extension[0] == '.' ? format_find(extension + 1) : -1;
    return length > 0 && format >= 0 && format_is_picture((enum format)format);
}

bool tile_walk_is_fingerprint(const char *name)
{
    return strlen(name) == FINGERPRINT_TEXT - 1 &&
           strspn(name, "0123456789abcdef") == FINGERPRINT_TEXT - 1;
}

bool tile_walk_is_temporary(const char *name)
{
    return strncmp(name, TEMPORARY_PREFIX, strlen(TEMPORARY_PREFIX)) == 0;
}

static bool is_ours(enum level level, const char *name)
{
    switch (level) {
    case FINGERPRINTS:
        return tile_walk_is_fingerprint(name);
    case LAYERS:
        return layer_find(name) >= 0;
    case ZOOMS:
        return is_integer(name) && llabs(strtoll(name, NULL, 10)) <= ZOOM_MAX;
    case COLUMNS:
        return is_integer(name);
    default:
        return is_tile(name);
    }
}

/* Deleted meanwhile, or someone else's: no reason to end the walk. */
static bool is_skipped(int err)
{
    return err == -ENOENT || err == -ENOTDIR || err == -ELOOP || err == -EACCES || err == -EPERM;
}

static bool is_file(int directory, const char *name, struct stat *status)
{
    return fstatat(directory, name, status, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(status->st_mode);
}

static int visit_directory(const struct walk *walk, enum level level,
                           struct walk_directory *directory);

static int visit(const struct walk *walk, enum level level, struct walk_directory *directory,
                 const char *name)
{
    struct stat status;
    if (level == FINGERPRINTS && tile_walk_is_temporary(name)) {
        if (is_file(directory->fd, name, &status))
            walk->temporary(walk->context, directory->fd, name, &status);
        return 0;
    }
    if (!is_ours(level, name))
        return 0;
    if (level == TILES) {
        if (is_file(directory->fd, name, &status)) {
            directory->entries++;
            directory->left += !walk->tile(walk->context, directory, name, &status);
        }
        return 0;
    }
    if (level == FINGERPRINTS) {
        if (!walk->fingerprint)
            return 0;
        walk->fingerprint(walk->context, name);
    }
    struct walk_directory child = {.parent = directory->fd, .name = name};
    int err = visit_directory(walk, level + 1, &child);
    if (err)
        return is_skipped(err) ? 0 : err;
    directory->entries++;
    directory->left += !walk->leave(walk->context, &child);
    return 0;
}

/* Visit all entries of DIRECTORY, which are on LEVEL. */
static int visit_directory(const struct walk *walk, enum level level,
                           struct walk_directory *directory)
{
    struct stat status;
    int err = 0;
    directory->fd =
        openat(directory->parent, directory->name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (directory->fd < 0)
        return -errno;
    DIR *stream = fdopendir(directory->fd);
    if (!stream) {
        err = -errno;
        close(directory->fd);
        return err;
    }
    while (!err) {
        if (!walk->go_on(walk->context)) {
            err = -ECANCELED;
            break;
        }
        errno = 0;
        const struct dirent *entry = readdir(stream);
        if (!entry) {
            err = -errno;
            break;
        }
        err = visit(walk, level, directory, entry->d_name);
    }
    if (fstat(directory->fd, &status) == 0)
        directory->size = (uint64_t)status.st_size;
    closedir(stream);
    return err;
}

int tile_walk(int fd, const struct walk *walk)
{
    struct walk_directory top = {.parent = fd, .name = "."};
    return visit_directory(walk, FINGERPRINTS, &top);
}
