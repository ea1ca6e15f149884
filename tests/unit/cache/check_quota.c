/* The quota ledger: limits, processes that share it, counts while files are made. Two ledgers
 * opened here act as two processes: OFD locks do not tell the difference. */
#include "server/cache/quota.h"

#include <errno.h>
#include <inttypes.h>

#include "tests/unit/support/fixtures.h"

static char path[FOLDER_TEXT];
static struct directory directory;
static struct quota *one, *two;
static const struct footprint plenty = {1 << 30, 1000000}, nothing;

static void set_up(void)
{
    int err;
    folder_new(path);
    ck_assert_int_eq(directory_open(&directory, path), 0);
    ck_assert_int_eq(quota_open(&one, &directory, &err), 0);
    ck_assert_int_eq(err, 0);
    ck_assert_int_eq(quota_open(&two, &directory, &err), 0);
    ck_assert_int_eq(err, 0);
}

static void tear_down(void)
{
    quota_close(one);
    quota_close(two);
    quota_close(NULL);
    directory_close(&directory);
    folder_remove(path);
}

/* The usage beyond that of an empty cache. */
static struct footprint used(void)
{
    struct quota_usage usage;
    ck_assert_int_eq(quota_read(one, &usage), 0);
    ck_assert(usage.known);
    ck_assert_uint_lt(usage.age, 100);
    return footprint_difference(usage.used, quota_of_empty_cache());
}

static void must_be(struct footprint expected, const char *when)
{
    const struct footprint is = used();
    must(is.bytes == expected.bytes && is.files == expected.files,
         "%s: %" PRIu64 " bytes, %" PRIu64 " files, not %" PRIu64 ", %" PRIu64, when, is.bytes,
         is.files, expected.bytes, expected.files);
}

static struct footprint size(uint64_t bytes, uint64_t files)
{
    return (struct footprint){bytes, files};
}

START_TEST(test_footprints)
{
    static const struct {
        uint64_t size, entries, bytes;
    } directories[] = {
        {0, 0, 4096},       {4096, 0, 4096},    {4096, 50, 4096},    {12288, 0, 12288},
        {12288, 102, 4128}, {12288, 103, 4096}, {40960, 100, 32960},
    };
    ck_assert_uint_eq(footprint_of_file(0).bytes, FOOTPRINT_ENTRY);
    ck_assert_uint_eq(footprint_of_file(1).bytes, 4096 + FOOTPRINT_ENTRY);
    ck_assert_uint_eq(footprint_of_file(4096).bytes, 4096 + FOOTPRINT_ENTRY);
    ck_assert_uint_eq(footprint_of_file(4097).bytes, 8192 + FOOTPRINT_ENTRY);
    for (int i = 0; i < ROWS(directories); i++) {
        struct footprint is = footprint_of_directory(directories[i].size, directories[i].entries);
        ck_assert_msg(is.bytes == directories[i].bytes + FOOTPRINT_ENTRY && is.files == 1,
                      "row %d: %" PRIu64, i, is.bytes);
    }
}
END_TEST

/* Both processes together exceed neither limit. */
START_TEST(test_limits)
{
    struct footprint limit = footprint_sum(quota_of_empty_cache(), size(10000, 10));
    ck_assert_int_eq(quota_reserve(one, size(6000, 2), limit), 0);
    ck_assert_int_eq(quota_reserve(two, size(4001, 1), limit), -EDQUOT);
    ck_assert_int_eq(quota_reserve(two, size(1, 9), limit), -EDQUOT);
    ck_assert_int_eq(quota_reserve(two, size(4000, 8), limit), 0);
    ck_assert_int_eq(quota_reserve(one, size(1, 0), limit), -EDQUOT);
    must_be(size(10000, 10), "full");
    quota_settle(one, size(6000, 2), size(1000, 1));
    quota_settle(two, size(4000, 8), nothing);
    must_be(size(9000, 9), "settled");
    ck_assert_int_eq(quota_eviction_begin(two), 0);
    quota_evicted(two, plenty);
    ck_assert_uint_eq(used().bytes, 0); /* never negative */
}
END_TEST

/* A process that closes its ledger or dies is not alive; its reservations stay until a count. */
START_TEST(test_alive)
{
    ck_assert(quota_is_alive(one, quota_nonce(one)));
    ck_assert(quota_is_alive(one, quota_nonce(two)));
    ck_assert(quota_is_alive(two, quota_nonce(one)));
    ck_assert(!quota_is_alive(one, 33));
    ck_assert_int_eq(quota_reserve(two, size(500, 5), plenty), 0);
    const uint64_t nonce = quota_nonce(two);
    quota_close(two);
    two = NULL;
    ck_assert(!quota_is_alive(one, nonce));
    must_be(size(500, 5), "died");
    ck_assert_int_eq(quota_count_begin(one), 0);
    ck_assert_int_eq(quota_count_end(one, quota_of_empty_cache()), 0);
    must_be(nothing, "counted");
}
END_TEST

/* The ledger before a count; each process's steps before and meanwhile; the number counted; and
 * the ledger afterwards. */
static const struct {
    const char *name;
    uint64_t before;            /* reserved and settled */
    uint64_t pending, other;    /* reserved by one and by two, and not settled */
    uint64_t made, freed;       /* meanwhile: by two, and by one, which evicts */
    uint64_t counted, expected; /* bytes; one file per 100 */
} counts[] = {
    {"unchanged", 1000, 0, 0, 0, 0, 1000, 1000},
    {"deleted by hand", 1000, 0, 0, 0, 0, 400, 400},
    {"made by hand", 1000, 0, 0, 0, 0, 3000, 3000},
    {"all deleted", 1000, 0, 0, 0, 0, 0, 0},
    {"made meanwhile, not seen", 1000, 0, 0, 500, 0, 1000, 1500},
    {"made meanwhile, seen", 1000, 0, 0, 500, 0, 1500, 1500},
    {"deleted by hand, made meanwhile", 1000, 0, 0, 500, 0, 400, 900},
    {"freed meanwhile, not seen", 1000, 0, 0, 0, 600, 400, 400},
    {"freed meanwhile, seen before", 1000, 0, 0, 0, 600, 1000, 400},
    {"made and freed", 1000, 0, 0, 300, 600, 1000, 700},
    {"pending, not seen", 1000, 500, 0, 0, 0, 1000, 1500},
    {"pending of another, not seen", 1000, 0, 500, 0, 0, 1000, 1500},
    {"pending of both, drift", 1000, 200, 500, 0, 0, 300, 1000},
    {"pending, seen", 1000, 500, 0, 0, 0, 1500, 1500},
    {"all at once", 5000, 100, 200, 300, 400, 2000, 2600},
};

static struct footprint hundreds(uint64_t bytes)
{
    return size(bytes, bytes / 100);
}

START_TEST(test_counts)
{
    ck_assert_int_eq(quota_reserve(one, hundreds(counts[_i].before), plenty), 0);
    quota_settle(one, hundreds(counts[_i].before), nothing);
    ck_assert_int_eq(quota_reserve(one, hundreds(counts[_i].pending), plenty), 0);
    ck_assert_int_eq(quota_reserve(two, hundreds(counts[_i].other), plenty), 0);
    ck_assert_int_eq(quota_eviction_begin(one), 0);
    ck_assert_int_eq(quota_count_begin(one), 0);
    ck_assert_int_eq(quota_reserve(two, hundreds(counts[_i].made), plenty), 0);
    quota_settle(two, hundreds(counts[_i].made), nothing);
    quota_evicted(one, hundreds(counts[_i].freed));
    struct footprint counted = footprint_sum(quota_of_empty_cache(), hundreds(counts[_i].counted));
    ck_assert_int_eq(quota_count_end(one, counted), 0);
    must_be(hundreds(counts[_i].expected), counts[_i].name);
}
END_TEST

/* One process at a time is in a pass, until it ends it, closes its ledger or dies. */
START_TEST(test_passes)
{
    ck_assert_int_eq(quota_eviction_begin(one), 0);
    ck_assert_int_eq(quota_eviction_begin(two), -EBUSY);
    quota_eviction_end(two); /* it has none */
    ck_assert_int_eq(quota_eviction_begin(two), -EBUSY);
    quota_eviction_end(one);
    ck_assert_int_eq(quota_eviction_begin(two), 0);
    ck_assert_int_eq(quota_eviction_begin(one), -EBUSY);
    quota_close(two);
    two = NULL;
    ck_assert_int_eq(quota_eviction_begin(one), 0);
}
END_TEST

/* A ledger reset during a pass: evictions are not subtracted from a ledger that never included the
 * files, and reservations are added to it before the files can be made. */
START_TEST(test_reset)
{
    char ledger[FOLDER_TEXT + 16];
    snprintf(ledger, sizeof ledger, "%s/" QUOTA_FILE, path);
    ck_assert_int_eq(quota_reserve(one, size(5000, 5), plenty), 0);
    ck_assert_int_eq(quota_eviction_begin(one), 0);
    file_write(ledger, "torn", 4);
    ck_assert_int_eq(quota_reserve(two, size(900, 9), plenty), 0);
    must_be(size(5900, 14), "reset");
    quota_evicted(one, size(100, 1));
    must_be(size(5900, 14), "evicted");
    quota_settle(one, size(5000, 5), size(1000, 1));
    must_be(size(4900, 13), "settled");
}
END_TEST

/* A ledger deleted during a count: the count may be incomplete. */
START_TEST(test_deleted_during_count)
{
    char ledger[FOLDER_TEXT + 16];
    struct footprint last;
    snprintf(ledger, sizeof ledger, "%s/" QUOTA_FILE, path);
    ck_assert_int_eq(quota_count_begin(one), 0);
    remove(ledger);
    ck_assert_int_eq(mkdirat(directory.fd, "0123456789abcdef", 0777), 0);
    ck_assert_int_eq(quota_reserve(two, size(1, 1), plenty), -EDQUOT);
    ck_assert(!quota_last(two, &last));
    ck_assert_int_eq(quota_count_end(one, quota_of_empty_cache()), -ESTALE);
    ck_assert_int_eq(quota_count_begin(one), 0);
    ck_assert_int_eq(quota_count_end(one, quota_of_empty_cache()), 0);
    ck_assert_int_eq(quota_reserve(two, size(1, 1), plenty), 0);
    ck_assert(quota_is_alive(one, quota_nonce(two)));
}
END_TEST

/* A ledger deleted during puts: the new one includes all reservations, once. */
START_TEST(test_deleted_during_put)
{
    char ledger[FOLDER_TEXT + 16];
    snprintf(ledger, sizeof ledger, "%s/" QUOTA_FILE, path);
    ck_assert_int_eq(quota_reserve(one, size(500, 5), plenty), 0);
    ck_assert_int_eq(quota_reserve(two, size(300, 3), plenty), 0);
    remove(ledger);
    ck_assert_int_eq(quota_reserve(one, size(100, 1), plenty), 0);
    must_be(size(600, 6), "of one");
    quota_settle(two, size(300, 3), nothing);
    must_be(size(900, 9), "and of two");
    quota_settle(one, size(600, 6), size(100, 1));
    must_be(size(800, 8), "settled");
}
END_TEST

/* Something else under the ledger's name: an error, and it stays. */
START_TEST(test_name_taken)
{
    char ledger[FOLDER_TEXT + 16];
    snprintf(ledger, sizeof ledger, "%s/" QUOTA_FILE, path);
    remove(ledger);
    ck_assert_int_eq(mkdir(ledger, 0777), 0);
    ck_assert_int_lt(quota_reserve(one, size(1, 1), plenty), 0);
    remove(ledger);
    ck_assert_int_eq(symlink("elsewhere", ledger), 0);
    ck_assert_int_lt(quota_reserve(one, size(1, 1), plenty), 0);
    remove(ledger);
    ck_assert_int_eq(mkfifo(ledger, 0777), 0);
    ck_assert_int_lt(quota_reserve(one, size(1, 1), plenty), 0);
    remove(ledger);
    ck_assert_int_eq(quota_reserve(one, size(1, 1), plenty), 0);
}
END_TEST

/* No slot left for one more process: it stores nothing. */
START_TEST(test_too_many)
{
    enum { MORE = 62 };
    struct quota *more[MORE], *last;
    int err;
    for (int i = 0; i < MORE; i++) {
        ck_assert_int_eq(quota_open(&more[i], &directory, &err), 0);
        ck_assert_int_eq(err, 0);
    }
    ck_assert_int_eq(quota_open(&last, &directory, &err), 0);
    ck_assert_int_eq(err, -EUSERS);
    ck_assert_int_eq(quota_reserve(last, size(1, 1), plenty), -EUSERS);
    quota_close(more[7]);
    ck_assert_int_eq(quota_reserve(last, size(1, 1), plenty), 0);
    quota_close(last);
    for (int i = 0; i < MORE; i++)
        if (i != 7)
            quota_close(more[i]);
}
END_TEST

/* A process stopped while it holds the ledger's lock: an error after a moment, no hang. */
START_TEST(test_stopped_holder)
{
    char ledger[FOLDER_TEXT + 16];
    struct flock first = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 0, .l_len = 1};
    snprintf(ledger, sizeof ledger, "%s/" QUOTA_FILE, path);
    int fd = open(ledger, O_RDWR);
    ck_assert_int_eq(fcntl(fd, F_OFD_SETLK, &first), 0);
    ck_assert_int_eq(quota_reserve(one, size(1, 1), plenty), -EAGAIN);
    close(fd);
    ck_assert_int_eq(quota_reserve(one, size(1, 1), plenty), 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("quota");
    TCase *tcase = suite_case(suite, "quota");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, test_footprints);
    tcase_add_test(tcase, test_limits);
    tcase_add_test(tcase, test_alive);
    tcase_add_loop_test(tcase, test_counts, 0, ROWS(counts));
    tcase_add_test(tcase, test_passes);
    tcase_add_test(tcase, test_reset);
    tcase_add_test(tcase, test_deleted_during_count);
    tcase_add_test(tcase, test_deleted_during_put);
    tcase_add_test(tcase, test_name_taken);
    tcase_add_test(tcase, test_too_many);
    tcase_add_test(tcase, test_stopped_holder);
    return suite_run(suite);
}
