#include "mbtiles.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "config/exact_numbers.h"
#include "server/prerender/atomic_file.h"
#include "server/prerender/page_packing.h"

/* Tiles are written together, as many as this or as many bytes. */
enum { BATCH_TILES = PACKING_ROWS, BATCH_BYTES = 8 << 20 };

/* Of SQLite's header: https://www.sqlite.org/fileformat2.html, 1.3. */
enum { HEADER_BYTES = 100, HEADER_APPLICATION = 68 };
static const char header_magic[] = "SQLite format 3";
static const uint8_t application[4] = {'M', 'P', 'B', 'X'};

/*
 * Nobody reads the file before it is whole, and what is not whole is thrown away: no journal, no
 * flushing until the end. The index of tiles grows with them: to sort it at the end would want room
 * on another disk.
 */
_Static_assert(PACKING_PAGE == 2048, "the page size below");
static const char schema[] = "PRAGMA page_size = 2048;"
                             "PRAGMA auto_vacuum = NONE;"
                             "PRAGMA journal_mode = OFF;"
                             "PRAGMA synchronous = OFF;"
                             "PRAGMA locking_mode = EXCLUSIVE;"
                             "PRAGMA temp_store = MEMORY;"
                             "PRAGMA cache_size = -32768;" /* KiB */
                             "PRAGMA application_id = 0x4d504258;"
                             "BEGIN;"
                             "CREATE TABLE metadata (name text, value text);"
                             "CREATE UNIQUE INDEX metadata_index ON metadata (name);"
                             "CREATE TABLE tiles (zoom_level integer, tile_column integer,"
                             " tile_row integer, tile_data blob);"
                             "CREATE UNIQUE INDEX tile_index"
                             " ON tiles (zoom_level, tile_column, tile_row);";

struct row {
    int zoom;
    int64_t column, row; /* row 0 is the southernmost, as in TMS */
    struct blob *png;
};

struct batch {
    int count;
    size_t bytes;
    struct row rows[BATCH_TILES];
};

struct mbtiles {
    struct atomic_file *unfinished;
    sqlite3 *db;
    sqlite3_stmt *insert;
    int zoom_min, zoom_max;
    pthread_mutex_t filling_lock; /* before the other, where both are taken */
    pthread_mutex_t writing_lock; /* over DB, and the batch that is not being filled */
    struct batch batches[2];
    struct batch *filling;
    int room;      /* in the leaf that the next row goes to, as far as is known */
    int64_t rows;  /* written */
    int err;       /* atomic: what spoilt the archive, or 0 */
    char why[256]; /* what SQLite said of that; written before ERR */
};

/* --- SQLite ------------------------------------------------------------------ */

/* What RESULT is as a negative code. */
static int code_of(sqlite3 *db, int result)
{
    int why = 0;
    switch (result & 0xff) {
    case SQLITE_OK:
    case SQLITE_ROW:
    case SQLITE_DONE:
        return 0;
    case SQLITE_NOMEM:
        return -ENOMEM;
    case SQLITE_FULL:
        return -ENOSPC;
    case SQLITE_TOOBIG:
        return -EFBIG;
    case SQLITE_CANTOPEN:
        /* We have just made the file: it is SQLite's paths that end at 512 bytes. */
        why = sqlite3_system_errno(db);
        why = why == ENOENT ? ENAMETOOLONG : why;
        break;
    default:
        sqlite3_file_control(db, NULL, SQLITE_FCNTL_LAST_ERRNO, &why);
    }
    return why > 0 ? -why : -EIO;
}

/* The negative code of RESULT; the first that is one spoils the archive. */
static int judge(struct mbtiles *archive, int result)
{
    int err = code_of(archive->db, result);
    if (err && !__atomic_load_n(&archive->err, __ATOMIC_RELAXED)) {
        snprintf(archive->why, sizeof archive->why, "%s", sqlite3_errmsg(archive->db));
        __atomic_store_n(&archive->err, err, __ATOMIC_RELEASE);
    }
    return err;
}

static int execute(struct mbtiles *archive, const char *sql)
{
    return judge(archive, sqlite3_exec(archive->db, sql, NULL, NULL, NULL));
}

/* --- What it says of itself ---------------------------------------------------- */

static double longitude(double u)
{
    return 360 * u - 180;
}

static double latitude(double v)
{
    return atan(sinh(M_PI * (1 - 2 * v))) * 180 / M_PI;
}

void mbtiles_window(struct mbtiles_about *about, int z, int64_t x0, int64_t y0, int64_t x1,
                    int64_t y1)
{
    about->west = longitude(ldexp((double)x0, -z));
    about->east = longitude(ldexp((double)x1, -z));
    about->north = latitude(ldexp((double)y0, -z));
    about->south = latitude(ldexp((double)y1, -z));
}

static bool is_possible(const struct mbtiles_about *about)
{
    return about->name && about->zoom_min >= 0 && about->zoom_min <= about->zoom_max &&
           about->zoom_max <= MBTILES_ZOOM_MAX && about->west >= -180 &&
           about->west < about->east && about->east <= 180 && about->south > -90 &&
           about->south < about->north && about->north < 90;
}

/* The middle as the map shows it, and the zoom at which what is there fills a screen of four
 * tiles. */
static void format_center(const struct mbtiles_about *about, char *out, size_t size)
{
    const double rise =
        asinh(tan(about->south * M_PI / 180)) + asinh(tan(about->north * M_PI / 180));
    const double wide = floor(log2(4 * 360 / (about->east - about->west)));
    const int zoom = wide < about->zoom_min   ? about->zoom_min
                     : wide > about->zoom_max ? about->zoom_max
                                              : (int)wide;
    char x[REAL_TEXT], y[REAL_TEXT];
    snprintf(out, size, "%s,%s,%d", real_format((about->west + about->east) / 2, x),
             real_format(atan(sinh(rise / 2)) * 180 / M_PI, y), zoom);
}

static void format_bounds(const struct mbtiles_about *about, char *out, size_t size)
{
    char west[REAL_TEXT], south[REAL_TEXT], east[REAL_TEXT], north[REAL_TEXT];
    snprintf(out, size, "%s,%s,%s,%s", real_format(about->west, west),
             real_format(about->south, south), real_format(about->east, east),
             real_format(about->north, north));
}

static int put_metadata(struct mbtiles *archive, const struct mbtiles_about *about)
{
    char bounds[4 * REAL_TEXT], center[3 * REAL_TEXT], least[16], most[16], version[16];
    format_bounds(about, bounds, sizeof bounds);
    format_center(about, center, sizeof center);
    snprintf(least, sizeof least, "%d", about->zoom_min);
    snprintf(most, sizeof most, "%d", about->zoom_max);
    snprintf(version, sizeof version, "%d", about->version);
    const struct {
        const char *name, *value;
    } pairs[] = {
        {"name", about->name},
        {"format", "png"},
        {"bounds", bounds},
        {"center", center},
        {"minzoom", least},
        {"maxzoom", most},
        {"description", about->description},
        {"type", "baselayer"}, /* no tile lets anything through */
        {"version", about->version ? version : NULL},
        /* Servers hand on what they do not know in their TileJSON, where maps look for this. */
        {"encoding", about->encoding},
        {"fingerprint", about->fingerprint},
    };
    sqlite3_stmt *insert;
    int err = judge(archive, sqlite3_prepare_v2(archive->db, "INSERT INTO metadata VALUES (?, ?)",
                                                -1, &insert, NULL));
    if (err)
        return err;
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs && !err; i++) {
        if (!pairs[i].value)
            continue;
        sqlite3_bind_text(insert, 1, pairs[i].name, -1, SQLITE_STATIC);
        sqlite3_bind_text(insert, 2, pairs[i].value, -1, SQLITE_STATIC);
        err = judge(archive, sqlite3_step(insert));
        sqlite3_reset(insert);
    }
    sqlite3_finalize(insert);
    return err;
}

/* --- Life ---------------------------------------------------------------------- */

/* Whether it begins as an archive does: from its first moment on. */
static bool is_archive(int fd)
{
    uint8_t header[HEADER_BYTES];
    return pread(fd, header, sizeof header, 0) == sizeof header &&
           memcmp(header, header_magic, sizeof header_magic) == 0 &&
           memcmp(header + HEADER_APPLICATION, application, sizeof application) == 0;
}

static void close_db(struct mbtiles *archive)
{
    sqlite3_finalize(archive->insert);
    sqlite3_close(archive->db);
    archive->insert = NULL;
    archive->db = NULL;
}

/* Without SQLite's locks, as the file has one already. */
static int open_db(struct mbtiles *archive, const struct mbtiles_about *about)
{
    static const char insert[] = "INSERT OR IGNORE INTO tiles VALUES (?, ?, ?, ?)";
    int err =
        judge(archive, sqlite3_open_v2(atomic_file_path(archive->unfinished), &archive->db,
                                       SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, "unix-none"));
    if (!err)
        err = execute(archive, schema);
    if (!err)
        err = put_metadata(archive, about);
    if (!err)
        err = execute(archive, "COMMIT");
    if (!err)
        err = judge(archive, sqlite3_prepare_v3(archive->db, insert, -1, SQLITE_PREPARE_PERSISTENT,
                                                &archive->insert, NULL));
    return err;
}

int mbtiles_new(struct mbtiles **out, const char *file, const struct mbtiles_about *about)
{
    if (!is_possible(about))
        return -EINVAL;
    struct mbtiles *archive = calloc(1, sizeof *archive);
    if (!archive)
        return -ENOMEM;
    archive->zoom_min = about->zoom_min;
    archive->zoom_max = about->zoom_max;
    archive->filling = archive->batches;
    int err = -pthread_mutex_init(&archive->filling_lock, NULL);
    if (err)
        goto fail_filling_lock;
    err = -pthread_mutex_init(&archive->writing_lock, NULL);
    if (err)
        goto fail_writing_lock;
    err = atomic_file_new(&archive->unfinished, file, is_archive);
    if (err)
        goto fail_unfinished;
    err = open_db(archive, about);
    if (err)
        goto fail_db;
    *out = archive;
    return 0;

fail_db:
    close_db(archive);
    atomic_file_free(archive->unfinished);
fail_unfinished:
    pthread_mutex_destroy(&archive->writing_lock);
fail_writing_lock:
    pthread_mutex_destroy(&archive->filling_lock);
fail_filling_lock:
    free(archive);
    return err;
}

static void empty(struct batch *batch)
{
    for (int i = 0; i < batch->count; i++)
        blob_release(batch->rows[i].png);
    batch->count = 0;
    batch->bytes = 0;
}

void mbtiles_free(struct mbtiles *archive)
{
    if (!archive)
        return;
    empty(&archive->batches[0]);
    empty(&archive->batches[1]);
    close_db(archive);
    atomic_file_free(archive->unfinished);
    pthread_mutex_destroy(&archive->writing_lock);
    pthread_mutex_destroy(&archive->filling_lock);
    free(archive);
}

/* --- Tiles --------------------------------------------------------------------- */

static int write_row(struct mbtiles *archive, const struct row *row)
{
    sqlite3_stmt *insert = archive->insert;
    sqlite3_bind_int(insert, 1, row->zoom);
    sqlite3_bind_int64(insert, 2, row->column);
    sqlite3_bind_int64(insert, 3, row->row);
    sqlite3_bind_blob64(insert, 4, row->png->bytes, row->png->length, SQLITE_STATIC);
    int err = judge(archive, sqlite3_step(insert));
    sqlite3_reset(insert);
    return err;
}

static void order_batch(struct mbtiles *archive, const struct batch *batch, int order[BATCH_TILES])
{
    int cells[BATCH_TILES];
    for (int i = 0; i < batch->count; i++) {
        const struct row *row = &batch->rows[i];
        cells[i] = packing_cell(archive->rows + batch->count,
                                (int64_t[]){row->zoom, row->column, row->row}, 3, row->png->length);
    }
    packing_order(&archive->room, cells, batch->count, order);
    archive->rows += batch->count;
}

/* Under WRITING_LOCK. */
static int write_batch(struct mbtiles *archive, struct batch *batch)
{
    int order[BATCH_TILES];
    int err = __atomic_load_n(&archive->err, __ATOMIC_ACQUIRE);
    order_batch(archive, batch, order);
    if (!err)
        err = execute(archive, "BEGIN");
    for (int i = 0; i < batch->count && !err; i++)
        err = write_row(archive, &batch->rows[order[i]]);
    if (!err)
        err = execute(archive, "COMMIT");
    empty(batch);
    return err;
}

/* The batch that is full is written while others fill the next. Under FILLING_LOCK, which it gives
 * up. */
static int write_filled(struct mbtiles *archive)
{
    struct batch *filled = archive->filling;
    pthread_mutex_lock(&archive->writing_lock);
    archive->filling = filled == archive->batches ? archive->batches + 1 : archive->batches;
    pthread_mutex_unlock(&archive->filling_lock);
    int err = write_batch(archive, filled);
    pthread_mutex_unlock(&archive->writing_lock);
    return err;
}

int mbtiles_put(struct mbtiles *archive, int z, int64_t x, int64_t y, const struct blob *png)
{
    if (z < archive->zoom_min || z > archive->zoom_max || x < 0 || y < 0 || x >> z || y >> z)
        return -ERANGE;
    struct row row = {z, x, (INT64_C(1) << z) - 1 - y, blob_copy(png->bytes, png->length)};
    if (!row.png)
        return -ENOMEM;
    pthread_mutex_lock(&archive->filling_lock);
    struct batch *batch = archive->filling;
    batch->rows[batch->count++] = row;
    batch->bytes += png->length;
    if (batch->count == BATCH_TILES || batch->bytes >= BATCH_BYTES)
        return write_filled(archive);
    pthread_mutex_unlock(&archive->filling_lock);
    return __atomic_load_n(&archive->err, __ATOMIC_ACQUIRE);
}

int mbtiles_finish(struct mbtiles *archive)
{
    pthread_mutex_lock(&archive->filling_lock);
    int err = write_filled(archive);
    if (err)
        return err;
    close_db(archive);
    return atomic_file_finish(archive->unfinished);
}

/* --- For people ------------------------------------------------------------------ */

char *mbtiles_explain(const struct mbtiles *archive, const char *file, int err,
                      char why[MBTILES_WHY])
{
    const bool said = archive && __atomic_load_n(&archive->err, __ATOMIC_ACQUIRE);
    if (err == -EEXIST)
        snprintf(why, MBTILES_WHY, "%s: it exists; an archive is never overwritten", file);
    else if (err == -EBUSY)
        snprintf(why, MBTILES_WHY, "%s" ATOMIC_FILE_SUFFIX ": another run is writing it", file);
    else if (err == -ENOTUNIQ)
        snprintf(why, MBTILES_WHY,
                 "%s" ATOMIC_FILE_SUFFIX
                 ": it is in the way, and no archive left by an earlier run",
                 file);
    else
        snprintf(why, MBTILES_WHY, "%s: %s%s%s%s", file, strerror(-err), said ? " (" : "",
                 said ? archive->why : "", said ? ")" : "");
    return why;
}
