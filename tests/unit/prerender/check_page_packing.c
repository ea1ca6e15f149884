/* The order of rows in a table: what SQLite makes of it, and that little stays empty. */
#include "server/prerender/page_packing.h"

#include <sqlite3.h>

#include "tests/unit/support/fixtures.h"

/* --- What a row takes up, as SQLite counts it --------------------------------------- */

static sqlite3 *db;

static void execute(const char *sql)
{
    ck_assert_msg(sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK, "%s: %s", sql,
                  sqlite3_errmsg(db));
}

static void db_open(void)
{
    char sql[200];
    ck_assert_int_eq(sqlite3_open(":memory:", &db), SQLITE_OK);
    snprintf(sql, sizeof sql,
             "PRAGMA page_size = %d; CREATE TABLE t (a integer, b integer, c blob)", PACKING_PAGE);
    execute(sql);
}

static void db_close(void)
{
    sqlite3_close(db);
}

/* Bytes of the leaf where row ROWID lies by itself, without its head. */
static int leaf_bytes(int64_t rowid, const int64_t integers[2], size_t length)
{
    sqlite3_stmt *insert, *look;
    execute("DELETE FROM t");
    sqlite3_prepare_v2(db, "INSERT INTO t (rowid, a, b, c) VALUES (?, ?, ?, zeroblob(?))", -1,
                       &insert, NULL);
    sqlite3_bind_int64(insert, 1, rowid);
    sqlite3_bind_int64(insert, 2, integers[0]);
    sqlite3_bind_int64(insert, 3, integers[1]);
    sqlite3_bind_int64(insert, 4, (int64_t)length);
    ck_assert_int_eq(sqlite3_step(insert), SQLITE_DONE);
    sqlite3_finalize(insert);
    ck_assert_int_eq(sqlite3_prepare_v2(db,
                                        "SELECT pgsize - 8 - unused FROM dbstat"
                                        " WHERE name = 't' AND pagetype = 'leaf'",
                                        -1, &look, NULL),
                     SQLITE_OK);
    ck_assert_int_eq(sqlite3_step(look), SQLITE_ROW);
    int bytes = sqlite3_column_int(look, 0);
    sqlite3_finalize(look);
    return bytes;
}

START_TEST(test_cells)
{
    static const int64_t rowids[] = {1, 127, 128, 16384, INT64_C(1) << 40};
    static const int64_t integers[][2] = {
        {0, 1},
        {2, 127},
        {128, 32767},
        {32768, 8388607},
        {8388608, 2147483647},
        {INT64_C(2147483648), (INT64_C(1) << 47) - 1},
        {INT64_C(1) << 47, INT64_MAX},
    };
    uint64_t state = 5;
    for (int i = 0; i < 3000; i++) {
        const int64_t rowid = rowids[i % ROWS(rowids)];
        const int64_t *row = integers[i % ROWS(integers)];
        /* All lengths of about a page; then any. */
        const size_t length = i < 2200 ? (size_t)(i + 1) : (size_t)chance_below(&state, 200000);
        const int cell = packing_cell(rowid, row, 2, length), is = leaf_bytes(rowid, row, length);
        must(cell == is, "%jd, %zu bytes: %d, not %d", (intmax_t)rowid, length, cell, is);
    }
}
END_TEST

/* --- Orders ------------------------------------------------------------------- */

static const struct {
    int count, least, most, room;
    double waste; /* of a leaf, the most that may stay empty on average */
} shelves[] = {
    {0, 1, 1, 0, 0},
    {1, 1, 1, 0, 0},
    {1, PACKING_LEAF, PACKING_LEAF, 100, 0},
    {PACKING_ROWS, PACKING_LEAF, PACKING_LEAF, PACKING_LEAF, 0},
    {PACKING_ROWS, 1, 1, 300, 0},
    {PACKING_ROWS, 200, PACKING_LEAF, 0, 0.03},
    {PACKING_ROWS, 20, PACKING_LEAF / 2, 700, 0.01},
};

START_TEST(test_orders)
{
    int cells[PACKING_ROWS] = {0}, order[PACKING_ROWS], seen[PACKING_ROWS] = {0};
    int room = shelves[_i].room, left = room, empty = 0, leaves = 0;
    const int count = shelves[_i].count;
    uint64_t state = 9;
    for (int i = 0; i < count; i++)
        cells[i] =
            shelves[_i].least + chance_below(&state, shelves[_i].most - shelves[_i].least + 1);
    packing_order(&room, cells, count, order);
    for (int i = 0; i < count; i++) {
        must(order[i] >= 0 && order[i] < count && !seen[order[i]]++, "row %d", order[i]);
        if (cells[order[i]] > left) {
            empty += leaves ? left : 0; /* of the leaf that was there before no more is known */
            left = PACKING_LEAF;
            leaves++;
        }
        left -= cells[order[i]];
    }
    ck_assert_int_eq(room, left);
    ck_assert_msg(empty <= shelves[_i].waste * leaves * PACKING_LEAF, "%d bytes of %d leaves",
                  empty, leaves);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("packing");
    TCase *tcase = suite_case(suite, "cells");
    tcase_add_checked_fixture(tcase, db_open, db_close);
    tcase_add_test(tcase, test_cells);
    tcase = suite_case(suite, "orders");
    tcase_add_loop_test(tcase, test_orders, 0, ROWS(shelves));
    return suite_run(suite);
}
