/* The memory that this process may use: control groups of both versions, in a directory that stands
 * for the machine. */
#include "server/core/machine_memory.h"

#include <fcntl.h>
#include <inttypes.h>
#include <sys/stat.h>
#include <uv.h>

#include "tests/unit/support/fixtures.h"

enum { FILES_MAX = 4 };

static const struct {
    const char *groups; /* /proc/self/cgroup, or NULL: no such file */
    struct {
        const char *name, *text;
    } files[FILES_MAX];
    uint64_t limit; /* 0: none */
} rows[] = {
    {NULL, {{NULL, NULL}}, 0},
    {"", {{NULL, NULL}}, 0},
    {"0::/\n", {{NULL, NULL}}, 0},
    {"0::/\n", {{"sys/fs/cgroup/memory.max", "1048576\n"}}, 1 << 20},
    {"0::/a/b\n", {{"sys/fs/cgroup/a/b/memory.max", "4096\n"}}, 4096},
    {"0::/a/b\n",
     {{"sys/fs/cgroup/a/b/memory.max", "max\n"}, {"sys/fs/cgroup/a/memory.max", "8192\n"}},
     8192},
    {"0::/a/b\n",
     {{"sys/fs/cgroup/a/b/memory.max", "4096\n"}, {"sys/fs/cgroup/a/memory.max", "2048\n"}},
     2048},
    {"0::/a/b\n", {{"sys/fs/cgroup/a/b/memory.max", "max\n"}}, 0},
    /* A container's own view: the host's path does not exist. */
    {"0::/docker/123\n", {{"sys/fs/cgroup/memory.max", "65536\n"}}, 65536},
    {"5:cpu,cpuacct:/x\n4:memory:/y\n0::/\n",
     {{"sys/fs/cgroup/memory/y/memory.limit_in_bytes", "1234\n"},
      {"sys/fs/cgroup/memory/x/memory.limit_in_bytes", "1\n"}},
     1234},
    {"4:hugetlb,memory:/y\n",
     {{"sys/fs/cgroup/memory/memory.limit_in_bytes", "777\n"},
      {"sys/fs/cgroup/memory/y/memory.limit_in_bytes", "9223372036854771712\n"}},
     777},
    {"4:memory:/y\n", {{"sys/fs/cgroup/memory/y/memory.limit_in_bytes", "-1\n"}}, 0},
    {"4:memory_other:/y\n", {{"sys/fs/cgroup/memory/y/memory.limit_in_bytes", "1\n"}}, 0},
    {"nonsense\n::\n:\n\n", {{"sys/fs/cgroup/memory.max", "4096\n"}}, 4096},
};

static void write_file(const char *root, const char *name, const char *text)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s", root, name);
    for (char *slash = path + strlen(root) + 1; (slash = strchr(slash, '/')); *slash++ = '/') {
        *slash = '\0';
        mkdir(path, 0700);
    }
    FILE *file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    fputs(text, file);
    fclose(file);
}

START_TEST(test_groups)
{
    char root[] = "/tmp/farlands-memory-XXXXXX", command[64];
    const uint64_t machine = uv_get_total_memory();

    ck_assert_ptr_nonnull(mkdtemp(root));
    if (rows[_i].groups)
        write_file(root, "proc/self/cgroup", rows[_i].groups);
    for (int i = 0; i < FILES_MAX && rows[_i].files[i].name; i++)
        write_file(root, rows[_i].files[i].name, rows[_i].files[i].text);
    const uint64_t memory = machine_memory_below(root);
    snprintf(command, sizeof command, "rm -r %s", root);
    ck_assert_int_eq(system(command), 0);
    must(memory == (rows[_i].limit ? rows[_i].limit : machine), "row %d: %" PRIu64, _i, memory);
}
END_TEST

START_TEST(test_here)
{
    ck_assert_uint_gt(machine_memory(), 0);
    ck_assert_uint_le(machine_memory(), uv_get_total_memory());
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("machine_memory");
    TCase *tcase = suite_case(suite, "memory");
    tcase_add_loop_test(tcase, test_groups, 0, ROWS(rows));
    tcase_add_test(tcase, test_here);
    return suite_run(suite);
}
