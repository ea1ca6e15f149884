/* MBTiles: the rows that readers expect, and files that are complete or absent. */
#include "server/prerender/mbtiles.h"
#include "server/prerender/unfinished_file.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "tests/unit/support/fixtures.h"

static char directory[FOLDER_TEXT];
static char file[FOLDER_TEXT + 32], unfinished[FOLDER_TEXT + 48];

static const struct tileset everything = {.name = "default relief",
                                          .format = "png",
                                          .description = "a \"text\", 'quoted' — too",
                                          .zoom_min = 0,
                                          .zoom_max = 12,
                                          .west = -180,
                                          .south = -85,
                                          .east = 180,
                                          .north = 85,
                                          .version = 2,
                                          .fingerprint = "0123456789abcdef",
                                          .encoding = "terrarium",
                                          .attribution = "some 'one'",
                                          .tile_size = 256};

static unsigned refused_flags; /* renameat2 fails with EINVAL if one of these is given */
static int refused_sync;       /* the error of fsync, or 0 */
static int syncs;              /* calls of fsync */

/* These replace the C library's functions. */
int renameat2(int old_folder, const char *old, int new_folder, const char *new, unsigned flags)
{
    must(syncs == 1, "%d syncs before the rename, not 1", syncs);
    if (flags & refused_flags) {
        errno = EINVAL;
        return -1;
    }
    return (int)syscall(SYS_renameat2, old_folder, old, new_folder, new, flags);
}

int fsync(int fd)
{
    (void)fd;
    syncs++;
    errno = refused_sync;
    return refused_sync ? -1 : 0;
}

/* If not NULL: the next file to be locked is renamed to this first; "": deleted. */
static const char *lost_name;

int fcntl(int fd, int command, ...)
{
    va_list arguments;
    va_start(arguments, command);
    void *argument = va_arg(arguments, void *);
    va_end(arguments);
    if (command == F_OFD_SETLK && lost_name) {
        must((*lost_name ? rename(unfinished, lost_name) : remove(unfinished)) == 0, "%s",
             unfinished);
        lost_name = NULL;
    }
    return (int)syscall(SYS_fcntl, fd, command, argument);
}

static void set_up(void)
{
    folder_new(directory);
    snprintf(file, sizeof file, "%s/world.mbtiles", directory);
    snprintf(unfinished, sizeof unfinished, "%s.unfinished", file);
}

static void tear_down(void)
{
    folder_remove(directory);
}

static struct mbtiles *archive_new(void)
{
    struct mbtiles *archive;
    int err = mbtiles_new(&archive, file, &everything);
    ck_assert_msg(err == 0, "%s", strerror(-err));
    return archive;
}

/* LENGTH random bytes. */
static struct blob *noise(size_t length, uint64_t seed)
{
    struct blob *blob = blob_new(length);
    for (size_t i = 0; i < length; i++)
        blob->bytes[i] = (uint8_t)chance(&seed);
    return blob;
}

/* The content of a tile; its length depends on the tile, too. */
static struct blob *tile_of(int z, int64_t x, int64_t y)
{
    uint64_t seed = (uint64_t)z * 1000003 + (uint64_t)x * 4099 + (uint64_t)y;
    return noise(1 + (size_t)(chance(&seed) % 30000), seed);
}

static int put(struct mbtiles *archive, int z, int64_t x, int64_t y)
{
    struct blob *png = tile_of(z, x, y);
    int err = mbtiles_put(archive, z, x, y, png);
    blob_release(png);
    return err;
}

static sqlite3 *db_open(void)
{
    sqlite3 *db;
    ck_assert_int_eq(sqlite3_open_v2(file, &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
    return db;
}

/* The first column of the first row of SQL's result, or "(none)". */
static const char *query_text(sqlite3 *db, const char *sql)
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
    sqlite3_bind_int64(query, 3, (INT64_C(1) << z) - 1 - y); /* TMS */
    must(sqlite3_step(query) == SQLITE_ROW, "%d/%jd/%jd: missing", z, (intmax_t)x, (intmax_t)y);
    must((size_t)sqlite3_column_bytes(query, 0) == png->length &&
             memcmp(sqlite3_column_blob(query, 0), png->bytes, png->length) == 0,
         "%d/%jd/%jd: other bytes", z, (intmax_t)x, (intmax_t)y);
    ck_assert_int_eq(sqlite3_step(query), SQLITE_DONE);
    sqlite3_finalize(query);
    blob_release(png);
}

static void must_be_whole(sqlite3 *db, int tiles)
{
    ck_assert_str_eq(query_text(db, "PRAGMA integrity_check"), "ok");
    ck_assert_int_eq(atoi(query_text(db, "SELECT count(*) FROM tiles")), tiles);
}

static void must_be_finished(struct mbtiles *archive)
{
    syncs = 0;
    ck_assert_int_eq(mbtiles_finish(archive), 0);
    ck_assert_int_eq(syncs, 2); /* the file and its directory */
    mbtiles_free(archive);
    ck_assert(file_exists(file));
    ck_assert(!file_exists(unfinished));
}

/* DO_IT for the tiles of zooms 0 to TOP in the first 16 columns and rows. */
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
    ck_assert(file_exists(unfinished));
    each_tile(7, {
        must(put(archive, z, x, y) == 0, "%d/%jd/%jd", z, (intmax_t)x, (intmax_t)y);
        count++;
    });
    ck_assert(!file_exists(file));
    must_be_finished(archive);
    sqlite3 *db = db_open();
    must_be_whole(db, count);
    each_tile(7, must_have(db, z, x, y));
    sqlite3_close(db);
}
END_TEST

/* No tile, one tile, and the same tile again, of which the first is kept. */
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
    ck_assert_str_eq(query_text(db, "SELECT tile_row FROM tiles"), "1256");
    sqlite3_close(db);
    blob_release(other);
}
END_TEST

static const struct {
    const char *sql, *expected;
} metadata[] = {
    {"PRAGMA application_id", "1297105496"}, /* MPBX */
    {"PRAGMA encoding", "UTF-8"},
    {"PRAGMA journal_mode", "delete"}, /* the default of a new connection: needs no second file */
    {"SELECT value FROM metadata WHERE name = 'name'", "default relief"},
    {"SELECT value FROM metadata WHERE name = 'format'", "png"},
    {"SELECT value FROM metadata WHERE name = 'bounds'", "-180,-85,180,85"},
    {"SELECT value FROM metadata WHERE name = 'center'", "0,0,2"},
    {"SELECT value FROM metadata WHERE name = 'minzoom'", "0"},
    {"SELECT value FROM metadata WHERE name = 'maxzoom'", "12"},
    {"SELECT value FROM metadata WHERE name = 'description'", "a \"text\", 'quoted' — too"},
    {"SELECT value FROM metadata WHERE name = 'type'", "baselayer"},
    {"SELECT value FROM metadata WHERE name = 'version'", "2"},
    {"SELECT value FROM metadata WHERE name = 'encoding'", "terrarium"},
    {"SELECT value FROM metadata WHERE name = 'fingerprint'", "0123456789abcdef"},
    {"SELECT value FROM metadata WHERE name = 'attribution'", "some 'one'"},
    {"SELECT value FROM metadata WHERE name = 'json'",
     "{\"tileSize\":256,\"encoding\":\"terrarium\"}"},
    /* Of no tile. */
    {"SELECT value FROM metadata WHERE name = 'agg_tiles_hash'",
     "D41D8CD98F00B204E9800998ECF8427E"},
    {"SELECT count(*) FROM metadata", "14"},
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
        const char *found = query_text(db, metadata[i].sql);
        ck_assert_msg(strcasecmp(found, metadata[i].expected) == 0, "%s: %s", metadata[i].sql,
                      found);
    }
    sqlite3_close(db);
}
END_TEST

START_TEST(test_left_out)
{
    struct tileset changed = everything;
    struct mbtiles *archive;
    changed.description = changed.encoding = changed.fingerprint = changed.attribution = NULL;
    changed.version = 0;
    changed.format = "webp";
    ck_assert_int_eq(mbtiles_new(&archive, file, &changed), 0);
    must_be_finished(archive);
    sqlite3 *db = db_open();
    ck_assert_str_eq(query_text(db, "SELECT count(*) FROM metadata"), "9");
    ck_assert_str_eq(query_text(db, "SELECT value FROM metadata WHERE name = 'json'"),
                     "{\"tileSize\":256}");
    ck_assert_str_eq(query_text(db, "SELECT value FROM metadata WHERE name = 'format'"), "webp");
    sqlite3_close(db);
}
END_TEST

/* The inverse Gudermannian of the tiles' edges and of their middle, by 50-digit arithmetic. */
static const struct {
    int z;
    int64_t x0, y0, x1, y1;
    double edges[4], center[3];
} bounds[] = {
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

/* Compares the numbers in VALUE; a nanometre shows. */
static void must_be_near(const char *value, const double *expected, int count)
{
    for (int i = 0; i < count; i++) {
        char *end;
        double number = strtod(value, &end);
        must(fabs(number - expected[i]) < 1e-13 * 180, "%s: %.17g, not %.17g", value, number,
             expected[i]);
        must(*end == (i < count - 1 ? ',' : '\0'), "%s", value);
        value = end + 1;
    }
}

START_TEST(test_bounds)
{
    struct tileset changed = everything;
    struct mbtiles *archive;
    tileset_set_bounds(&changed, bounds[_i].z, bounds[_i].x0, bounds[_i].y0, bounds[_i].x1,
                       bounds[_i].y1);
    ck_assert_int_eq(mbtiles_new(&archive, file, &changed), 0);
    must_be_finished(archive);
    sqlite3 *db = db_open();
    must_be_near(query_text(db, "SELECT value FROM metadata WHERE name = 'bounds'"),
                 bounds[_i].edges, 4);
    must_be_near(query_text(db, "SELECT value FROM metadata WHERE name = 'center'"),
                 bounds[_i].center, 3);
    sqlite3_close(db);
}
END_TEST

static const struct {
    int z;
    int64_t x, y;
} out_of_range[] = {
    {-1, 0, 0}, {13, 0, 0}, {3, 8, 0},         {3, 0, 8},
    {3, -1, 0}, {3, 0, -1}, {0, 0, INT64_MIN}, {0, INT64_MAX, 0},
};

START_TEST(test_out_of_range)
{
    struct mbtiles *archive = archive_new();
    for (int i = 0; i < ROWS(out_of_range); i++)
        ck_assert_msg(put(archive, out_of_range[i].z, out_of_range[i].x, out_of_range[i].y) ==
                          -ERANGE,
                      "%d/%jd/%jd", out_of_range[i].z, (intmax_t)out_of_range[i].x,
                      (intmax_t)out_of_range[i].y);
    ck_assert_int_eq(put(archive, 3, 7, 7), 0);
    must_be_finished(archive);
}
END_TEST

START_TEST(test_invalid)
{
    static const struct tileset invalid[] = {
        {.name = "a", .west = -1, .south = -1, .east = 1, .north = 1},
        {.format = "png", .zoom_max = 1, .west = -1, .south = -1, .east = 1, .north = 1},
        {.name = "a",
         .format = "png",
         .zoom_min = 2,
         .zoom_max = 1,
         .west = -1,
         .south = -1,
         .east = 1,
         .north = 1},
        {.name = "a",
         .format = "png",
         .zoom_min = -1,
         .west = -1,
         .south = -1,
         .east = 1,
         .north = 1},
        {.name = "a",
         .format = "png",
         .zoom_max = 31,
         .west = -1,
         .south = -1,
         .east = 1,
         .north = 1},
        {.name = "a", .format = "png", .west = 1, .south = -1, .east = 1, .north = 1},
        {.name = "a", .format = "png", .west = -1, .south = 1, .east = 1, .north = -1},
        {.name = "a", .format = "png", .west = -181, .south = -1, .east = 1, .north = 1},
        {.name = "a", .format = "png", .west = -1, .south = -90, .east = 1, .north = 1},
        {.name = "a", .format = "png", .west = -1, .south = -1, .east = 1, .north = 0.0 / 0.0},
    };
    struct mbtiles *archive;
    for (int i = 0; i < ROWS(invalid); i++) {
        ck_assert_msg(mbtiles_new(&archive, file, &invalid[i]) == -EINVAL, "row %d", i);
        ck_assert(!file_exists(unfinished));
    }
}
END_TEST

/* SQLite's overhead for tiles as small as real ones get. */
START_TEST(test_size)
{
    uint64_t state = 3, sum = 0;
    struct stat status;
    struct mbtiles *archive = archive_new();
    for (int i = 0; i < 4096; i++) {
        struct blob *png = noise((size_t)(4000 + chance_below(&state, 8000)), (uint64_t)i);
        ck_assert_int_eq(mbtiles_put(archive, 12, i % 64, i / 64, png), 0);
        sum += png->length;
        blob_release(png);
    }
    must_be_finished(archive);
    ck_assert_int_eq(stat(file, &status), 0);
    ck_assert_msg((double)status.st_size < 1.06 * (double)sum, "%jd bytes of %ju",
                  (intmax_t)status.st_size, (uintmax_t)sum);
}
END_TEST

enum { THREADS = 4, COLUMN = 700 };

struct putter {
    struct mbtiles *archive;
    pthread_t thread;
    int column, err;
};

static void *put_column(void *argument)
{
    struct putter *putter = argument;
    for (int y = 0; y < COLUMN && !putter->err; y++)
        putter->err = put(putter->archive, 12, putter->column, y);
    return NULL;
}

START_TEST(test_threads)
{
    struct putter putters[THREADS];
    struct mbtiles *archive = archive_new();
    for (int i = 0; i < THREADS; i++) {
        putters[i] = (struct putter){.archive = archive, .column = i};
        ck_assert_int_eq(pthread_create(&putters[i].thread, NULL, put_column, &putters[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(putters[i].thread, NULL);
        ck_assert_int_eq(putters[i].err, 0);
    }
    must_be_finished(archive);
    sqlite3 *db = db_open();
    must_be_whole(db, THREADS * COLUMN);
    for (int i = 0; i < THREADS; i++)
        for (int y = 0; y < COLUMN; y++)
            must_have(db, 12, i, y);
    sqlite3_close(db);
}
END_TEST

static int begin(struct mbtiles **archive)
{
    return mbtiles_new(archive, file, &everything);
}

enum { PLAIN, DANGLING, DIRECTORY, FIFO, EMPTY, TORN, OTHER_SQLITE, KINDS };

/* Create a file of KIND at PATH. */
static void make(const char *path, int kind)
{
    sqlite3 *db;
    switch (kind) {
    case PLAIN:
        file_write(path, "mine", 4);
        break;
    case DANGLING:
        ck_assert_int_eq(symlink("nowhere", path), 0);
        break;
    case DIRECTORY:
        ck_assert_int_eq(mkdir(path, 0777), 0);
        break;
    case FIFO:
        ck_assert_int_eq(mkfifo(path, 0666), 0);
        break;
    case EMPTY:
        file_write(path, "", 0);
        break;
    case TORN:
        file_write(path, "SQLite format 3", 16);
        break;
    default:
        ck_assert_int_eq(sqlite3_open(path, &db), SQLITE_OK);
        ck_assert_int_eq(sqlite3_exec(db, "CREATE TABLE t (a)", NULL, NULL, NULL), SQLITE_OK);
        sqlite3_close(db);
    }
}

/* An existing file of any kind is kept. */
START_TEST(test_existing)
{
    struct stat before, after;
    struct mbtiles *archive = NULL;
    make(file, _i);
    ck_assert_int_eq(lstat(file, &before), 0);
    ck_assert_int_eq(begin(&archive), -EEXIST);
    ck_assert_int_eq(lstat(file, &after), 0);
    ck_assert(before.st_ino == after.st_ino && before.st_size == after.st_size);
    ck_assert(!file_exists(unfinished));
}
END_TEST

/* So is a file that appears while the archive is written. */
START_TEST(test_meanwhile)
{
    struct stat before, after;
    struct mbtiles *archive = archive_new();
    refused_flags = _i < KINDS ? 0 : RENAME_NOREPLACE;
    make(file, _i % KINDS);
    ck_assert_int_eq(lstat(file, &before), 0);
    ck_assert_int_eq(put(archive, 0, 0, 0), 0);
    ck_assert_int_eq(mbtiles_finish(archive), -EEXIST);
    mbtiles_free(archive);
    ck_assert_int_eq(lstat(file, &after), 0);
    ck_assert(before.st_ino == after.st_ino && before.st_size == after.st_size);
    ck_assert(!file_exists(unfinished));
}
END_TEST

START_TEST(test_simple_file_system)
{
    struct mbtiles *archive = archive_new();
    refused_flags = RENAME_NOREPLACE;
    ck_assert_int_eq(put(archive, 0, 0, 0), 0);
    must_be_finished(archive);
    sqlite3 *db = db_open();
    must_be_whole(db, 1);
    sqlite3_close(db);
}
END_TEST

/* FILE.unfinished is overwritten only if a dead run left it. */
START_TEST(test_in_the_way)
{
    struct stat before, after;
    struct mbtiles *archive = NULL;
    make(unfinished, _i);
    ck_assert_int_eq(lstat(unfinished, &before), 0);
    int err = begin(&archive);
    if (_i == EMPTY) {
        ck_assert_int_eq(err, 0);
        must_be_finished(archive);
    } else {
        ck_assert_int_eq(err, -ENOTUNIQ);
        ck_assert_int_eq(lstat(unfinished, &after), 0);
        ck_assert(before.st_ino == after.st_ino && before.st_size == after.st_size);
    }
}
END_TEST

/* A process that puts COUNT tiles, writes "y" to READY and pauses. */
static pid_t fork_writer(int count, int ready)
{
    pid_t pid = fork();
    ck_assert_int_ge(pid, 0);
    if (pid == 0) {
        struct mbtiles *archive;
        int err = begin(&archive);
        for (int i = 0; i < count && !err; i++)
            err = put(archive, 12, i, 0);
        if (write(ready, err ? "n" : "y", 1) == 1)
            pause();
        _exit(1);
    }
    return pid;
}

/* Killed before the first tile, in the first transaction, and in a later one. */
START_TEST(test_killed)
{
    static const int counts[] = {0, 100, 2000};
    int ready[2];
    char reply = 0;
    struct mbtiles *archive = NULL;
    ck_assert_int_eq(pipe(ready), 0);
    pid_t pid = fork_writer(counts[_i], ready[1]);
    ck_assert_int_eq(read(ready[0], &reply, 1), 1);
    ck_assert_int_eq(reply, 'y');
    ck_assert_int_eq(begin(&archive), -EBUSY); /* while it runs */
    kill(pid, SIGKILL);
    ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
    ck_assert(file_exists(unfinished));
    ck_assert(!file_exists(file));
    ck_assert_int_eq(begin(&archive), 0);
    ck_assert_int_eq(put(archive, 3, 1, 2), 0);
    must_be_finished(archive);
    sqlite3 *db = db_open();
    must_be_whole(db, 1); /* nothing of the killed run */
    must_have(db, 3, 1, 2);
    sqlite3_close(db);
    close(ready[0]);
    close(ready[1]);
}
END_TEST

START_TEST(test_two_at_once)
{
    struct mbtiles *first = archive_new(), *second = NULL;
    ck_assert_int_eq(begin(&second), -EBUSY);
    ck_assert_int_eq(put(first, 1, 1, 0), 0);
    mbtiles_free(first);
    ck_assert(!file_exists(unfinished) && !file_exists(file));
    first = archive_new();
    ck_assert_int_eq(put(first, 1, 1, 0), 0);
    ck_assert_int_eq(begin(&second), -EBUSY);
    must_be_finished(first);
    ck_assert_int_eq(begin(&second), -EEXIST);
    mbtiles_free(NULL);
}
END_TEST

/* FILE.unfinished is deleted and a second run begins: neither touches the other's file. */
START_TEST(test_deleted)
{
    struct mbtiles *first = archive_new(), *second;
    remove(unfinished);
    ck_assert_int_eq(put(first, 1, 1, 0), 0);
    second = archive_new();
    syncs = 0;
    ck_assert_int_eq(mbtiles_finish(first), -ENOENT);
    mbtiles_free(first);
    ck_assert(file_exists(unfinished));
    ck_assert_int_eq(put(second, 1, 0, 0), 0);
    must_be_finished(second);
    sqlite3 *db = db_open();
    must_be_whole(db, 1);
    must_have(db, 1, 0, 0);
    sqlite3_close(db);
}
END_TEST

/* FILE.unfinished is deleted, or finished by another run, between its opening and its lock. */
START_TEST(test_lost)
{
    struct mbtiles *archive = NULL;
    make(unfinished, EMPTY);
    lost_name = "";
    archive = archive_new();
    ck_assert_ptr_null(lost_name);
    must_be_finished(archive);
    ck_assert_int_eq(rename(file, unfinished), 0);
    lost_name = file;
    ck_assert_int_eq(begin(&archive), -EEXIST);
    ck_assert_ptr_null(lost_name);
    ck_assert(!file_exists(unfinished));
    sqlite3 *db = db_open();
    must_be_whole(db, 0);
    sqlite3_close(db);
}
END_TEST

/* Put COUNT tiles, or until one fails, and finish. Returns the error. */
static int put_until(struct mbtiles *archive, int count)
{
    int err = 0;
    for (int i = 0; i < count && !err; i++)
        err = put(archive, 12, i, 5);
    if (err)
        ck_assert_int_eq(put(archive, 12, 0, 6), err); /* errors are final */
    syncs = 0;
    int end = mbtiles_finish(archive);
    if (err)
        ck_assert_int_eq(end, err);
    return end;
}

START_TEST(test_no_room)
{
    static const struct {
        rlim_t room;
        int tiles;
    } disks[] = {{0, 1}, {1, 1}, {2048, 1}, {20000, 1}, {20000, 2000}, {9000000, 2000}};
    struct rlimit limit, small;
    char why[UNFINISHED_FILE_WHY];
    ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &limit), 0);
    signal(SIGXFSZ, SIG_IGN);
    for (int i = 0; i < ROWS(disks); i++) {
        struct mbtiles *archive = NULL;
        small = (struct rlimit){disks[i].room, limit.rlim_max};
        setrlimit(RLIMIT_FSIZE, &small); /* libcheck writes files, too */
        int err = begin(&archive);
        if (!err)
            err = put_until(archive, disks[i].tiles);
        setrlimit(RLIMIT_FSIZE, &limit);
        ck_assert_msg(err == -EFBIG, "%ju bytes of room: %d", (uintmax_t)disks[i].room, err);
        unfinished_file_explain(file, err, mbtiles_detail(archive), why);
        ck_assert_msg(strncmp(why, file, strlen(file)) == 0 && strstr(why, strerror(EFBIG)), "%s",
                      why);
        mbtiles_free(archive);
        ck_assert(!file_exists(unfinished) && !file_exists(file));
    }
    must_be_finished(archive_new());
}
END_TEST

static int write_errno;  /* of failing writes */
static long writes_left; /* that still succeed */
static sqlite3_vfs *vfs;

static ssize_t broken_write(int fd, const void *bytes, size_t length)
{
    if (writes_left-- > 0)
        return syscall(SYS_write, fd, bytes, length);
    errno = write_errno;
    return -1;
}

static ssize_t broken_pwrite(int fd, const void *bytes, size_t length, off_t at)
{
    if (writes_left-- > 0)
        return syscall(SYS_pwrite64, fd, bytes, length, at);
    errno = write_errno;
    return -1;
}

static void break_writes(void)
{
    vfs = sqlite3_vfs_find("unix-none");
    vfs->xSetSystemCall(vfs, "write", (sqlite3_syscall_ptr)broken_write);
    vfs->xSetSystemCall(vfs, "pwrite", (sqlite3_syscall_ptr)broken_pwrite);
    vfs->xSetSystemCall(vfs, "pwrite64", (sqlite3_syscall_ptr)broken_pwrite);
}

static const struct {
    int error;
    const char *detail; /* in SQLite's message */
} faults[] = {
    {ENOSPC, "full"},
    {EDQUOT, "I/O"},
    {EIO, "I/O"},
    {EROFS, "I/O"},
};

START_TEST(test_broken_disk)
{
    char why[UNFINISHED_FILE_WHY];
    int begun = 0, failures = 0;
    break_writes();
    write_errno = faults[_i].error;
    /* Writes fail from the first on, from the second on, ..., and after thousands. */
    for (long good = 0; good < 20000; good += good < 12 ? 1 : good) {
        struct mbtiles *archive = NULL;
        writes_left = good;
        int err = begin(&archive);
        if (!err) {
            begun++;
            err = put_until(archive, 700);
        }
        if (!err) { /* GOOD writes suffice */
            ck_assert_int_ge(writes_left, 0);
            mbtiles_free(archive);
            break;
        }
        failures++;
        must(err == -write_errno, "after %ld writes: %s", good, strerror(-err));
        if (archive) {
            unfinished_file_explain(file, err, mbtiles_detail(archive), why);
            ck_assert_msg(strstr(why, strerror(write_errno)) && strstr(why, faults[_i].detail),
                          "%s", why);
        }
        mbtiles_free(archive);
        ck_assert(!file_exists(unfinished) && !file_exists(file));
    }
    ck_assert_int_gt(begun, 3);
    ck_assert_int_gt(failures, begun);
}
END_TEST

/* An error that only fsync reports. */
START_TEST(test_late_fault)
{
    struct mbtiles *archive = archive_new();
    ck_assert_int_eq(put(archive, 0, 0, 0), 0);
    refused_sync = EIO;
    ck_assert_int_eq(mbtiles_finish(archive), -EIO);
    mbtiles_free(archive);
    ck_assert(!file_exists(unfinished) && !file_exists(file));
}
END_TEST

START_TEST(test_names)
{
    static const struct {
        const char *name;
        int err;
    } names[] = {
        {"plain", 0},
        {"file:memory?mode=memory", 0}, /* special to SQLite, but plain file names here */
        {":memory:", 0},
        {"a b%20c'\"\\;--", 0},
        {"-o", 0},
        {"../x.mbtiles", 0},
        {"", -ENOENT},
        {".", -EEXIST},
        {"nowhere/x.mbtiles", -ENOENT},
        {"new/", -ENOENT},
        {"plain/x", -ENOTDIR},
    };
    char below[FOLDER_TEXT + 16];
    struct mbtiles *archive;
    snprintf(below, sizeof below, "%s/below", directory);
    ck_assert_int_eq(mkdir(below, 0777), 0);
    ck_assert_int_eq(chdir(below), 0);
    for (int i = 0; i < ROWS(names); i++) {
        int err = mbtiles_new(&archive, names[i].name, &everything);
        ck_assert_msg(err == names[i].err, "%s: %s", names[i].name, strerror(-err));
        if (err)
            continue;
        syncs = 0;
        ck_assert_int_eq(mbtiles_finish(archive), 0);
        mbtiles_free(archive);
        struct blob *bytes = file_read(names[i].name);
        ck_assert_msg(bytes && bytes->length > 4096 && memcmp(bytes->bytes, "SQLite", 6) == 0, "%s",
                      names[i].name);
        blob_release(bytes);
    }
}
END_TEST

/* Names up to the system's limit, which is beyond SQLite's. */
START_TEST(test_long_names)
{
    char name[4200];
    struct mbtiles *archive = NULL;
    for (size_t length = 1; length < sizeof name; length += length < 600 ? 7 : 17) {
        for (size_t i = 0; i < length; i++)
            name[i] = i % 200 == 199 ? '/' : i < length / 200 * 200 ? 'd' : 'n';
        name[length] = '\0';
        ck_assert_int_eq(chdir(directory), 0);
        for (char *slash = strchr(name, '/'); slash; slash = strchr(slash + 1, '/')) {
            *slash = '\0';
            mkdir(name, 0777);
            *slash = '/';
        }
        int err = mbtiles_new(&archive, name, &everything);
        if (!err) {
            syncs = 0;
            must(mbtiles_finish(archive) == 0, "%zu", length);
            mbtiles_free(archive);
            must(file_exists(name), "%zu", length);
        } else {
            must(err == (name[length - 1] == '/' ? -EEXIST : -ENAMETOOLONG), "%zu: %s", length,
                 strerror(-err));
            must(length > 400 || name[length - 1] == '/', "%zu: too long", length);
        }
    }
}
END_TEST

START_TEST(test_explanations)
{
    static const struct {
        int err;
        const char *why;
    } rows[] = {
        {-EEXIST, "a.mbtiles: file exists; archives are never overwritten"},
        {-EBUSY, "a.mbtiles.unfinished: another run is writing it"},
        {-ENOTUNIQ, "a.mbtiles.unfinished: file exists and is not an interrupted archive"},
        {-ENOSPC, "a.mbtiles: No space left on device"},
    };
    char why[UNFINISHED_FILE_WHY], *name = malloc(2000);
    for (int i = 0; i < ROWS(rows); i++)
        ck_assert_str_eq(unfinished_file_explain("a.mbtiles", rows[i].err, NULL, why), rows[i].why);
    memset(name, 'n', 1999);
    name[1999] = '\0';
    ck_assert_uint_eq(strlen(unfinished_file_explain(name, -EBUSY, NULL, why)),
                      UNFINISHED_FILE_WHY - 1);
    free(name);
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
    tcase_add_loop_test(tcase, test_bounds, 0, ROWS(bounds));
    tcase_add_test(tcase, test_out_of_range);
    tcase_add_test(tcase, test_invalid);
    tcase_add_test(tcase, test_size);
    tcase_add_test(tcase, test_threads);
    tcase = suite_case(suite, "files");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_loop_test(tcase, test_existing, 0, KINDS);
    tcase_add_loop_test(tcase, test_meanwhile, 0, 2 * KINDS);
    tcase_add_test(tcase, test_simple_file_system);
    tcase_add_loop_test(tcase, test_in_the_way, 0, KINDS);
    tcase_add_loop_test(tcase, test_killed, 0, 3);
    tcase_add_test(tcase, test_two_at_once);
    tcase_add_test(tcase, test_deleted);
    tcase_add_test(tcase, test_lost);
    tcase_add_test(tcase, test_no_room);
    tcase_add_loop_test(tcase, test_broken_disk, 0, ROWS(faults));
    tcase_add_test(tcase, test_late_fault);
    tcase_add_test(tcase, test_names);
    tcase_add_test(tcase, test_long_names);
    tcase_add_test(tcase, test_explanations);
    return suite_run(suite);
}
