/* Sweeps of one folder by two processes: what the books say afterwards is never below what is
 * there. Two sweeps opened here stand for two processes: the locks of their books know no
 * difference. */
#include "server/cache/eviction.h"

#include <errno.h>
#include <inttypes.h>

#include "tests/unit/support/fixtures.h"

enum { MOMENTS = 30, STEPS_APART = 13 };

enum { COLUMNS = 8, ROWS_OF_TILES = 20, BYTES = 5000 };

static const struct footprint room = {100000, 0};

/* One process. At step AT of its sweep the other one, if any, tries to take its turn. */
struct party {
    struct quota *quota;
    struct eviction *eviction;
    struct party *other;
    int at, steps;
    int turns; /* taken by the other */
};

static char path[FOLDER_TEXT];
static struct directory directory;

static int take_turn(struct party *party)
{
    struct footprint counted, freed;
    int err = quota_eviction_begin(party->quota);
    if (err)
        return err;
    ck_assert_int_eq(eviction_remove_temporaries(party->eviction), 0);
    ck_assert_int_eq(eviction_count(party->eviction, &counted), 0);
    ck_assert_int_eq(eviction_run(party->eviction, room, &freed), 0);
    quota_eviction_end(party->quota);
    return 0;
}

static bool on_step(void *context)
{
    struct party *party = context;
    struct party *other = party->other;
    party->steps++;
    if (other && party->steps == party->at)
        party->turns += take_turn(other) == 0;
    return true;
}

static void join(struct party *party)
{
    int why;
    *party = (struct party){0};
    ck_assert_int_eq(quota_open(&party->quota, &directory, &why), 0);
    ck_assert_int_eq(why, 0);
    const struct eviction_parts parts = {
        .directory = &directory, .quota = party->quota, .go_on = on_step, .go_on_context = party};
    ck_assert_int_eq(eviction_new(&party->eviction, &parts), 0);
}

static void part(struct party *party)
{
    eviction_free(party->eviction);
    quota_close(party->quota);
}

static struct footprint used(const struct party *party)
{
    struct quota_usage usage;
    ck_assert_int_eq(quota_read(party->quota, &usage), 0);
    ck_assert(usage.known);
    return usage.used;
}

/* What books say that know of nothing but what is there. */
static struct footprint truth(void)
{
    struct footprint counted;
    struct party fresh;
    ck_assert_int_eq(unlinkat(directory.fd, QUOTA_FILE, 0), 0);
    join(&fresh);
    ck_assert_int_eq(quota_eviction_begin(fresh.quota), 0);
    ck_assert_int_eq(eviction_count(fresh.eviction, &counted), 0);
    struct footprint out = used(&fresh);
    part(&fresh);
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

/* Whenever in a sweep another one wants to sweep, what goes is not subtracted twice. */
START_TEST(test_two)
{
    struct party one, two;
    join(&one);
    join(&two);
    ck_assert_int_eq(take_turn(&two), 0);
    one.other = &two;
    one.at = 1 + _i * STEPS_APART;
    ck_assert_int_eq(take_turn(&one), 0);
    struct footprint books = used(&one);
    part(&one);
    part(&two);
    struct footprint there = truth();
    must(footprint_fits(there, books),
         "step %d: the books say %" PRIu64 " bytes, %" PRIu64 " files; there are %" PRIu64
         ", %" PRIu64,
         one.at, books.bytes, books.files, there.bytes, there.files);
    ck_assert_int_eq(one.turns, 0);
    ck_assert_int_ge(one.steps, one.at);
}
END_TEST

/* One alone: the books are right to the byte, and what the dead left is gone. */
START_TEST(test_one)
{
    struct party one;
    join(&one);
    ck_assert_int_eq(take_turn(&one), 0);
    ck_assert_int_eq(take_turn(&one), 0);
    struct footprint books = used(&one);
    part(&one);
    ck_assert_int_ne(faccessat(directory.fd, ".new-00000000000000aa-1", F_OK, 0), 0);
    struct footprint there = truth();
    ck_assert_uint_eq(books.bytes, there.bytes);
    ck_assert_uint_eq(books.files, there.files);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("sweep");
    TCase *tcase = suite_case(suite, "sweep");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, test_one);
    tcase_add_loop_test(tcase, test_two, 0, MOMENTS);
    return suite_run(suite);
}
