/* The disk cache: ordinary files, whole or not at all, whatever happens to them meanwhile. */
#include "server/cache/disk_cache.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <zlib.h>

#include "server/cache/quota.h"
#include "server/png/image_writer.h"
#include "tests/unit/support/tile_fixtures.h"

static char directory[FOLDER_TEXT];
static struct worlds *worlds;
static struct disk_cache *cache;
static struct tile_address tile;
static const struct footprint plenty = {UINT64_C(1) << 30, 100000};
static unsigned refused_flags; /* of renameat2, as by a file system that lacks them */

/* Replaces the C library's. */
int renameat2(int old_directory, const char *old, int new_directory, const char *new,
              unsigned flags)
{
    if (flags & refused_flags) {
        errno = EINVAL;
        return -1;
    }
    return (int)syscall(SYS_renameat2, old_directory, old, new_directory, new, flags);
}

static int open_cache(struct disk_cache **out, const char *path)
{
    return disk_cache_open(out, path, &plenty, NULL, NULL);
}

static void set_up(void)
{
    folder_new(directory);
    worlds = worlds_of(FRACTAL_WORLD);
    ck_assert_int_eq(open_cache(&cache, directory), 0);
    tile = (struct tile_address){
        worlds->world, layer_find("relief"), FORMAT_PNG, 1, 10, 512, -3, false, 0, false};
}

static void tear_down(void)
{
    disk_cache_close(cache);
    disk_cache_close(NULL);
    worlds_release(worlds);
    folder_remove(directory);
}

/* A PNG of WHICH, or of no tile. */
static struct blob *encode(const struct tile_address *which, int size, const uint8_t *pixels)
{
    struct image_writer *writer;
    struct blob *png = NULL;
    char key[TILE_KEY_MAX];
    ck_assert_int_eq(image_writer_new(&writer), 0);
    ck_assert_int_eq(image_writer_tile(&png, writer, PIXEL_RGB8, NULL, size, pixels,
                                       which ? tile_key(which, key) : NULL),
                     0);
    image_writer_free(writer);
    return png;
}

/* A PNG of WHICH, SIZE pixels square; SEED selects the picture. */
static struct blob *png_for(const struct tile_address *which, int size, unsigned seed)
{
    static const size_t channels = 3;
    uint8_t *pixels = malloc((size_t)size * (size_t)size * channels);
    for (size_t i = 0; i < (size_t)size * (size_t)size * channels; i++)
        pixels[i] = (uint8_t)((i >> 6) * seed);
    struct blob *png = encode(which, size, pixels);
    free(pixels);
    return png;
}

/* A PNG of TILE. */
static struct blob *png_of(int size, unsigned seed)
{
    return png_for(&tile, size, seed);
}

/* The longest file of a tile: random pixels. */
static struct blob *longest_png(void)
{
    enum { SIZE = 512, BYTES = SIZE * SIZE * 3 };
    uint64_t state = 20;
    uint8_t *pixels = malloc(BYTES);
    for (int i = 0; i < BYTES; i++)
        pixels[i] = (uint8_t)chance(&state);
    struct blob *png = encode(&tile, SIZE, pixels);
    free(pixels);
    return png;
}

static char *path_of(const struct tile_address *which, char path[1024])
{
    char name[TILE_PATH_MAX];
    snprintf(path, 1024, "%s/%s/%s", directory, which->world->fingerprints.tile[which->layer],
             tile_path(which, name));
    return path;
}

static int file_count;
static char stray[1024];

static int count_file(const char *path, const struct stat *status, int kind, struct FTW *place)
{
    (void)status;
    if (kind != FTW_D && kind != FTW_DP && strcmp(path + place->base, QUOTA_FILE) != 0) {
        file_count++;
        snprintf(stray, sizeof stray, "%s", path);
    }
    return 0;
}

/* The number of files below the directory, without the ledger. */
static int files(void)
{
    file_count = 0;
    nftw(directory, count_file, 16, FTW_PHYS);
    return file_count;
}

static void must_have(struct disk_cache *from, const struct tile_address *which,
                      const struct blob *png)
{
    struct blob *found = NULL;
    char name[TILE_PATH_MAX];
    int err = disk_cache_get(from, KEY_OF(which), true, &found);
    must(err == 0, "%s: %d", tile_path(which, name), err);
    must(found->references == 1, "%u references", found->references);
    must(found->length == png->length && memcmp(found->bytes, png->bytes, png->length) == 0,
         "%s: other bytes", tile_path(which, name));
    blob_release(found);
}

START_TEST(test_round_trip)
{
    struct blob *png = png_of(256, 7), *found = NULL;
    ck_assert_int_eq(disk_cache_get(cache, KEY_OF(&tile), true, &found), -ENOENT);
    ck_assert(!disk_cache_has(cache, KEY_OF(&tile)));
    ck_assert_int_eq(files(), 0);
    ck_assert_int_eq(disk_cache_put(cache, KEY_OF(&tile), png), 0);
    ck_assert(disk_cache_has(cache, KEY_OF(&tile)));
    ck_assert_uint_eq(png->references, 1);
    must_have(cache, &tile, png);
    must_have(cache, &tile, png);
    ck_assert_int_eq(files(), 1);
    blob_release(png);
}
END_TEST

START_TEST(test_longest)
{
    tile.scale = 2;
    struct blob *png = longest_png();
    ck_assert_int_eq(disk_cache_put(cache, KEY_OF(&tile), png), 0);
    must_have(cache, &tile, png);
    blob_release(png);
}
END_TEST

static const struct {
    const char *layer;
    int scale, z;
    int64_t x, y;
    const char *path;
} paths[] = {
    {"relief", 1, 10, 512, -3, "relief/10/512/-3.png"},
    {"relief", 2, 10, 512, -3, "relief/10/512/-3@2x.png"},
    {"gray", 1, 0, 0, 0, "gray/0/0/0.png"},
    {"height", 1, -26, -1, -2, "height/-26/-1/-2.png"},
    {"relief", 2, 26, INT64_MIN, INT64_MAX,
     "relief/26/-9223372036854775808/9223372036854775807@2x.png"},
};

/* Each tile has the path that is documented, and the bytes of the PNG. */
START_TEST(test_paths)
{
    struct blob *pngs[ROWS(paths)];
    for (int i = 0; i < ROWS(paths); i++) {
        tile.layer = layer_find(paths[i].layer);
        tile.scale = paths[i].scale;
        tile.z = paths[i].z;
        tile.x = paths[i].x;
        tile.y = paths[i].y;
        pngs[i] = png_of(tile_size(&tile), (unsigned)i + 1);
        ck_assert_msg(disk_cache_put(cache, KEY_OF(&tile), pngs[i]) == 0, "%s", paths[i].path);
    }
    for (int i = 0; i < ROWS(paths); i++) {
        char path[1024];
        snprintf(path, sizeof path, "%s/%s/%s", directory,
                 worlds->world->fingerprints.tile[layer_find(paths[i].layer)], paths[i].path);
        struct blob *file = file_read(path);
        ck_assert_msg(file != NULL, "%s is missing", path);
        ck_assert_uint_eq(file->length, pngs[i]->length);
        ck_assert_msg(memcmp(file->bytes, pngs[i]->bytes, file->length) == 0, "%s", path);
        blob_release(file);
        blob_release(pngs[i]);
    }
    ck_assert_int_eq(files(), ROWS(paths));
}
END_TEST

/* Worlds with different fingerprints have different files; their names do not matter. */
START_TEST(test_fingerprints)
{
    struct worlds *others = worlds_of_text("worlds: [{name: a}, {name: b, seed: 99}]");
    struct blob *png = png_of(256, 1), *found = NULL;
    ck_assert_int_eq(disk_cache_put(cache, KEY_OF(&tile), png), 0);
    tile.world = &others->world[0];
    must_have(cache, &tile, png);
    tile.world = &others->world[1];
    ck_assert_int_eq(disk_cache_get(cache, KEY_OF(&tile), true, &found), -ENOENT);
    ck_assert_ptr_null(found);
    /* Also under the other's name. */
    ck_assert_int_eq(disk_cache_put(cache, KEY_OF(&tile), png), 0);
    ck_assert(disk_cache_has(cache, KEY_OF(&tile)));
    ck_assert_int_eq(disk_cache_get(cache, KEY_OF(&tile), true, &found), -EILSEQ);
    ck_assert_ptr_null(found);
    worlds_release(others);
    blob_release(png);
}
END_TEST

/* Found in the place of a tile's file: each is a miss, and is replaced by the next put. */
enum damage {
    TORN,
    TORN_BY_ONE,
    EMPTY,
    FLIPPED,
    ZEROED,
    APPENDED,
    OTHER_SIZE,
    OTHER_TILE,
    OTHER_CONTENT,
    NO_CHECKSUM,
    GARBAGE,
    NOT_PNG,
    FIFO,
    LINK_TO_FILE,
    LINK_TO_NOWHERE,
    LINK_TO_ITSELF,
    LINK_TO_DIRECTORY,
    DAMAGES,
};

/* A file with PNG's pixels replaced by garbage, and right CRCs. Its IDAT comes after the signature
 * and IHDR. */
static void fill_with_garbage(uint8_t *bytes, const struct blob *png)
{
    enum { IDAT = 8 + 25, CRC = 4 };
    const uint32_t length = (uint32_t)bytes[IDAT] << 24 | (uint32_t)bytes[IDAT + 1] << 16 |
                            (uint32_t)bytes[IDAT + 2] << 8 | bytes[IDAT + 3];
    uint8_t *chunk = bytes + IDAT + 4;
    ck_assert_mem_eq(chunk, "IDAT", 4);
    ck_assert_uint_lt(IDAT + length, png->length);
    memset(chunk + 4, 0xa5, length);
    const uint32_t crc = htobe32((uint32_t)crc32(0, chunk, 4 + length));
    memcpy(chunk + 4 + length, &crc, CRC);
}

/* The file of OTHER. */
static void write_other(const char *path, struct blob *other)
{
    file_write(path, other->bytes, other->length);
    blob_release(other);
}

enum { END = 12 + 16 + 12 /* flKY, IEND */ };

static void damage_file(enum damage damage, const char *path, const struct blob *png)
{
    char aside[FOLDER_TEXT + 16];
    uint8_t *bytes = malloc(png->length + 1);
    struct tile_address neighbor = tile;
    struct blob *other;
    snprintf(aside, sizeof aside, "%s/aside", directory);
    memcpy(bytes, png->bytes, png->length);
    bytes[png->length] = 0;
    ck_assert_int_eq(remove(path), 0);
    switch (damage) {
    case TORN:
        file_write(path, bytes, png->length / 2);
        break;
    case TORN_BY_ONE:
        file_write(path, bytes, png->length - 1);
        break;
    case EMPTY:
        file_write(path, "", 0);
        break;
    case FLIPPED:
        bytes[png->length / 2] ^= 4;
        file_write(path, bytes, png->length);
        break;
    case ZEROED:
        memset(bytes, 0, png->length);
        file_write(path, bytes, png->length);
        break;
    case APPENDED:
        file_write(path, bytes, png->length + 1);
        break;
    case OTHER_SIZE:
        neighbor.scale = 2;
        write_other(path, png_for(&neighbor, 512, 3));
        break;
    case OTHER_TILE:
        neighbor.x++;
        write_other(path, png_for(&neighbor, 256, 1));
        break;
    case OTHER_CONTENT: /* with this tile's checksum */
        other = png_of(256, 3);
        memcpy(other->bytes + other->length - END, png->bytes + png->length - END, END);
        write_other(path, other);
        break;
    case NO_CHECKSUM: /* as of earlier versions */
        write_other(path, png_for(NULL, 256, 1));
        break;
    case GARBAGE:
        fill_with_garbage(bytes, png);
        file_write(path, bytes, png->length);
        break;
    case NOT_PNG:
        file_write(path, "<html>", 6);
        break;
    case FIFO:
        ck_assert_int_eq(mkfifo(path, 0600), 0);
        break;
    case LINK_TO_FILE:
        file_write(aside, bytes, png->length);
        ck_assert_int_eq(symlink(aside, path), 0);
        break;
    case LINK_TO_NOWHERE:
        ck_assert_int_eq(symlink("nowhere", path), 0);
        break;
    case LINK_TO_ITSELF:
        ck_assert_int_eq(symlink(path, path), 0);
        break;
    default:
        ck_assert_int_eq(symlink(directory, path), 0);
    }
    free(bytes);
}

START_TEST(test_damage)
{
    struct blob *png = png_of(256, 1), *new = png_of(256, 2), *found = NULL;
    char path[1024];
    struct stat status;
    path_of(&tile, path);
    ck_assert_int_eq(disk_cache_put(cache, KEY_OF(&tile), png), 0);
    damage_file(_i, path, png);
    int err = disk_cache_get(cache, KEY_OF(&tile), true, &found);
    ck_assert_msg(err < 0, "damage %d: %d", _i, err);
    ck_assert_ptr_null(found);
    if (_i < FIFO)
        ck_assert_msg(err == -EILSEQ, "damage %d: %d", _i, err);
    ck_assert_int_eq(disk_cache_put(cache, KEY_OF(&tile), new), 0);
    must_have(cache, &tile, new);
    ck_assert_int_eq(lstat(path, &status), 0);
    ck_assert(S_ISREG(status.st_mode));
    /* The target of a link is unchanged. */
    ck_assert_msg(files() == (_i == LINK_TO_FILE ? 2 : 1), "damage %d left %s", _i, stray);
    blob_release(png);
    blob_release(new);
}
END_TEST

/* File systems that cannot exchange two files, or cannot rename without replacing. */
static const unsigned lacking[] = {RENAME_EXCHANGE, RENAME_NOREPLACE | RENAME_EXCHANGE};

START_TEST(test_simple_file_systems)
{
    struct blob *old = png_of(256, 1), *new = png_of(256, 2);
    refused_flags = lacking[_i];
    ck_assert_int_eq(disk_cache_put(cache, KEY_OF(&tile), old), 0);
    must_have(cache, &tile, old);
    ck_assert_int_eq(disk_cache_put(cache, KEY_OF(&tile), new), 0);
    must_have(cache, &tile, new);
    ck_assert(!disk_cache_suspended(cache));
    ck_assert_int_eq(files(), 1);
    refused_flags = 0;
    blob_release(old);
    blob_release(new);
}
END_TEST

/* A directory in the tile's place: a miss. A put must not delete it if it is not empty. */
START_TEST(test_directory_in_place)
{
    struct blob *png = png_of(256, 1), *found = NULL;
    char path[1024], inside[1040];
    path_of(&tile, path);
    ck_assert_int_eq(disk_cache_put(cache, KEY_OF(&tile), png), 0);
    remove(path);
    ck_assert_int_eq(mkdir(path, 0700), 0);
    ck_assert_int_lt(disk_cache_get(cache, KEY_OF(&tile), true, &found), 0);
    snprintf(inside, sizeof inside, "%s/file", path);
    file_write(inside, "x", 1);
    ck_assert_int_lt(disk_cache_get(cache, KEY_OF(&tile), true, &found), 0);
    ck_assert_int_lt(disk_cache_put(cache, KEY_OF(&tile), png), 0);
    ck_assert_msg(files() == 1, "a put left %s", stray);
    remove(inside);
    if (disk_cache_put(cache, KEY_OF(&tile), png) == 0)
        must_have(cache, &tile, png);
    ck_assert_int_le(files(), 1);
    blob_release(png);
}
END_TEST

/* A file in the place of one of the tile's directories. */
START_TEST(test_file_in_place)
{
    struct blob *png = png_of(256, 1), *found = NULL;
    char path[1024];
    path_of(&tile, path);
    ck_assert_int_eq(disk_cache_put(cache, KEY_OF(&tile), png), 0);
    remove(path);
    *strrchr(path, '/') = 0;
    ck_assert_int_eq(remove(path), 0);
    file_write(path, "x", 1);
    ck_assert_int_lt(disk_cache_get(cache, KEY_OF(&tile), true, &found), 0);
    if (disk_cache_put(cache, KEY_OF(&tile), png) == 0)
        must_have(cache, &tile, png);
    ck_assert_msg(files() == 1, "a put left %s", stray);
    blob_release(png);
}
END_TEST

/* Deleting any part of the cache, or all of it, is harmless. */
START_TEST(test_deleted)
{
    struct blob *png = png_of(256, 1), *found = NULL;
    char path[1024];
    /* The tile, its directory, and so on, up to the cache's own. */
    for (path_of(&tile, path); strlen(path) >= strlen(directory); *strrchr(path, '/') = 0) {
        int err = disk_cache_put(cache, KEY_OF(&tile), png);
        ck_assert_msg(err == 0, "%s: %d", path, err);
        must_have(cache, &tile, png);
        folder_remove(path);
        ck_assert_int_lt(disk_cache_get(cache, KEY_OF(&tile), true, &found), 0);
    }
    /* A put that returns 0 has stored the tile. */
    if (disk_cache_put(cache, KEY_OF(&tile), png) == 0)
        must_have(cache, &tile, png);
    else
        ck_assert_int_lt(disk_cache_get(cache, KEY_OF(&tile), true, &found), 0);
    blob_release(png);
}
END_TEST

START_TEST(test_two_caches)
{
    struct disk_cache *other;
    struct blob *png = png_of(256, 1), *new = png_of(256, 2);
    ck_assert_int_eq(open_cache(&other, directory), 0);
    ck_assert_int_eq(disk_cache_put(cache, KEY_OF(&tile), png), 0);
    must_have(other, &tile, png);
    ck_assert_int_eq(disk_cache_put(other, KEY_OF(&tile), new), 0);
    must_have(cache, &tile, new);
    disk_cache_close(other);
    must_have(cache, &tile, new);
    ck_assert_int_eq(files(), 1);
    blob_release(png);
    blob_release(new);
}
END_TEST

/* A new cache reads the files of the last one. */
START_TEST(test_reopened)
{
    struct blob *png = png_of(256, 1);
    ck_assert_int_eq(disk_cache_put(cache, KEY_OF(&tile), png), 0);
    disk_cache_close(cache);
    ck_assert_int_eq(open_cache(&cache, directory), 0);
    must_have(cache, &tile, png);
    blob_release(png);
}
END_TEST

START_TEST(test_open)
{
    char path[FOLDER_TEXT + 64];
    struct disk_cache *other;
    struct stat status;
    /* Created if missing, with its parents. */
    snprintf(path, sizeof path, "%s/a/b/c", directory);
    ck_assert_int_eq(open_cache(&other, path), 0);
    ck_assert_int_eq(stat(path, &status), 0);
    ck_assert(S_ISDIR(status.st_mode));
    disk_cache_close(other);
    ck_assert_int_eq(files(), 0);
    /* With a slash at the end. */
    snprintf(path, sizeof path, "%s/d/", directory);
    ck_assert_int_eq(open_cache(&other, path), 0);
    disk_cache_close(other);
    /* Below a file. */
    snprintf(path, sizeof path, "%s/file", directory);
    file_write(path, "x", 1);
    ck_assert_int_lt(open_cache(&other, path), 0);
    strcat(path, "/cache");
    ck_assert_int_eq(open_cache(&other, path), -ENOTDIR);
    /* Not even root can make files there. */
    ck_assert_int_lt(open_cache(&other, "/proc/farlands"), 0);
    ck_assert_int_lt(open_cache(&other, "/proc"), 0);
    ck_assert_int_lt(open_cache(&other, ""), 0);
    ck_assert_int_eq(files(), 1);
    if (geteuid() != 0) {
        snprintf(path, sizeof path, "%s/d", directory);
        chmod(path, 0500);
        ck_assert_int_eq(open_cache(&other, path), -EACCES);
        chmod(path, 0700);
    }
}
END_TEST

/* The disk is full in the middle of a file: an error, and no file is left. */
START_TEST(test_disk_full)
{
    struct blob *png = png_of(256, 1), *old = png_of(256, 2), *found = NULL;
    struct rlimit limit, small;
    ck_assert_uint_gt(png->length, 1000);
    ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &limit), 0);
    signal(SIGXFSZ, SIG_IGN);
    for (int with_old = 0; with_old < 2; with_old++) {
        if (with_old)
            ck_assert_int_eq(disk_cache_put(cache, KEY_OF(&tile), old), 0);
        for (size_t room = 0; room < png->length; room += png->length / 3 + 1) {
            /* Only around the put, as Check itself writes files. */
            small = (struct rlimit){room, limit.rlim_max};
            setrlimit(RLIMIT_FSIZE, &small);
            int err = disk_cache_put(cache, KEY_OF(&tile), png);
            setrlimit(RLIMIT_FSIZE, &limit);
            ck_assert_msg(err < 0 && err != -ECANCELED, "%zu bytes of room: %d", room, err);
            ck_assert(disk_cache_suspended(cache));
            ck_assert_int_eq(disk_cache_put(cache, KEY_OF(&tile), png), -ECANCELED);
            disk_cache_close(cache); /* the next one tries at once */
            ck_assert_int_eq(open_cache(&cache, directory), 0);
            ck_assert_msg(files() == with_old, "%zu bytes of room left %s", room, stray);
            if (with_old)
                must_have(cache, &tile, old);
            else
                ck_assert_int_eq(disk_cache_get(cache, KEY_OF(&tile), true, &found), -ENOENT);
        }
    }
    ck_assert_int_eq(disk_cache_put(cache, KEY_OF(&tile), png), 0);
    must_have(cache, &tile, png);
    blob_release(png);
    blob_release(old);
}
END_TEST

/* No file descriptors left: errors, no crash, and it works afterwards. */
START_TEST(test_no_descriptors)
{
    struct blob *png = png_of(256, 1), *found = NULL;
    struct rlimit limit, small;
    ck_assert_int_eq(disk_cache_put(cache, KEY_OF(&tile), png), 0);
    ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
    small = (struct rlimit){0, limit.rlim_max};
    setrlimit(RLIMIT_NOFILE, &small);
    int get_err = disk_cache_get(cache, KEY_OF(&tile), true, &found);
    int put_err = disk_cache_put(cache, KEY_OF(&tile), png);
    setrlimit(RLIMIT_NOFILE, &limit);
    ck_assert_int_eq(get_err, -EMFILE);
    ck_assert_int_eq(put_err, -EMFILE);
    must_have(cache, &tile, png);
    ck_assert_int_eq(files(), 1);
    ck_assert(disk_cache_suspended(cache));
    blob_release(png);
}
END_TEST

static int open_descriptors(void)
{
    int count = 0;
    for (int fd = 0; fd < 256; fd++)
        count += fcntl(fd, F_GETFD) >= 0;
    return count;
}

/* No hit, miss or error leaves a file open. */
START_TEST(test_descriptors)
{
    struct blob *png = png_of(256, 1), *found = NULL;
    char path[1024];
    path_of(&tile, path);
    int before = open_descriptors();
    for (int i = 0; i < 20; i++) {
        disk_cache_get(cache, KEY_OF(&tile), true, &found);
        ck_assert_int_eq(disk_cache_put(cache, KEY_OF(&tile), png), 0);
        must_have(cache, &tile, png);
        file_write(path, "torn", 4);
        ck_assert_int_eq(disk_cache_get(cache, KEY_OF(&tile), true, &found), -EILSEQ);
        remove(path);
    }
    ck_assert_int_eq(open_descriptors(), before);
    blob_release(png);
}
END_TEST

enum { THREADS = 4, TILES = 3, LAPS = 100 };

static struct blob *versions[THREADS][LAPS / 10][TILES];
static atomic_int faults;

static void *put_and_get(void *context)
{
    int self = (int)(intptr_t)context;
    uint64_t state = 16 + (uint64_t)self;
    for (int lap = 0; lap < LAPS; lap++) {
        struct tile_address mine = tile;
        struct blob *found = NULL;
        const int x = chance_below(&state, TILES);
        const int y = lap / 10; /* new directories again and again, for all threads at once */
        mine.x = x;
        mine.y = y;
        if (disk_cache_put(cache, KEY_OF(&mine), versions[self][y][x]) != 0) {
            atomic_fetch_add(&faults, 1);
            continue;
        }
        /* Once stored it stays, always as the version of one of the threads. */
        if (disk_cache_get(cache, KEY_OF(&mine), true, &found) != 0) {
            atomic_fetch_add(&faults, 1);
            continue;
        }
        bool known = false;
        for (int i = 0; i < THREADS; i++)
            known |= found->length == versions[i][y][x]->length &&
                     memcmp(found->bytes, versions[i][y][x]->bytes, found->length) == 0;
        atomic_fetch_add(&faults, !known);
        blob_release(found);
    }
    return NULL;
}

START_TEST(test_threads)
{
    pthread_t threads[THREADS];
    struct tile_address which = tile;
    for (unsigned i = 0; i < THREADS * ROWS(*versions) * TILES; i++) {
        which.x = i % TILES;
        which.y = i / TILES % ROWS(*versions);
        versions[i / TILES / ROWS(*versions)][which.y][which.x] =
            png_for(&which, 256, i / TILES / ROWS(*versions) + 1);
    }
    for (intptr_t i = 0; i < THREADS; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, put_and_get, (void *)i), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    ck_assert_int_eq(atomic_load(&faults), 0);
    ck_assert_int_le(files(), TILES * LAPS / 10);
    for (int i = 0; i < THREADS * ROWS(*versions) * TILES; i++)
        blob_release((&versions[0][0][0])[i]);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("disk_cache");
    TCase *tcase = suite_case(suite, "files");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, test_round_trip);
    tcase_add_test(tcase, test_longest);
    tcase_add_test(tcase, test_paths);
    tcase_add_test(tcase, test_fingerprints);
    tcase_add_loop_test(tcase, test_damage, 0, DAMAGES);
    tcase_add_loop_test(tcase, test_simple_file_systems, 0, ROWS(lacking));
    tcase_add_test(tcase, test_directory_in_place);
    tcase_add_test(tcase, test_file_in_place);
    tcase_add_test(tcase, test_deleted);
    tcase_add_test(tcase, test_two_caches);
    tcase_add_test(tcase, test_reopened);
    tcase_add_test(tcase, test_open);
    tcase_add_test(tcase, test_disk_full);
    tcase_add_test(tcase, test_no_descriptors);
    tcase_add_test(tcase, test_descriptors);
    tcase_add_test(tcase, test_threads);
    return suite_run(suite);
}
