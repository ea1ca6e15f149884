/* Archives: the rows that readers look for, and a file that is there whole or not at all. */
#include "server/mbtiles.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "server/unfinished.h"
#include "tests/fixtures.h"

static char folder[FOLDER_TEXT];
static char file[FOLDER_TEXT + 32], unfinished[FOLDER_TEXT + 48];

static const struct mbtiles_about everything = {.name = "default relief",
                                                .description = "what \"it\" is, 'quoted' — too",
                                                .zoom_min = 0,
                                                .zoom_max = 12,
                                                .west = -180,
                                                .south = -85,
                                                .east = 180,
                                                .north = 85,
                                                .tile_size = 256,
                                                .version = 2,
                                                .fingerprint = "0123456789abcdef",
                                                .encoding = "terrarium"};

static void set_up(void)
{
    folder_new(folder);
    snprintf(file, sizeof file, "%s/world.mbtiles", folder);
    snprintf(unfinished, sizeof unfinished, "%s" UNFINISHED_SUFFIX, file);
}

static void tear_down(void)
{
    folder_remove(folder);
}

static bool exists(const char *path)
{
    struct stat status;
    return lstat(path, &status) == 0;
}

static struct mbtiles *archive_new(void)
{
    struct mbtiles *archive;
    int err = mbtiles_new(&archive, file, &everything);
    ck_assert_msg(err == 0, "%s", strerror(-err));
    return archive;
}

/* Bytes without order, LENGTH of them, that go by SEED. */
static struct blob *noise(size_t length, uint64_t seed)
{
    struct blob *blob = blob_new(length);
    for (size_t i = 0; i < length; i++)
        blob->bytes[i] = (uint8_t)chance(&seed);
    return blob;
}

/* The tile (X, Y) of zoom Z: its length goes by its number, too. */
static struct blob *tile_of(int z, int64_t x, int64_t y)
{
    uint64_t seed = (uint64_t)(z * 1000003 + x * 4099 + y);
    return noise(1 + (size_t)(chance(&seed) % 30000), seed);
}

static int put(struct mbtiles *archive, int z, int64_t x, int64_t y)
{
    struct blob *png = tile_of(z, x, y);
    int err = mbtiles_put(archive, z, x, y, png);
    blob_release(png);
    return err;
}

/* --- As readers see it ----------------------------------------------------------- */

static sqlite3 *db_open(void)
{
    sqlite3 *db;
    ck_assert_int_eq(sqlite3_open_v2(file, &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
    return db;
}

/* What SQL gives in its first row and column, or "(none)". */
static const char *answer(sqlite3 *db, const char *sql)
{
    static char text[512];
    sqlite3_stmt *query;
    ck_assert_msg(sqlite3_prepare_v2(db, sql, -1, &query, NULL) == SQLITE_OK, "%s: %s", sql,
                  sqlite3_errmsg(db));
    const char *found =
        sqlite3_step(query) == SQLITE_ROW ? (const char *)sqlite3_column_text(query, 0) : NULL;
    snprintf(text, sizeof text, "%s", found ? found : "(none)");
    sqlite3_finalize(query);
    return text;
}

static void must_have(sqlite3 *db, int z, int64_t x, int64_t y)
{
    struct blob *png = tile_of(z, x, y);
    sqlite3_stmt *query;
    ck_assert_int_eq(sqlite3_prepare_v2(db,
                                        "SELECT tile_data FROM tiles WHERE zoom_level = ?"
                                        " AND tile_column = ? AND tile_row = ?",
                                        -1, &query, NULL),
                     SQLITE_OK);
    sqlite3_bind_int(query, 1, z);
    sqlite3_bind_int64(query, 2, x);
    sqlite3_bind_int64(query, 3, (INT64_C(1) << z) - 1 - y); /* as the specification has it */
    must(sqlite3_step(query) == SQLITE_ROW, "%d/%jd/%jd: not there", z, (intmax_t)x, (intmax_t)y);
    must((size_t)sqlite3_column_bytes(query, 0) == png->length &&
             memcmp(sqlite3_column_blob(query, 0), png->bytes, png->length) == 0,
         "%d/%jd/%jd: other bytes", z, (intmax_t)x, (intmax_t)y);
    ck_assert_int_eq(sqlite3_step(query), SQLITE_DONE);
    sqlite3_finalize(query);
    blob_release(png);
}

static void must_be_whole(sqlite3 *db, int tiles)
{
    ck_assert_str_eq(answer(db, "PRAGMA integrity_check"), "ok");
    ck_assert_int_eq(atoi(answer(db, "SELECT count(*) FROM tiles")), tiles);
}

static void must_be_finished(struct mbtiles *archive)
{
    ck_assert_int_eq(mbtiles_finish(archive), 0);
    mbtiles_free(archive);
    ck_assert(exists(file));
    ck_assert(!exists(unfinished));
}

/* The columns of zooms 0 to TOP, as far as 16, and as many rows: all tiles of DO_IT. */
#define each_tile(top, do_it)                                \
    for (int z = 0; z <= (top); z++)                         \
        for (int64_t x = 0; x < 1 << z && x < 16; x++)       \
            for (int64_t y = 0; y < 1 << z && y < 16; y++) { \
                do_it;                                       \
            }

START_TEST(test_tiles)
{
    int count = 0;
    struct mbtiles *archive = archive_new();
    ck_assert(exists(unfinished));
    each_tile(7, {
        must(put(archive, z, x, y) == 0, "%d/%jd/%jd", z, (intmax_t)x, (intmax_t)y);
        count++;
    });
    ck_assert(!exists(file));
    must_be_finished(archive);
    sqlite3 *db = db_open();
    must_be_whole(db, count);
    each_tile(7, must_have(db, z, x, y));
    sqlite3_close(db);
}
END_TEST

/* None, one, and the same one again: the first stays. */
START_TEST(test_few)
{
    struct mbtiles *archive = archive_new();
    must_be_finished(archive);
    sqlite3 *db = db_open();
    must_be_whole(db, 0);
    sqlite3_close(db);
    remove(file);

    struct blob *other = noise(100, 1);
    archive = archive_new();
    ck_assert_int_eq(put(archive, 11, 327, 791), 0);
    ck_assert_int_eq(mbtiles_put(archive, 11, 327, 791, other), 0);
    must_be_finished(archive);
    db = db_open();
    must_be_whole(db, 1);
    must_have(db, 11, 327, 791);
    /* The specification's own example. */
    ck_assert_str_eq(answer(db, "SELECT tile_row FROM tiles"), "1256");
    sqlite3_close(db);
    blob_release(other);
}
END_TEST

static const struct {
    const char *sql, *answer;
} metadata[] = {
    {"PRAGMA application_id", "1297105496"}, /* MPBX */
    {"PRAGMA encoding", "UTF-8"},
    {"PRAGMA journal_mode", "delete"}, /* what a new connection has: nothing beside the file */
    {"SELECT value FROM metadata WHERE name = 'name'", "default relief"},
    {"SELECT value FROM metadata WHERE name = 'format'", "png"},
    {"SELECT value FROM metadata WHERE name = 'bounds'", "-180,-85,180,85"},
    {"SELECT value FROM metadata WHERE name = 'center'", "0,0,2"},
    {"SELECT value FROM metadata WHERE name = 'minzoom'", "0"},
    {"SELECT value FROM metadata WHERE name = 'maxzoom'", "12"},
    {"SELECT value FROM metadata WHERE name = 'description'", "what \"it\" is, 'quoted' — too"},
    {"SELECT value FROM metadata WHERE name = 'type'", "baselayer"},
    {"SELECT value FROM metadata WHERE name = 'version'", "2"},
    {"SELECT value FROM metadata WHERE name = 'encoding'", "terrarium"},
    {"SELECT value FROM metadata WHERE name = 'fingerprint'", "0123456789abcdef"},
    {"SELECT count(*) FROM metadata", "11"},
    {"SELECT group_concat(name || ' ' || type) FROM pragma_table_info('metadata')",
     "name TEXT,value TEXT"},
    {"SELECT group_concat(name || ' ' || type) FROM pragma_table_info('tiles')",
     "zoom_level INTEGER,tile_column INTEGER,tile_row INTEGER,tile_data BLOB"},
    {"SELECT count(*) FROM pragma_index_list('tiles') WHERE \"unique\"", "1"},
};

START_TEST(test_metadata)
{
    must_be_finished(archive_new());
    sqlite3 *db = db_open();
    for (int i = 0; i < ROWS(metadata); i++) {
        const char *found = answer(db, metadata[i].sql);
        ck_assert_msg(strcasecmp(found, metadata[i].answer) == 0, "%s: %s", metadata[i].sql, found);
    }
    sqlite3_close(db);
}
END_TEST

START_TEST(test_left_out)
{
    struct mbtiles_about about = everything;
    struct mbtiles *archive;
    about.description = about.encoding = about.fingerprint = NULL;
    about.version = 0;
    about.overlay = true;
    ck_assert_int_eq(mbtiles_new(&archive, file, &about), 0);
    must_be_finished(archive);
    sqlite3 *db = db_open();
    ck_assert_str_eq(answer(db, "SELECT count(*) FROM metadata"), "7");
    ck_assert_str_eq(answer(db, "SELECT value FROM metadata WHERE name = 'type'"), "overlay");
    sqlite3_close(db);
}
END_TEST

/* The inverse Gudermannian by decimal arithmetic of 50 digits: of the tiles' edges, and of the
 * middle between them. */
static const struct {
    int z;
    int64_t x0, y0, x1, y1;
    double bounds[4], center[3];
} windows[] = {
    {0, 0, 0, 1, 1, {-180, -85.05112877980659, 180, 85.05112877980659}, {0, 0, 2}},
    {1, 1, 0, 2, 1, {0, 0, 180, 85.05112877980659}, {90, 66.51326044311186, 3}},
    {2, 1, 1, 3, 3, {-90, -66.51326044311186, 90, 66.51326044311186}, {0, 0, 3}},
    {12,
     2047,
     2048,
     2048,
     2049,
     {-0.087890625, -0.0878905905308251, 0, 0},
     {-0.0439453125, -0.043945308191351236, 12}},
    {30,
     0,
     0,
     1,
     1,
     {-180, 85.05112875088341, -179.99999966472387, 85.05112877980659},
     {-179.99999983236194, 85.051128765345, 12}},
};

/* The numbers in VALUE, each of which reads back as what it was, so that a nanometre shows. */
static void must_be_near(const char *value, const double *expected, int count)
{
    for (int i = 0; i < count; i++) {
        char *end;
        double number = strtod(value, &end);
        must(fabs(number - expected[i]) < 1e-13 * 180, "window %s: %.17g, not %.17g", value, number,
             expected[i]);
        must(*end == (i < count - 1 ? ',' : '\0'), "%s", value);
        value = end + 1;
    }
}

START_TEST(test_windows)
{
    struct mbtiles_about about = everything;
    struct mbtiles *archive;
    mbtiles_window(&about, windows[_i].z, windows[_i].x0, windows[_i].y0, windows[_i].x1,
                   windows[_i].y1);
    ck_assert_int_eq(mbtiles_new(&archive, file, &about), 0);
    must_be_finished(archive);
    sqlite3 *db = db_open();
    must_be_near(answer(db, "SELECT value FROM metadata WHERE name = 'bounds'"), windows[_i].bounds,
                 4);
    must_be_near(answer(db, "SELECT value FROM metadata WHERE name = 'center'"), windows[_i].center,
                 3);
    sqlite3_close(db);
}
END_TEST

static const struct {
    int z;
    int64_t x, y;
} beyond[] = {
    {-1, 0, 0}, {13, 0, 0}, {3, 8, 0},         {3, 0, 8},
    {3, -1, 0}, {3, 0, -1}, {0, 0, INT64_MIN}, {0, INT64_MAX, 0},
};

START_TEST(test_beyond)
{
    struct mbtiles *archive = archive_new();
    for (int i = 0; i < ROWS(beyond); i++)
        ck_assert_msg(put(archive, beyond[i].z, beyond[i].x, beyond[i].y) == -ERANGE, "%d/%jd/%jd",
                      beyond[i].z, (intmax_t)beyond[i].x, (intmax_t)beyond[i].y);
    ck_assert_int_eq(put(archive, 3, 7, 7), 0);
    must_be_finished(archive);
}
END_TEST

START_TEST(test_impossible)
{
    static const struct mbtiles_about abouts[] = {
        {.zoom_max = 1, .west = -1, .south = -1, .east = 1, .north = 1},
        {.name = "a", .zoom_min = 2, .zoom_max = 1, .west = -1, .south = -1, .east = 1, .north = 1},
        {.name = "a", .zoom_min = -1, .west = -1, .south = -1, .east = 1, .north = 1},
        {.name = "a", .zoom_max = 31, .west = -1, .south = -1, .east = 1, .north = 1},
        {.name = "a", .west = 1, .south = -1, .east = 1, .north = 1},
        {.name = "a", .west = -1, .south = 1, .east = 1, .north = -1},
        {.name = "a", .west = -181, .south = -1, .east = 1, .north = 1},
        {.name = "a", .west = -1, .south = -90, .east = 1, .north = 1},
        {.name = "a", .west = -1, .south = -1, .east = 1, .north = 0.0 / 0.0},
    };
    struct mbtiles *archive;
    for (int i = 0; i < ROWS(abouts); i++) {
        ck_assert_msg(mbtiles_new(&archive, file, &abouts[i]) == -EINVAL, "row %d", i);
        ck_assert(!exists(unfinished));
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("mbtiles");
    TCase *tcase = suite_case(suite, "rows");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, test_tiles);
    tcase_add_test(tcase, test_few);
    tcase_add_test(tcase, test_metadata);
    tcase_add_test(tcase, test_left_out);
    tcase_add_loop_test(tcase, test_windows, 0, ROWS(windows));
    tcase_add_test(tcase, test_beyond);
    tcase_add_test(tcase, test_impossible);
    return suite_run(suite);
}
