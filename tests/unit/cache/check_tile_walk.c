/* The walk: which files and directories are the cache's, their numbers, and when it ends. */
#include "server/cache/tile_walk.h"

#include <errno.h>

#include "tests/unit/support/fixtures.h"

static const struct {
    const char *path; /* a slash at the end: a directory */
    int tiles, directories, temporaries;
} entries[] = {
    {"0123456789abcdef/relief/1/2/3.png", 1, 4, 0},
    {"0123456789abcdef/field.a-b_2/1/2/3.png", 1, 4, 0},
    {"0123456789abcdef/field/1/2/3.png", 0, 1, 0},
    {"0123456789abcdef/relief/-1/-2/-3@2x.png", 1, 4, 0},
    {"0123456789abcdef/relief/-1/-2/-3+border.png", 1, 4, 0},
    {"0123456789abcdef/relief/-1/-2/-3@2x+border.webp", 1, 4, 0},
    {"0123456789abcdef/relief/1/2/3.f32", 0, 4, 0},
    {"0123456789abcdef/relief/1/2/3webp", 0, 4, 0},
    {"0123456789abcdef/relief/1/2/3", 0, 4, 0},
    {"0123456789abcdef/relief/-1/-2/-3@2x+border.png", 1, 4, 0},
    {"0123456789abcdef/relief/-1/-2/-3+border@2x.png", 0, 4, 0},
    {"0123456789abcdef/relief/-1/-2/-3+border+border.png", 0, 4, 0},
    {"0123456789abcdef/gray/64/0/9223372036854775807.png", 1, 4, 0},
    {"0123456789abcdef/relief/1/2/", 0, 4, 0},
    {"0123456789abcdef/", 0, 1, 0},
    {".new-0123456789abcdef-1", 0, 0, 1},
    {".new-", 0, 0, 1},
    {".new-1/", 0, 0, 0},
    {".usage", 0, 0, 0},
    {"0123456789abcde/relief/1/2/3.png", 0, 0, 0},
    {"0123456789abcdeF/relief/1/2/3.png", 0, 0, 0},
    {"0123456789abcdef/other/1/2/3.png", 0, 1, 0},
    {"0123456789abcdef/relief/65/2/3.png", 0, 2, 0},
    {"0123456789abcdef/relief/01/2/3.png", 0, 2, 0},
    {"0123456789abcdef/relief/-0/2/3.png", 0, 2, 0},
    {"0123456789abcdef/relief/1/9223372036854775808/3.png", 0, 3, 0},
    {"0123456789abcdef/relief/1/2/3.png/", 0, 4, 0},
    {"0123456789abcdef/relief/1/2/3.jpg", 0, 4, 0},
    {"0123456789abcdef/relief/1/2/3@3x.png", 0, 4, 0},
    {"0123456789abcdef/relief/1/2/.new-1", 0, 4, 0},
};

static char root[FOLDER_TEXT];
static int fd;

static struct {
    int entries_left; /* until go_on returns false */
    bool delete_tiles;
    int tiles, directories, temporaries, fingerprints;
    uint64_t entries, left; /* of the directory left last */
} seen;

static bool go_on(void *context)
{
    (void)context;
    return seen.entries_left-- > 0;
}

static void on_temporary(void *context, int directory, const char *name, const struct stat *status)
{
    (void)context, (void)name;
    ck_assert_int_eq(faccessat(directory, name, F_OK, 0), 0);
    ck_assert_int_eq(status->st_size, 4);
    seen.temporaries++;
}

static void on_fingerprint(void *context, const char *fingerprint)
{
    (void)context;
    ck_assert_str_eq(fingerprint, "0123456789abcdef");
    seen.fingerprints++;
}

static bool on_tile(void *context, const struct walk_directory *directory, const char *name,
                    const struct stat *status)
{
    (void)context;
    ck_assert_int_eq(status->st_size, 4);
    seen.tiles++;
    return seen.delete_tiles && unlinkat(directory->fd, name, 0) == 0;
}

static bool on_leave(void *context, const struct walk_directory *directory)
{
    (void)context;
    seen.directories++;
    seen.entries = directory->entries;
    seen.left = directory->left;
    return seen.delete_tiles && directory->left == 0 &&
           unlinkat(directory->parent, directory->name, AT_REMOVEDIR) == 0;
}

static const struct walk everything = {go_on,   on_temporary, on_fingerprint,
                                       on_tile, on_leave,     NULL};

static int walk(const struct walk *callbacks)
{
    const bool delete_tiles = seen.delete_tiles;
    const int entries_left = seen.entries_left;
    memset(&seen, 0, sizeof seen);
    seen.delete_tiles = delete_tiles;
    seen.entries_left = entries_left ? entries_left : 1000;
    return tile_walk(fd, callbacks);
}

static void set_up(void)
{
    folder_new(root);
    fd = open(root, O_RDONLY | O_DIRECTORY);
}

static void tear_down(void)
{
    close(fd);
    folder_remove(root);
}

static void make(const char *entry)
{
    char path[FOLDER_TEXT + 128];
    int length = snprintf(path, sizeof path, "%s/%s", root, entry);
    for (char *slash = path + strlen(root) + 1; (slash = strchr(slash, '/')); *slash++ = '/') {
        *slash = '\0';
        mkdir(path, 0777);
    }
    if (path[length - 1] != '/')
        file_write(path, "tile", 4);
}

START_TEST(test_names)
{
    make(entries[_i].path);
    ck_assert_int_eq(walk(&everything), 0);
    ck_assert_msg(seen.tiles == entries[_i].tiles && seen.directories == entries[_i].directories &&
                      seen.temporaries == entries[_i].temporaries,
                  "%s: %d, %d, %d", entries[_i].path, seen.tiles, seen.directories,
                  seen.temporaries);
}
END_TEST

/* Links are neither tiles nor followed; an entry is counted only if it is the cache's. */
START_TEST(test_entries)
{
    make("0123456789abcdef/relief/1/2/3.png");
    make("0123456789abcdef/relief/1/2/4.png");
    make("0123456789abcdef/relief/1/2/note");
    ck_assert_int_eq(symlinkat("3.png", fd, "0123456789abcdef/relief/1/2/5.png"), 0);
    ck_assert_int_eq(symlinkat("2", fd, "0123456789abcdef/relief/1/6"), 0);
    ck_assert_int_eq(walk(&everything), 0);
    ck_assert_int_eq(seen.tiles, 2);
    ck_assert_int_eq(seen.directories, 4);
    ck_assert_int_eq(seen.fingerprints, 1);
}
END_TEST

/* A deleted entry is not left in its directory, up to the top. */
START_TEST(test_deletions)
{
    seen.delete_tiles = true;
    make("0123456789abcdef/relief/1/2/3.png");
    make("0123456789abcdef/relief/1/2/4.png");
    ck_assert_int_eq(walk(&everything), 0);
    ck_assert_uint_eq(seen.entries, 1); /* of the fingerprint's directory */
    ck_assert_uint_eq(seen.left, 0);
    ck_assert_int_ne(faccessat(fd, "0123456789abcdef", F_OK, 0), 0);
}
END_TEST

START_TEST(test_cancelled)
{
    make("0123456789abcdef/relief/1/2/3.png");
    for (int steps = 1; steps < 12; steps++) {
        seen.entries_left = steps;
        int err = walk(&everything);
        ck_assert_msg(err == 0 || err == -ECANCELED, "%d steps: %d", steps, err);
        ck_assert_int_ge(seen.entries_left, -1); /* not called again */
    }
    seen.entries_left = 1;
    ck_assert_int_eq(walk(&everything), -ECANCELED);
}
END_TEST

/* Without the callback for fingerprints the walk stays at the top. */
START_TEST(test_top_only)
{
    const struct walk top = {.go_on = go_on, .temporary = on_temporary};
    make("0123456789abcdef/relief/1/2/3.png");
    make(".new-1");
    ck_assert_int_eq(walk(&top), 0);
    ck_assert_int_eq(seen.temporaries, 1);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("tile_walk");
    TCase *tcase = suite_case(suite, "tile_walk");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_loop_test(tcase, test_names, 0, ROWS(entries));
    tcase_add_test(tcase, test_entries);
    tcase_add_test(tcase, test_deletions);
    tcase_add_test(tcase, test_cancelled);
    tcase_add_test(tcase, test_top_only);
    return suite_run(suite);
}
