/* Eviction passes of two processes over one directory: the ledger never says less than what is
 * there. Two ledgers opened here act as two processes: OFD locks do not tell the difference. */
#include "server/cache/eviction.h"

#include <errno.h>
#include <inttypes.h>

#include "tests/unit/support/fixtures.h"

enum { MOMENTS = 30, STEPS_APART = 13 };

enum { COLUMNS = 8, ROWS_OF_TILES = 20, BYTES = 5000 };

static const struct footprint to_free = {100000, 0};

/* A process. At step AT of its pass the other one, if any, attempts a pass. */
struct process {
    struct quota *quota;
    struct eviction *eviction;
    struct process *other;
    int at, steps;
    int other_passes; /* that succeeded */
};

static char path[FOLDER_TEXT];
static struct directory directory;

static int run_pass(struct process *process)
{
    struct footprint counted, freed;
    int err = quota_eviction_begin(process->quota);
    if (err)
        return err;
    ck_assert_int_eq(eviction_remove_temporaries(process->eviction), 0);
    ck_assert_int_eq(eviction_count(process->eviction, &counted), 0);
    ck_assert_int_eq(eviction_run(process->eviction, to_free, &freed), 0);
    quota_eviction_end(process->quota);
    return 0;
}

static bool on_step(void *context)
{
    struct process *process = context;
    struct process *other = process->other;
    process->steps++;
    if (other && process->steps == process->at)
        process->other_passes += run_pass(other) == 0;
    return true;
}

static void join(struct process *process)
{
    int err;
    *process = (struct process){0};
    ck_assert_int_eq(quota_open(&process->quota, &directory, &err), 0);
    ck_assert_int_eq(err, 0);
    const struct eviction_parts parts = {.directory = &directory,
                                         .quota = process->quota,
                                         .go_on = on_step,
                                         .go_on_context = process};
    ck_assert_int_eq(eviction_new(&process->eviction, &parts), 0);
}

static void leave(struct process *process)
{
    eviction_free(process->eviction);
    quota_close(process->quota);
}

static struct footprint used(const struct process *process)
{
    struct quota_usage usage;
    ck_assert_int_eq(quota_read(process->quota, &usage), 0);
    ck_assert(usage.known);
    return usage.used;
}

/* A new ledger's usage after a count. */
static struct footprint truth(void)
{
    struct footprint counted;
    struct process fresh;
    ck_assert_int_eq(unlinkat(directory.fd, QUOTA_FILE, 0), 0);
    join(&fresh);
    ck_assert_int_eq(quota_eviction_begin(fresh.quota), 0);
    ck_assert_int_eq(eviction_count(fresh.eviction, &counted), 0);
    struct footprint out = used(&fresh);
    leave(&fresh);
    return out;
}

static void make_tiles(void)
{
    static const char tile[BYTES];
    char name[FOLDER_TEXT + 128];
    int length = snprintf(name, sizeof name, "%s/0123456789abcdef", path);
    ck_assert_int_eq(mkdir(name, 0777), 0);
    length += snprintf(name + length, sizeof name - (size_t)length, "/relief");
    ck_assert_int_eq(mkdir(name, 0777), 0);
    length += snprintf(name + length, sizeof name - (size_t)length, "/9");
    ck_assert_int_eq(mkdir(name, 0777), 0);
    for (int x = 0; x < COLUMNS; x++) {
        int column = length + snprintf(name + length, sizeof name - (size_t)length, "/%d", x);
        ck_assert_int_eq(mkdir(name, 0777), 0);
        for (int y = 0; y < ROWS_OF_TILES; y++) {
            snprintf(name + column, sizeof name - (size_t)column, "/%d.png", y);
            file_write(name, tile, sizeof tile);
        }
    }
    for (int i = 0; i < ROWS_OF_TILES; i++) {
        snprintf(name, sizeof name, "%s/.new-00000000000000aa-%d", path, i);
        file_write(name, tile, sizeof tile);
    }
}

static void set_up(void)
{
    folder_new(path);
    ck_assert_int_eq(directory_open(&directory, path), 0);
    make_tiles();
}

static void tear_down(void)
{
    directory_close(&directory);
    folder_remove(path);
}

/* At whatever step of a pass another process attempts one, nothing is subtracted twice. */
START_TEST(test_two)
{
    struct process one, two;
    join(&one);
    join(&two);
    ck_assert_int_eq(run_pass(&two), 0);
    one.other = &two;
    one.at = 1 + _i * STEPS_APART;
    ck_assert_int_eq(run_pass(&one), 0);
    struct footprint ledger = used(&one);
    leave(&one);
    leave(&two);
    struct footprint there = truth();
    must(footprint_fits(there, ledger),
         "step %d: the ledger says %" PRIu64 " bytes, %" PRIu64 " files; there are %" PRIu64
         ", %" PRIu64,
         one.at, ledger.bytes, ledger.files, there.bytes, there.files);
    ck_assert_int_eq(one.other_passes, 0);
    ck_assert_int_ge(one.steps, one.at);
}
END_TEST

/* A single process: the ledger is exact to the byte, and abandoned temporary files are deleted. */
START_TEST(test_one)
{
    struct process one;
    join(&one);
    ck_assert_int_eq(run_pass(&one), 0);
    ck_assert_int_eq(run_pass(&one), 0);
    struct footprint ledger = used(&one);
    leave(&one);
    ck_assert_int_ne(faccessat(directory.fd, ".new-00000000000000aa-1", F_OK, 0), 0);
    struct footprint there = truth();
    ck_assert_uint_eq(ledger.bytes, there.bytes);
    ck_assert_uint_eq(ledger.files, there.files);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("eviction");
    TCase *tcase = suite_case(suite, "eviction");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, test_one);
    tcase_add_loop_test(tcase, test_two, 0, MOMENTS);
    return suite_run(suite);
}
