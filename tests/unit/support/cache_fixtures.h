/* Shared by the tests of the disk cache: the true size of a directory, and tiles by number. */
#ifndef FARLANDS_CACHE_FIXTURES_H
#define FARLANDS_CACHE_FIXTURES_H

#include <dirent.h>
#include <time.h>

#include "server/cache/disk_cache.h"
#include "server/cache/quota.h"
#include "tests/unit/support/tile_fixtures.h"

/* The usage of the directory PATH as du counts it, itself included. Files that vanish meanwhile are
 * not counted. */
static inline struct footprint directory_usage(const char *path)
{
    struct footprint sum = {0};
    struct stat status;
    if (lstat(path, &status))
        return sum;
    sum = (struct footprint){(uint64_t)status.st_blocks * 512, 1};
    DIR *directory = S_ISDIR(status.st_mode) ? opendir(path) : NULL;
    for (struct dirent *entry; directory && (entry = readdir(directory));)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0) {
            char *below = NULL;
            must(asprintf(&below, "%s/%s", path, entry->d_name) > 0, "no memory");
            sum = footprint_sum(sum, directory_usage(below));
            free(below);
        }
    if (directory)
        closedir(directory);
    return sum;
}

/* A tile like TILE at the place NUMBER: eight per column, 64 columns per zoom. */
static inline struct tile_address tile_number(const struct tile_address *tile, int number)
{
    struct tile_address other = *tile;
    other.y = number % 8;
    other.x = number / 8 % 64;
    other.z = number / 512 % 20;
    return other;
}

/* The path of its file, "{directory}/{fingerprint}/{layer}/..." */
static inline char *tile_file(const char *directory, const struct tile_address *tile,
                              char path[1024])
{
    char name[TILE_PATH_MAX];
    snprintf(path, 1024, "%s/%s/%s", directory, tile->world->fingerprints.tile[tile->layer],
             tile_path(tile, name));
    return path;
}

/* Set the file's times to SECONDS ago. */
static inline void file_age(const char *path, long seconds)
{
    struct timespec times[2];
    clock_gettime(CLOCK_REALTIME, &times[0]);
    times[0].tv_sec -= seconds;
    times[1] = times[0];
    ck_assert_msg(utimensat(AT_FDCWD, path, times, 0) == 0, "%s", path);
}

static inline void pause_ms(long ms)
{
    const struct timespec time = {ms / 1000, ms % 1000 * 1000000};
    nanosleep(&time, NULL);
}

/* True if CONDITION becomes true within ten seconds (a minute under sanitizers). */
#define soon(condition)                        \
    __extension__({                            \
        int turns = 0;                         \
        while (!(condition) && turns++ < 2000) \
            pause_ms(5);                       \
        turns <= 2000;                         \
    })

#endif
