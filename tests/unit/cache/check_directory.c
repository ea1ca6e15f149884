/* The cache's directory: created when missing, replaced under the same descriptor when deleted. */
#include "server/cache/directory.h"

#include <errno.h>

#include "tests/unit/support/fixtures.h"

static char root[FOLDER_TEXT];
static struct directory directory;

static void set_up(void)
{
    folder_new(root);
}

static void tear_down(void)
{
    folder_remove(root);
}

static char *below(const char *name, char path[FOLDER_TEXT + 64])
{
    snprintf(path, FOLDER_TEXT + 64, "%s%s", root, name);
    return path;
}

static bool is_directory(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

static const struct {
    const char *name;
    int err;
} opened[] = {
    {"", 0},
    {"/", 0},
    {"/a", 0},
    {"/a/b/c", 0},
    {"/a//b/", 0},
    {"/file", -ENOTDIR},
    {"/file/a", -ENOTDIR},
    {"/nowhere/a", -ENOENT}, /* a dangling link */
};

START_TEST(test_open)
{
    char path[FOLDER_TEXT + 64];
    file_write(below("/file", path), "x", 1);
    ck_assert_int_eq(symlink("missing", below("/nowhere", path)), 0);
    for (int i = 0; i < ROWS(opened); i++) {
        int err = directory_open(&directory, below(opened[i].name, path));
        ck_assert_msg(err == opened[i].err, "%s: %d", opened[i].name, err);
        if (err)
            continue;
        ck_assert_msg(is_directory(path), "%s", opened[i].name);
        ck_assert_int_eq(faccessat(directory.fd, ".", R_OK, 0), 0);
        directory_close(&directory);
    }
}
END_TEST

/* The descriptor keeps its number, and files made by it are in the new directory. */
START_TEST(test_reopen)
{
    char path[FOLDER_TEXT + 64];
    ck_assert_int_eq(directory_open(&directory, below("/a/b", path)), 0);
    const int fd = directory.fd;
    folder_remove(below("/a", path));
    ck_assert_int_eq(mkdirat(directory.fd, "x", 0777), -1);
    ck_assert_int_eq(directory_reopen(&directory), 0);
    ck_assert_int_eq(directory.fd, fd);
    ck_assert(fcntl(fd, F_GETFD) & FD_CLOEXEC);
    ck_assert_int_eq(mkdirat(directory.fd, "x", 0777), 0);
    ck_assert(is_directory(below("/a/b/x", path)));
    /* If it cannot be made, the old one stays. */
    folder_remove(below("/a", path));
    file_write(path, "x", 1);
    ck_assert_int_eq(directory_reopen(&directory), -ENOTDIR);
    ck_assert_int_eq(fcntl(fd, F_GETFD) >= 0, 1);
    directory_close(&directory);
}
END_TEST

static const struct {
    const char *name;
    int err;
    unsigned made;
    const char *last; /* directory that exists afterwards */
} created[] = {
    {"tile", 0, 0, ""},
    {"a/tile", 0, 1, "/a"},
    {"a/tile", 0, 0, "/a"},
    {"a/b/c/tile", 0, 2, "/a/b/c"},
    {"file/tile", 0, 0, ""}, /* is found when the tile is made */
    {"file/b/tile", -ENOTDIR, 0, ""},
    {"d/e/", 0, 2, "/d/e"},
};

START_TEST(test_create)
{
    char path[FOLDER_TEXT + 64], name[32];
    file_write(below("/file", path), "x", 1);
    ck_assert_int_eq(directory_open(&directory, root), 0);
    for (int i = 0; i < ROWS(created); i++) {
        unsigned made = 10;
        snprintf(name, sizeof name, "%s", created[i].name);
        int err = directory_create(directory.fd, name, &made);
        ck_assert_msg(err == created[i].err && made == 10 + created[i].made, "row %d: %d, %u", i,
                      err, made);
        ck_assert_str_eq(name, created[i].name);
        ck_assert_msg(is_directory(below(created[i].last, path)), "row %d", i);
    }
    directory_close(&directory);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("directory");
    TCase *tcase = suite_case(suite, "directory");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, test_open);
    tcase_add_test(tcase, test_reopen);
    tcase_add_test(tcase, test_create);
    return suite_run(suite);
}
