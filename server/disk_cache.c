#include "disk_cache.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "server/png_check.h"

enum { NAME_MAX_TEXT = FINGERPRINT_TEXT + TILE_PATH_MAX, TEMPORARY_MAX = 64 };

/* No tile is larger: 512 x 512 x 3 bytes, incompressible. */
enum { FILE_MAX = 1 << 20 };

/* A file takes milliseconds to write: what has been in the making for longer
 * was left by a process that was killed. */
enum { ABANDONED_SECONDS = 60 };

#define TEMPORARY_PREFIX ".new-"

struct disk_cache {
    int folder;         /* names are relative to it */
    char *path;         /* of it, for when someone has deleted it */
    uint64_t nonce;     /* drawn at random: several processes may share the folder */
    unsigned temporary; /* atomic: makes temporary names differ */
};

static void temporary_name(struct disk_cache *cache, char name[TEMPORARY_MAX])
{
    snprintf(name, TEMPORARY_MAX, TEMPORARY_PREFIX "%016" PRIx64 "-%u", cache->nonce,
             __atomic_fetch_add(&cache->temporary, 1, __ATOMIC_RELAXED));
}

static void tile_name(const struct tile *tile, char name[NAME_MAX_TEXT])
{
    char path[TILE_PATH_MAX];
    snprintf(name, NAME_MAX_TEXT, "%s/%s", tile->world->fingerprint, tile_path(tile, path));
}

/* mkdir -p of everything before the last slash of NAME, below the folder FD. */
static int make_folders(int fd, char *name)
{
    for (char *slash = strchr(name + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        int err = mkdirat(fd, name, 0777) && errno != EEXIST ? -errno : 0;
        *slash = '/';
        if (err)
            return err;
    }
    return 0;
}

/* Make a file and unlink it: whether the folder can be written to at all. */
static int try_folder(struct disk_cache *cache)
{
    char name[TEMPORARY_MAX];
    temporary_name(cache, name);
    int fd = openat(cache->folder, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd < 0)
        return -errno;
    close(fd);
    return unlinkat(cache->folder, name, 0) ? -errno : 0;
}

/* Unlink what killed processes left behind. It all lies in the top folder. */
static void sweep(struct disk_cache *cache)
{
    int fd = openat(cache->folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *folder = fd < 0 ? NULL : fdopendir(fd);
    if (!folder) {
        if (fd >= 0)
            close(fd);
        return;
    }
    const time_t now = time(NULL);
    for (struct dirent *entry; (entry = readdir(folder));) {
        struct stat status;
        if (strncmp(entry->d_name, TEMPORARY_PREFIX, strlen(TEMPORARY_PREFIX)) == 0 &&
            fstatat(fd, entry->d_name, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
            llabs((long long)(now - status.st_mtime)) > ABANDONED_SECONDS)
            unlinkat(fd, entry->d_name, 0);
    }
    closedir(folder);
}

/* Open the folder, made where it is missing, as the descriptor that *FD is, if it is one. */
static int open_folder(const char *path, int *fd)
{
    char *slashed;
    if (asprintf(&slashed, "%s/", path) < 0)
        return -ENOMEM;
    int err = make_folders(AT_FDCWD, slashed);
    free(slashed);
    if (err)
        return err;
    int folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0)
        return -errno;
    if (*fd >= 0) {
        err = dup3(folder, *fd, O_CLOEXEC) < 0 ? -errno : 0; /* at once for all threads */
        close(folder);
        return err;
    }
    *fd = folder;
    return 0;
}

int disk_cache_open(struct disk_cache **out, const char *folder)
{
    struct disk_cache *cache = calloc(1, sizeof *cache);
    if (!cache)
        return -ENOMEM;
    int err = -ENOMEM;
    cache->folder = -1;
    cache->path = strdup(folder);
    if (!cache->path)
        goto fail_path;
    if (getrandom(&cache->nonce, sizeof cache->nonce, 0) != sizeof cache->nonce)
        cache->nonce = (uint64_t)getpid();
    err = open_folder(folder, &cache->folder);
    if (err)
        goto fail_folder;
    err = try_folder(cache);
    if (err)
        goto fail_try;
    sweep(cache);
    *out = cache;
    return 0;

fail_try:
    close(cache->folder);
fail_folder:
    free(cache->path);
fail_path:
    free(cache);
    return err;
}

void disk_cache_close(struct disk_cache *cache)
{
    if (!cache)
        return;
    close(cache->folder);
    free(cache->path);
    free(cache);
}

static int read_all(int fd, uint8_t *bytes, size_t length)
{
    while (length > 0) {
        ssize_t n = read(fd, bytes, length);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return n < 0 ? -errno : -EILSEQ; /* shorter than it was a moment ago */
        bytes += n;
        length -= (size_t)n;
    }
    return 0;
}

int disk_cache_get(struct disk_cache *cache, const struct tile *tile, struct blob **out)
{
    char name[NAME_MAX_TEXT];
    struct stat status;
    uint32_t size = (uint32_t)tile_size(tile);
    assert(tile->format == FORMAT_PNG);

    tile_name(tile, name);
    int fd = openat(cache->folder, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0)
        return -errno;
    int err = fstat(fd, &status) ? -errno : 0;
    if (!err && (!S_ISREG(status.st_mode) || status.st_size > FILE_MAX))
        err = -EILSEQ;
    struct blob *blob = NULL;
    if (!err) {
        blob = blob_new((size_t)status.st_size);
        err = blob ? read_all(fd, blob->bytes, blob->length) : -ENOMEM;
    }
    close(fd);
    if (!err && !png_check(blob->bytes, blob->length, size, size))
        err = -EILSEQ;
    if (err)
        blob_release(blob);
    else
        *out = blob;
    return err;
}

static int write_all(int fd, const uint8_t *bytes, size_t length)
{
    while (length > 0) {
        ssize_t n = write(fd, bytes, length);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -errno;
        bytes += n;
        length -= (size_t)n;
    }
    return 0;
}

/* Not flushed to the disk: after a power loss a torn file is a miss, which its CRCs tell.
 * Only what was made here is unlinked on error. */
static int write_temporary(struct disk_cache *cache, const char *temporary, const struct blob *png)
{
    const int flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC;
    int fd = openat(cache->folder, temporary, flags, 0666);
    if (fd < 0 && errno == ENOENT && open_folder(cache->path, &cache->folder) == 0)
        fd = openat(cache->folder, temporary, flags, 0666);
    if (fd < 0)
        return -errno;
    int err = write_all(fd, png->bytes, png->length);
    if (close(fd) && !err)
        err = -errno;
    if (err)
        unlinkat(cache->folder, temporary, 0);
    return err;
}

/* The temporary file becomes NAME, whose folders are made when first needed. */
static int rename_temporary(struct disk_cache *cache, const char *temporary, char *name)
{
    if (renameat(cache->folder, temporary, cache->folder, name) == 0)
        return 0;
    int err = errno == ENOENT ? make_folders(cache->folder, name) : -errno;
    if (!err && renameat(cache->folder, temporary, cache->folder, name))
        err = -errno;
    if (err)
        unlinkat(cache->folder, temporary, 0);
    return err;
}

int disk_cache_put(struct disk_cache *cache, const struct tile *tile, const struct blob *png)
{
    char name[NAME_MAX_TEXT], temporary[TEMPORARY_MAX];
    assert(tile->format == FORMAT_PNG);

    tile_name(tile, name);
    temporary_name(cache, temporary);
    int err = write_temporary(cache, temporary, png);
    return err ? err : rename_temporary(cache, temporary, name);
}
