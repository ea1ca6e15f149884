#include "file_system.h"

#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>
#include <uv.h>

#include "server/cache/disk_cache.h"
#include "server/core/clock.h"

enum { DESCRIPTORS = 16, NAME_MAX_BYTES = 32 };

struct trial_store {
    struct disk_cache *cache;
    char path[DISK_CACHE_PATH_MAX + NAME_MAX_BYTES];
};

/* Set OUT to DIRECTORY or its nearest existing parent. */
static void find_existing(const char *directory, char out[DISK_CACHE_PATH_MAX])
{
    struct stat status;
    snprintf(out, DISK_CACHE_PATH_MAX, "%s", directory);
    while (stat(out, &status) && errno == ENOENT) {
        char *slash = strrchr(out, '/');
        if (!slash || slash == out) {
            snprintf(out, DISK_CACHE_PATH_MAX, "%s", slash ? "/" : ".");
            return;
        }
        *slash = '\0';
    }
}

int file_system_space(const char *directory, struct footprint *out)
{
    char path[DISK_CACHE_PATH_MAX];
    struct statvfs status;
    find_existing(directory, path);
    if (statvfs(path, &status))
        return -errno;
    *out = (struct footprint){(uint64_t)status.f_bavail * status.f_frsize,
                              status.f_files ? status.f_favail : UINT64_MAX};
    return 0;
}

static int delete_entry(const char *path, const struct stat *status, int kind, struct FTW *place)
{
    (void)status, (void)kind, (void)place;
    return remove(path);
}

int trial_store_new(struct trial_store **out, const char *directory)
{
    const struct footprint unlimited = {UINT64_MAX / 128, UINT64_MAX / 128};
    char parent[DISK_CACHE_PATH_MAX];
    struct trial_store *store = calloc(1, sizeof *store);
    if (!store)
        return -ENOMEM;
    find_existing(directory, parent);
    snprintf(store->path, sizeof store->path, "%s/.farlands-trial-XXXXXX", parent);
    if (!mkdtemp(store->path)) {
        int err = -errno;
        free(store);
        return err;
    }
    int err = disk_cache_open(&store->cache, store->path, &unlimited, NULL, NULL);
    if (err) {
        trial_store_free(store);
        return err;
    }
    *out = store;
    return 0;
}

void trial_store_free(struct trial_store *store)
{
    if (!store)
        return;
    disk_cache_close(store->cache);
    nftw(store->path, delete_entry, DESCRIPTORS, FTW_DEPTH | FTW_PHYS);
    free(store);
}

int trial_store_put(struct trial_store *store, const char *key, const struct blob *png,
                    uint64_t *ns)
{
    char path[sizeof store->path + TILE_KEY_MAX];
    snprintf(path, sizeof path, "%s/%s", store->path, key);
    /* Only the first put makes directories; the second one's time counts. */
    for (int i = 0; i < 2; i++) {
        const uint64_t start = clock_ns(NULL);
        int err = disk_cache_put(store->cache, key, png);
        if (err)
            return err;
        *ns = clock_ns(NULL) - start;
        unlink(path);
    }
    return 0;
}
