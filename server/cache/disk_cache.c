#include "disk_cache.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <uv.h>

#include "server/cache/circuit_breaker.h"
#include "server/cache/eviction_thread.h"
#include "server/cache/tile_file.h"
#include "server/cache/tile_walk.h"
#include "server/core/clock.h"
#include "server/telemetry/log.h"

enum {
    TEMPORARY_MAX = 64,
    TILE_DEPTH = 4,    /* directories between the cache's directory and a tile */
    ATTEMPTS = 8,      /* an eviction may delete the directories that a put has just made */
    AHEAD_SHARE = 100, /* at most a 100th of the limit is reserved ahead */
};

struct disk_cache {
    struct directory directory;
    unsigned temporary; /* atomic: the last temporary file's number */
    bool serves;        /* tiles: is_current was given */
    struct quota *quota;
    struct eviction_thread *evictor;
    struct circuit_breaker breaker;
    struct tile_reader reader;
};

int disk_cache_path(const struct config *config, char out[DISK_CACHE_PATH_MAX])
{
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");

    snprintf(out, DISK_CACHE_PATH_MAX, "%s", config->cache.path);
    if (out[0])
        return 0;
    if (cache && cache[0] == '/')
        snprintf(out, DISK_CACHE_PATH_MAX, "%s/farlands", cache);
    else if (home && home[0] == '/')
        snprintf(out, DISK_CACHE_PATH_MAX, "%s/.cache/farlands", home);
    else
        return -ENOENT;
    return 0;
}

static void temporary_name(struct disk_cache *cache, char name[TEMPORARY_MAX])
{
    snprintf(name, TEMPORARY_MAX, TEMPORARY_PREFIX "%016" PRIx64 "-%u", quota_nonce(cache->quota),
             __atomic_fetch_add(&cache->temporary, 1, __ATOMIC_RELAXED));
}

/* Test whether the directory is writable, by making and deleting a file. */
static int try_directory(struct disk_cache *cache)
{
    char name[TEMPORARY_MAX];
    temporary_name(cache, name);
    int err = tile_file_write(cache->directory.fd, name, &(const struct blob){0});
    return !err && unlinkat(cache->directory.fd, name, 0) ? -errno : err;
}

static void suspend(struct disk_cache *cache, int err)
{
    if (circuit_breaker_failed(&cache->breaker, clock_ms(NULL)))
        log_line(LOG_WARNING, "cannot store tiles in %s: %s; serving goes on",
                 cache->directory.path, strerror(-err));
}

/* True for errors that may pass and don't prevent reading. */
static bool is_transient(int err)
{
    return err == -ENOSPC || err == -EDQUOT || err == -EROFS || err == -EAGAIN || err == -EUSERS;
}

int disk_cache_open(struct disk_cache **out, const char *directory, const struct footprint *quota,
                    bool (*is_current)(void *context, const char *fingerprint), void *context)
{
    int write_err;
    struct disk_cache *cache = calloc(1, sizeof *cache);
    if (!cache)
        return -ENOMEM;
    cache->serves = is_current != NULL;
    int err = directory_open(&cache->directory, directory);
    if (err)
        goto fail_directory;
    err = quota_open(&cache->quota, &cache->directory, &write_err);
    if (err)
        goto fail_quota;
    if (!write_err)
        write_err = try_directory(cache);
    if (write_err && !is_transient(write_err)) {
        err = write_err;
        goto fail_write;
    }
    if (write_err)
        suspend(cache, write_err);
    const struct eviction_parts parts = {.directory = &cache->directory,
                                         .quota = cache->quota,
                                         .is_current = is_current,
                                         .context = context};
    err = eviction_thread_new(&cache->evictor, &parts, *quota);
    if (err)
        goto fail_write;
    *out = cache;
    return 0;

fail_write:
    quota_close(cache->quota);
fail_quota:
    directory_close(&cache->directory);
fail_directory:
    free(cache);
    return err;
}

void disk_cache_close(struct disk_cache *cache)
{
    if (!cache)
        return;
    eviction_thread_free(cache->evictor);
    quota_close(cache->quota);
    directory_close(&cache->directory);
    free(cache);
}

void disk_cache_limit(struct disk_cache *cache, const struct footprint *quota)
{
    eviction_thread_set_limit(cache->evictor, *quota);
}

bool disk_cache_usage(const struct disk_cache *cache, struct footprint *out)
{
    return quota_last(cache->quota, out);
}

bool disk_cache_has_room(const struct disk_cache *cache, struct footprint size)
{
    struct footprint used;
    return !quota_last(cache->quota, &used) ||
           footprint_fits(footprint_sum(used, size), eviction_thread_limit(cache->evictor));
}

bool disk_cache_suspended(const struct disk_cache *cache)
{
    return circuit_breaker_is_open(&cache->breaker);
}

int disk_cache_get(struct disk_cache *cache, const char *key, bool wait, struct blob **out)
{
    int touch;
    int err = tile_file_read(out, &cache->reader, cache->directory.fd, key, wait, &touch);
    if (touch >= 0 && wait) {
        futimens(touch, NULL); /* may fail: another user's file, a read-only file system */
        close(touch);
    } else if (touch >= 0)
        eviction_thread_touch(cache->evictor, touch);
    return err;
}

bool disk_cache_has(struct disk_cache *cache, const char *key)
{
    struct stat status;
    return fstatat(cache->directory.fd, key, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
           S_ISREG(status.st_mode) && status.st_size > 0;
}

/* One put of a batch. */
struct put {
    struct disk_cache_batch *batch;
    struct disk_cache *cache;
    char name[TILE_KEY_MAX];
    char temporary[TEMPORARY_MAX];
    struct footprint size; /* the tile's */
};

/* Reserve SIZE in the ledger for the batch. */
static int take(struct disk_cache_batch *batch, struct footprint size)
{
    struct disk_cache *cache = batch->cache;
    int err = quota_reserve(cache->quota, size, eviction_thread_limit(cache->evictor));
    if (err)
        return err;
    batch->reserved = footprint_sum(batch->reserved, size);
    batch->spare = footprint_sum(batch->spare, size);
    return 0;
}

static int reserve(struct put *put, struct footprint size)
{
    struct disk_cache_batch *batch = put->batch;
    int err = 0;

    if (!footprint_fits(size, batch->spare)) {
        err = footprint_fits(size, batch->ahead) ? take(batch, batch->ahead) : -EDQUOT;
        if (err == -EDQUOT) { /* there may still be enough for this one */
            batch->ahead = (struct footprint){0};
            err = take(batch, size);
        }
    }
    if (err == -EDQUOT)
        eviction_thread_refused(put->cache->evictor, size);
    else if (!err)
        batch->spare = footprint_difference(batch->spare, size);
    return err;
}

/* Return SIZE, which is not needed any more, to the batch's spare. */
static void release(struct put *put, struct footprint size)
{
    put->batch->spare = footprint_sum(put->batch->spare, size);
}

/* To callers -EDQUOT means the cache's quota. If the file system has its own, its disk is full. */
static int disk_error(int err)
{
    return err == -EDQUOT ? -ENOSPC : err;
}

static int write_temporary(struct put *put, const struct blob *png)
{
    struct directory *directory = &put->cache->directory;
    int err = tile_file_write(directory->fd, put->temporary, png);
    if (err == -ENOENT && directory_reopen(directory) == 0)
        err = tile_file_write(directory->fd, put->temporary, png);
    return disk_error(err);
}

/* Open NAME's directory, never through a symbolic link, whose target is not the cache's. */
static int open_parent(int fd, char *name)
{
    struct open_how how = {.flags = O_PATH | O_DIRECTORY | O_CLOEXEC,
                           .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS};
    char *slash = strrchr(name, '/');
    *slash = '\0';
    int parent = (int)syscall(SYS_openat2, fd, name, &how, sizeof how);
    if (parent < 0 && (errno == ENOSYS || errno == EPERM)) /* Linux before 5.6, and sandboxes */
        parent = openat(fd, name, O_PATH | O_DIRECTORY | O_CLOEXEC);
    parent = parent < 0 ? -errno : parent;
    *slash = '/';
    return parent;
}

static void close_parent(struct disk_cache_batch *batch)
{
    if (batch->parent >= 0)
        close(batch->parent);
    batch->parent = -1;
}

/* The tile's directory, open. The batch keeps it, because the next tile may go there, too. */
static int parent_of(struct put *put)
{
    struct disk_cache_batch *batch = put->batch;
    const size_t length = (size_t)(strrchr(put->name, '/') + 1 - put->name);

    if (batch->parent >= 0 && batch->directory[length] == '\0' &&
        memcmp(batch->directory, put->name, length) == 0)
        return batch->parent;
    close_parent(batch);
    batch->parent = open_parent(put->cache->directory.fd, put->name);
    memcpy(batch->directory, put->name, length);
    batch->directory[length] = '\0';
    return batch->parent;
}

/*
 * Delete the replaced file, which has the temporary name now, and release its size, because no
 * other process does. Releases at most the tile's size: quota_settle cannot release more than was
 * reserved. A count finds the rest.
 */
static void delete_replaced(struct put *put)
{
    int fd = put->cache->directory.fd;
    struct stat status;
    if (fstatat(fd, put->temporary, &status, AT_SYMLINK_NOFOLLOW) ||
        unlinkat(fd, put->temporary, 0) || !S_ISREG(status.st_mode))
        return;
    struct footprint replaced = footprint_of_file((uint64_t)status.st_size);
    release(put, replaced.bytes < put->size.bytes ? replaced : put->size);
}

/* Rename the temporary file to FILE in the directory PARENT. If FILE exists they are exchanged,
 * because a plain rename would not tell the replaced file's size. */
static int rename_to(struct put *put, int parent, const char *file)
{
    int fd = put->cache->directory.fd;
    struct stat status;
    if (renameat2(fd, put->temporary, parent, file, RENAME_NOREPLACE) == 0)
        return 0;
    if (errno == EEXIST) {
        if (fstatat(parent, file, &status, AT_SYMLINK_NOFOLLOW))
            return -errno;
        if (S_ISDIR(status.st_mode))
            return -EISDIR;
        if (renameat2(fd, put->temporary, parent, file, RENAME_EXCHANGE) == 0) {
            delete_replaced(put);
            return 0;
        }
    }
    if (errno != EINVAL)
        return -errno;
    /* The file system lacks these flags: the ledger may exceed the usage until the next count. */
    return renameat(fd, put->temporary, parent, file) ? -errno : 0;
}

static int make_directories(struct put *put)
{
    const uint64_t each = footprint_of_directory(0, 0).bytes;
    unsigned made = 0;
    int err = reserve(put, (struct footprint){TILE_DEPTH * each, TILE_DEPTH});
    if (err)
        return err;
    err = disk_error(directory_create(put->cache->directory.fd, put->name, &made));
    release(put, (struct footprint){(TILE_DEPTH - made) * each, TILE_DEPTH - made});
    return err == -ENOENT ? 0 : err; /* deleted as soon as they were made: try again */
}

/* Rename the temporary file to the tile's name, making missing directories. */
static int publish(struct put *put)
{
    int err = -ENOENT;
    for (int attempt = 0; err == -ENOENT && attempt < ATTEMPTS; attempt++) {
        const int parent = parent_of(put);
        err = parent;
        if (parent >= 0)
            err = disk_error(rename_to(put, parent, strrchr(put->name, '/') + 1));
        if (err)
            close_parent(put->batch);
        if (err == -ENOENT) {
            int made = make_directories(put);
            if (made)
                return made;
        }
    }
    return err;
}

static int store(struct put *put, const struct blob *png)
{
    struct disk_cache *cache = put->cache;
    put->size = footprint_of_file(png->length);
    int err = reserve(put, put->size);
    if (err)
        return err;
    err = write_temporary(put, png);
    const bool written = !err;
    if (written)
        err = publish(put);
    /* If another process removed the file, that process adjusts the ledger. */
    if (err && (!written || unlinkat(cache->directory.fd, put->temporary, 0) == 0))
        release(put, put->size);
    return err;
}

/* True if something is in this tile's place, which is no reason to suspend storing. */
static bool is_obstacle(int err)
{
    return err == -EISDIR || err == -ENOTDIR || err == -ELOOP || err == -EXDEV || err == -EEXIST ||
           err == -ENAMETOOLONG || err == -EBUSY;
}

static void update_breaker(struct disk_cache *cache, uint16_t begun, int err)
{
    if (err == -EDQUOT || is_obstacle(err))
        return;
    if (err == -ENOSPC && cache->serves)
        eviction_thread_disk_full(cache->evictor);
    if (err)
        suspend(cache, err);
    else if (circuit_breaker_succeeded(&cache->breaker, begun))
        log_line(LOG_INFO, "storing tiles in %s again", cache->directory.path);
}

struct footprint disk_cache_ahead(size_t bytes, unsigned tiles)
{
    const struct footprint directory = footprint_of_directory(0, 0);
    const uint64_t ends = tiles * (uint64_t)(FOOTPRINT_BLOCK + FOOTPRINT_ENTRY);
    return (struct footprint){bytes + ends + (tiles + TILE_DEPTH) * directory.bytes,
                              2 * (uint64_t)tiles + TILE_DEPTH};
}

void disk_cache_begin(struct disk_cache_batch *batch, struct disk_cache *cache,
                      struct footprint ahead)
{
    const struct footprint limit = eviction_thread_limit(cache->evictor);
    const struct footprint most = {limit.bytes / AHEAD_SHARE, limit.files / AHEAD_SHARE};

    *batch = (struct disk_cache_batch){.cache = cache, .parent = -1};
    if (footprint_fits(ahead, most)) /* more would make evictions begin earlier */
        batch->ahead = ahead;
}

int disk_cache_add(struct disk_cache_batch *batch, const char *key, const struct blob *png)
{
    struct disk_cache *cache = batch->cache;
    struct put put = {.batch = batch, .cache = cache};
    uint16_t begun;
    if (!circuit_breaker_allows(&cache->breaker, clock_ms(NULL), &begun))
        return -ECANCELED;
    snprintf(put.name, sizeof put.name, "%s", key);
    temporary_name(cache, put.temporary);
    int err = store(&put, png);
    if (err == -ENOENT) /* not the disk's fault: the directory is deleted as soon as it is made */
        err = -EBUSY;
    update_breaker(cache, begun, err);
    if (!err)
        eviction_thread_stored(cache->evictor);
    return err;
}

void disk_cache_end(struct disk_cache_batch *batch)
{
    close_parent(batch);
    if (batch->reserved.files > 0)
        quota_settle(batch->cache->quota, batch->reserved, batch->spare);
}

int disk_cache_put(struct disk_cache *cache, const char *key, const struct blob *png)
{
    struct disk_cache_batch batch;

    disk_cache_begin(&batch, cache, (struct footprint){0});
    int err = disk_cache_add(&batch, key, png);
    disk_cache_end(&batch);
    return err;
}
