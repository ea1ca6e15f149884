#include "disk_cache.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "server/cache/circuit_breaker.h"
#include "server/cache/eviction_thread.h"
#include "server/cache/tile_file.h"
#include "server/cache/tile_walk.h"
#include "server/telemetry/log.h"

enum { TEMPORARY_MAX = 64 };

/* Folders between the cache's and a tile. */
enum { FOLDERS = 4 };

/* Others may delete and make what we make and look for: the sweeper an empty folder, say. */
enum { ATTEMPTS = 8 };

struct disk_cache {
    struct directory directory;
    uint64_t nonce;     /* drawn at random: several processes may share the folder */
    unsigned temporary; /* atomic: makes temporary names differ */
    struct quota *usage;
    struct eviction_thread *evictor;
    struct circuit_breaker breaker;
    struct tile_reader reader;
};

static uint64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static void temporary_name(struct disk_cache *cache, char name[TEMPORARY_MAX])
{
    snprintf(name, TEMPORARY_MAX, TEMPORARY_PREFIX "%016" PRIx64 "-%u", cache->nonce,
             __atomic_fetch_add(&cache->temporary, 1, __ATOMIC_RELAXED));
}

/* Tiles are kept under their keys. */
static void tile_name(const struct tile *tile, char name[TILE_KEY_MAX])
{
    assert(tile->format == FORMAT_PNG);
    tile_key(tile, name);
}

/* --- Life ---------------------------------------------------------------------- */

/* Make a file and unlink it: whether the folder can be written to at all. */
static int try_folder(struct disk_cache *cache)
{
    char name[TEMPORARY_MAX];
    temporary_name(cache, name);
    int fd = openat(cache->directory.fd, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd < 0)
        return -errno;
    close(fd);
    return unlinkat(cache->directory.fd, name, 0) ? -errno : 0;
}

static void suspend(struct disk_cache *cache, int err)
{
    if (circuit_breaker_failed(&cache->breaker, now_ms()))
        log_line(LOG_WARNING, "tiles cannot be stored in %s: %s; serving goes on",
                 cache->directory.path, strerror(-err));
}

/* What may pass, and does not keep tiles from being read. */
static bool may_pass(int err)
{
    return err == -ENOSPC || err == -EDQUOT || err == -EROFS || err == -EAGAIN || err == -EUSERS;
}

int disk_cache_open(struct disk_cache **out, const char *directory, const struct footprint *quota,
                    bool (*is_current)(void *context, const char *fingerprint), void *context)
{
    int why;
    struct disk_cache *cache = calloc(1, sizeof *cache);
    if (!cache)
        return -ENOMEM;
    if (getrandom(&cache->nonce, sizeof cache->nonce, 0) != sizeof cache->nonce)
        cache->nonce = (uint64_t)getpid() << 32 ^ now_ms();
    cache->nonce |= 1;
    int err = directory_open(&cache->directory, directory);
    if (err)
        goto fail_folder;
    err = quota_open(&cache->usage, &cache->directory, cache->nonce, &why);
    if (err)
        goto fail_usage;
    if (!why)
        why = try_folder(cache);
    if (why && !may_pass(why)) {
        err = why;
        goto fail_try;
    }
    if (why)
        suspend(cache, why);
    const struct eviction_parts parts = {.directory = &cache->directory,
                                         .usage = cache->usage,
                                         .nonce = cache->nonce,
                                         .is_current = is_current,
                                         .context = context};
    err = eviction_thread_new(&cache->evictor, &parts, *quota);
    if (err)
        goto fail_try;
    *out = cache;
    return 0;

fail_try:
    quota_close(cache->usage);
fail_usage:
    directory_close(&cache->directory);
fail_folder:
    free(cache);
    return err;
}

void disk_cache_close(struct disk_cache *cache)
{
    if (!cache)
        return;
    eviction_thread_free(cache->evictor);
    quota_close(cache->usage);
    directory_close(&cache->directory);
    free(cache);
}

void disk_cache_limit(struct disk_cache *cache, const struct footprint *quota)
{
    eviction_thread_set_limit(cache->evictor, *quota);
}

struct footprint disk_cache_keeps(struct footprint quota)
{
    return eviction_thread_low_watermark(quota);
}

bool disk_cache_usage(const struct disk_cache *cache, struct footprint *out)
{
    return quota_last(cache->usage, out);
}

bool disk_cache_suspended(const struct disk_cache *cache)
{
    return circuit_breaker_is_open(&cache->breaker);
}

/* --- Reading ----------------------------------------------------------------- */

static int get(struct disk_cache *cache, const struct tile *tile, bool wait, struct blob **out,
               int *touch)
{
    char name[TILE_KEY_MAX];
    tile_name(tile, name);
    return tile_file_read(out, &cache->reader, cache->directory.fd, name, (uint32_t)tile_size(tile),
                          wait, touch);
}

int disk_cache_get(struct disk_cache *cache, const struct tile *tile, struct blob **out)
{
    int touch;
    int err = get(cache, tile, true, out, &touch);
    if (touch >= 0) {
        futimens(touch, NULL); /* or not: someone else's file, a read-only disk */
        close(touch);
    }
    return err;
}

int disk_cache_get_now(struct disk_cache *cache, const struct tile *tile, struct blob **out)
{
    int touch;
    int err = get(cache, tile, false, out, &touch);
    if (touch >= 0)
        eviction_thread_touch(cache->evictor, touch);
    return err;
}

bool disk_cache_has(struct disk_cache *cache, const struct tile *tile)
{
    char name[TILE_KEY_MAX];
    struct stat status;
    tile_name(tile, name);
    return fstatat(cache->directory.fd, name, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
           S_ISREG(status.st_mode) && status.st_size > 0;
}

/* --- Writing ----------------------------------------------------------------- */

/* A tile on its way to the disk, and what the books have of it. */
struct delivery {
    struct disk_cache *cache;
    char name[TILE_KEY_MAX];
    char temporary[TEMPORARY_MAX];
    struct footprint size; /* of the tile */
    struct footprint reserved, freed;
};

static int reserve(struct delivery *delivery, struct footprint size)
{
    struct eviction_thread *evictor = delivery->cache->evictor;
    int err = quota_reserve(delivery->cache->usage, size, eviction_thread_get_limit(evictor));
    if (err == -EDQUOT)
        eviction_thread_refused(evictor, size);
    else if (!err)
        delivery->reserved = footprint_sum(delivery->reserved, size);
    return err;
}

static struct footprint footprint_smaller(struct footprint a, struct footprint b)
{
    return footprint_less(a, footprint_less(a, b));
}

static void give_back(struct delivery *delivery, struct footprint size)
{
    delivery->freed = footprint_sum(delivery->freed, size);
}

/* Our own -EDQUOT means another thing: there the disk is full. */
static int of_disk(int err)
{
    return err == -EDQUOT ? -ENOSPC : err;
}

static int write_temporary(struct delivery *delivery, const struct blob *png)
{
    struct directory *directory = &delivery->cache->directory;
    int err = tile_file_write(directory->fd, delivery->temporary, png);
    if (err == -ENOENT && directory_reopen(directory) == 0)
        err = tile_file_write(directory->fd, delivery->temporary, png);
    return err;
}

/* The folder that NAME is to be in, never through a link: what lies beyond is not ours. */
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

/* The temporary is now what stood in the tile's place. Its size nobody else gives back; but where
 * it was larger than the tile, no more than the tile's: quota_settle takes back what was reserved,
 * and a survey finds the rest. */
static void delete_replaced(struct delivery *delivery)
{
    int fd = delivery->cache->directory.fd;
    struct stat status;
    if (fstatat(fd, delivery->temporary, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
        unlinkat(fd, delivery->temporary, 0) == 0 && S_ISREG(status.st_mode))
        give_back(delivery,
                  footprint_smaller(footprint_of_file((uint64_t)status.st_size), delivery->size));
}

/* The temporary becomes FILE in the folder PARENT, or changes places with it: a plain rename
 * would not tell what it replaced. */
static int rename_to(struct delivery *delivery, int parent, const char *file)
{
    int fd = delivery->cache->directory.fd;
    struct stat status;
    if (renameat2(fd, delivery->temporary, parent, file, RENAME_NOREPLACE) == 0)
        return 0;
    if (errno == EEXIST) {
        if (fstatat(parent, file, &status, AT_SYMLINK_NOFOLLOW))
            return -errno;
        if (S_ISDIR(status.st_mode))
            return -EISDIR;
        if (renameat2(fd, delivery->temporary, parent, file, RENAME_EXCHANGE) == 0) {
            delete_replaced(delivery);
            return 0;
        }
    }
    if (errno != EINVAL)
        return -errno;
    /* A file system without the one or the other: the books say too much until a survey. */
    return renameat(fd, delivery->temporary, parent, file) ? -errno : 0;
}

static int make_folders(struct delivery *delivery)
{
    const struct footprint directory = footprint_of_directory(0, 0);
    const struct footprint all = {FOLDERS * directory.bytes, FOLDERS * directory.files};
    unsigned made = 0;
    int err = reserve(delivery, all);
    if (err)
        return err;
    err = of_disk(directory_create(delivery->cache->directory.fd, delivery->name, &made));
    give_back(delivery, footprint_less(all, (struct footprint){made * directory.bytes,
                                                               made * directory.files}));
    return err == -ENOENT ? 0 : err; /* deleted as fast as they were made: tried again */
}

/* The temporary goes to its place, whose folders are made when first needed. */
static int place(struct delivery *delivery)
{
    int err = -ENOENT;
    for (int attempt = 0; err == -ENOENT && attempt < ATTEMPTS; attempt++) {
        int parent = open_parent(delivery->cache->directory.fd, delivery->name);
        err = parent < 0 ? parent : 0;
        if (!err) {
            err = of_disk(rename_to(delivery, parent, strrchr(delivery->name, '/') + 1));
            close(parent);
        }
        if (err == -ENOENT) {
            int made = make_folders(delivery);
            if (made)
                return made;
        }
    }
    return err;
}

static int deliver(struct delivery *delivery, const struct blob *png)
{
    const struct footprint size = footprint_of_file(png->length);
    struct disk_cache *cache = delivery->cache;
    delivery->size = size;
    int err = reserve(delivery, size);
    if (err)
        return err;
    err = of_disk(write_temporary(delivery, png));
    if (err) {
        give_back(delivery, size);
    } else {
        err = place(delivery);
        /* Who else deletes it knows of it, or had no business to. */
        if (err && unlinkat(cache->directory.fd, delivery->temporary, 0) == 0)
            give_back(delivery, size);
    }
    quota_settle(cache->usage, delivery->reserved, delivery->freed);
    return err;
}

/* Something stands in this one tile's way, or someone deletes what is made for it. */
static bool is_obstacle(int err)
{
    return err == -EISDIR || err == -ENOTDIR || err == -ELOOP || err == -EXDEV || err == -EEXIST ||
           err == -ENAMETOOLONG || err == -EBUSY;
}

/* What the outcome of a put means for those to come. */
static void judge(struct disk_cache *cache, struct circuit_breaker_try begun, int err)
{
    if (err == -EDQUOT || is_obstacle(err))
        return;
    if (err == -ENOSPC)
        eviction_thread_disk_full(cache->evictor);
    if (err)
        suspend(cache, err);
    else if (circuit_breaker_succeeded(&cache->breaker, begun))
        log_line(LOG_INFO, "tiles are stored in %s again", cache->directory.path);
}

int disk_cache_put(struct disk_cache *cache, const struct tile *tile, const struct blob *png)
{
    struct delivery delivery = {.cache = cache};
    struct circuit_breaker_try begun;
    if (!circuit_breaker_allows(&cache->breaker, now_ms(), &begun))
        return -ECANCELED;
    tile_name(tile, delivery.name);
    temporary_name(cache, delivery.temporary);
    int err = deliver(&delivery, png);
    if (err == -ENOENT) /* not the disk's fault: someone deletes the folder as fast as it is made */
        err = -EBUSY;
    judge(cache, begun, err);
    if (!err)
        eviction_thread_stored(cache->evictor);
    return err;
}
