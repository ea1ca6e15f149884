/* A tile's file: read and verified as a whole, written as a whole or not at all. Damaged files are
 * check_disk_cache's. */
#include "server/cache/tile_file.h"

#include <errno.h>
#include <signal.h>
#include <sys/resource.h>
#include <time.h>

#include "server/png/image_writer.h"
#include "tests/unit/support/fixtures.h"

enum { SIZE = 256 };
#define KEY "0123456789abcdef/gray/1/2/3.png"

static char root[FOLDER_TEXT];
static int fd;
static struct blob *png;
static struct tile_reader reader;

static void set_up(void)
{
    static const uint8_t black[SIZE * SIZE * 3];
    struct image_writer *writer;
    folder_new(root);
    fd = open(root, O_RDONLY | O_DIRECTORY);
    for (const char *slash = KEY; (slash = strchr(slash + 1, '/'));) {
        char parent[sizeof KEY];
        snprintf(parent, sizeof parent, "%.*s", (int)(slash - KEY), KEY);
        ck_assert_int_eq(mkdirat(fd, parent, 0777), 0);
    }
    ck_assert_int_eq(image_writer_new(&writer), 0);
    ck_assert_int_eq(image_writer_tile(&png, writer, PIXEL_RGB8, NULL, SIZE, black, KEY), 0);
    image_writer_free(writer);
}

static void tear_down(void)
{
    blob_release(png);
    close(fd);
    folder_remove(root);
}

static const struct {
    const char *what;
    const char *name;
    size_t length; /* 0: the tile's */
    long age;      /* s */
    int err;
    bool stale;
} reads[] = {
    {"a fresh tile", KEY, 0, 0, 0, false},
    {"used ten minutes ago", KEY, 0, 590, 0, false},
    {"used longer ago", KEY, 0, 620, 0, true},
    {"from the future", KEY, 0, -620, 0, true},
    {"under another name", "0123456789abcdef/gray/1/2/4.png", 0, 0, -EILSEQ, false},
    {"stale and under another name", "4.png", 0, 10000, -EILSEQ, false},
    {"one byte", KEY, 1, 0, -EILSEQ, false},
    {"longer than any tile", KEY, (1 << 20) + 1, 0, -EILSEQ, false},
};

static void write_aged(const char *name, size_t length, long age)
{
    struct timespec times[2];
    unlinkat(fd, name, 0);
    ck_assert_int_eq(tile_file_write(fd, name, png), 0);
    int file = openat(fd, name, O_WRONLY);
    if (length)
        ck_assert_int_eq(ftruncate(file, (off_t)length), 0);
    clock_gettime(CLOCK_REALTIME, &times[0]);
    times[0].tv_sec -= age;
    times[1] = times[0];
    ck_assert_int_eq(futimens(file, times), 0);
    close(file);
}

/* With and without waiting; a file just written is in memory. */
START_TEST(test_read)
{
    for (int i = 0; i < ROWS(reads); i++) {
        struct blob *found = NULL;
        int touch;
        write_aged(reads[i].name, reads[i].length, reads[i].age);
        int err = tile_file_read(&found, &reader, fd, reads[i].name, _i, &touch);
        if (err == -EAGAIN && !_i)
            continue; /* this file system cannot */
        ck_assert_msg(err == reads[i].err, "%s: %d", reads[i].what, err);
        ck_assert_msg((touch >= 0) == reads[i].stale, "%s: %d", reads[i].what, touch);
        if (touch >= 0)
            close(touch);
        if (err)
            continue;
        ck_assert_uint_eq(found->length, png->length);
        ck_assert_mem_eq(found->bytes, png->bytes, png->length);
        ck_assert_uint_eq(found->references, 1);
        blob_release(found);
    }
}
END_TEST

START_TEST(test_missing)
{
    struct blob *found = NULL;
    int touch;
    ck_assert_int_eq(tile_file_read(&found, &reader, fd, "tile", true, &touch), -ENOENT);
    ck_assert_int_eq(touch, -1);
    ck_assert_int_eq(mkdirat(fd, "tile", 0777), 0);
    ck_assert_int_eq(tile_file_read(&found, &reader, fd, "tile", true, &touch), -EILSEQ);
    ck_assert_int_eq(touch, -1);
    ck_assert_ptr_null(found);
}
END_TEST

/* An existing file stays; a file that could not be written to its end does not. */
START_TEST(test_write)
{
    struct rlimit limit, small;
    struct stat status;
    ck_assert_int_eq(tile_file_write(fd, "tile", png), 0);
    ck_assert_int_eq(tile_file_write(fd, "tile", png), -EEXIST);
    ck_assert_int_eq(fstatat(fd, "tile", &status, 0), 0);
    ck_assert_int_eq(status.st_size, (off_t)png->length);
    ck_assert_int_eq(tile_file_write(fd, "missing/tile", png), -ENOENT);
    ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &limit), 0);
    signal(SIGXFSZ, SIG_IGN);
    small = (struct rlimit){png->length / 2, limit.rlim_max};
    setrlimit(RLIMIT_FSIZE, &small);
    int err = tile_file_write(fd, "other", png);
    setrlimit(RLIMIT_FSIZE, &limit);
    ck_assert_int_eq(err, -EFBIG);
    ck_assert_int_ne(faccessat(fd, "other", F_OK, 0), 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("tile_file");
    TCase *tcase = suite_case(suite, "tile_file");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_loop_test(tcase, test_read, 0, 2);
    tcase_add_test(tcase, test_missing);
    tcase_add_test(tcase, test_write);
    return suite_run(suite);
}
