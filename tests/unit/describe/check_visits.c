/* Visits: each place once, with any number of threads, and errors. */
#include "server/describe/visits.h"

#include "tests/unit/support/fixtures.h"

enum { PLACES = 100 };

struct guests {
    int visits[PLACES];
    int err, at; /* visit AT fails with ERR */
};

static int visit(void *context, struct farlands_scratch *scratch, void *memory, int i)
{
    struct guests *guests = context;
    ck_assert_ptr_nonnull(scratch);
    memset(memory, i, 64);
    guests->visits[i]++;
    return i == guests->at ? guests->err : 0;
}

static const struct {
    const char *name;
    int count;
    unsigned threads;
    int err, at;
} rows[] = {
    {"one thread", PLACES, 1, 0, 0},
    {"many threads", PLACES, 5, 0, 0},
    {"no places", 0, 2, 0, 0},
    {"fewer places than threads", 2, 4, 0, 0},
    {"an error", PLACES, 1, -ENOMEM, 40},
    {"an error at first", PLACES, 3, -EIO, 0},
};

START_TEST(test_rows)
{
    struct guests guests = {.err = rows[_i].err, .at = rows[_i].at};
    const struct visits visits = {rows[_i].count, 64, visit, &guests};
    ck_assert_int_eq(visits_run(&visits, rows[_i].threads), rows[_i].err);
    for (int i = 0; i < PLACES; i++) {
        const int expected = i < rows[_i].count;
        must(rows[_i].err ? guests.visits[i] <= expected : guests.visits[i] == expected,
             "%s: place %d is visited %d times", rows[_i].name, i, guests.visits[i]);
    }
    if (rows[_i].err && rows[_i].threads == 1)
        ck_assert_int_eq(guests.visits[rows[_i].at + 1], 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("visits");
    TCase *tcase = suite_case(suite, "threads");
    tcase_add_loop_test(tcase, test_rows, 0, ROWS(rows));
    return suite_run(suite);
}
