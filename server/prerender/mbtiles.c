#include "mbtiles.h"

#include <errno.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "config/values/exact_numbers.h"
#include "server/core/json.h"
#include "server/core/md5.h"
#include "server/prerender/unfinished_file.h"

/* Bounds a transaction's memory, and reveals write errors early. */
enum { TRANSACTION_TILES = 512 };

/* https://www.sqlite.org/fileformat2.html, 1.3 */
enum { HEADER_BYTES = 100, HEADER_APPLICATION = 68 };
static const char header_magic[] = "SQLite format 3";
static const uint8_t application_id[4] = {'M', 'P', 'B', 'X'};

/*
 * Until it is complete, nobody else reads the file, and a failed one is deleted: so there is no
 * journal, and no sync before the end. The index grows with the tiles, because building it at the
 * end would need temporary disk space. Small pages waste less space behind each tile.
 */
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

struct mbtiles {
    struct unfinished_file file;
    struct tileset tileset; /* only the zooms are used; the texts are the caller's */
    pthread_mutex_t lock;   /* protects the members below */
    sqlite3 *db;
    sqlite3_stmt *insert;
    int pending;   /* tiles in the open transaction */
    int err;       /* the first write error, or 0 */
    char why[256]; /* SQLite's text for ERR */
};

/* Recognizes an archive even if the writer was killed right after creating the file. */
static bool is_archive(int fd)
{
    uint8_t header[HEADER_BYTES];
    return pread(fd, header, sizeof header, 0) == sizeof header &&
           memcmp(header, header_magic, sizeof header_magic) == 0 &&
           memcmp(header + HEADER_APPLICATION, application_id, sizeof application_id) == 0;
}

static int error_code(sqlite3 *db, int result)
{
    int system_error = 0;
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
        /* The file was just created, so ENOENT can only mean SQLite's limit of 512 bytes a path. */
        system_error = sqlite3_system_errno(db);
        system_error = system_error == ENOENT ? ENAMETOOLONG : system_error;
        break;
    default:
        sqlite3_file_control(db, NULL, SQLITE_FCNTL_LAST_ERRNO, &system_error);
    }
    return system_error > 0 ? -system_error : -EIO;
}

/* Returns RESULT as a negative code. Keeps the first error. */
static int check(struct mbtiles *archive, int result)
{
    int err = error_code(archive->db, result);
    if (err && !archive->err) {
        snprintf(archive->why, sizeof archive->why, "%s", sqlite3_errmsg(archive->db));
        archive->err = err;
    }
    return err;
}

static int execute(struct mbtiles *archive, const char *sql)
{
    return check(archive, sqlite3_exec(archive->db, sql, NULL, NULL, NULL));
}

static void format_center(const struct tileset *tileset, char *out, size_t size)
{
    const struct tileset_center center = tileset_center(tileset);
    char x[REAL_TEXT], y[REAL_TEXT];
    snprintf(out, size, "%s,%s,%d", real_format(center.longitude, x),
             real_format(center.latitude, y), center.zoom);
}

static void format_bounds(const struct tileset *tileset, char *out, size_t size)
{
    char edges[4][REAL_TEXT];
    snprintf(out, size, "%s,%s,%s,%s", real_format(tileset->west, edges[0]),
             real_format(tileset->south, edges[1]), real_format(tileset->east, edges[2]),
             real_format(tileset->north, edges[3]));
}

/* The keys whose values are not text: tile servers add the keys of the row `json` to their
 * TileJSON. NULL if out of memory. */
static struct blob *further_keys(const struct tileset *tileset)
{
    struct json json = json_new(false);
    json_integer(&json, "tileSize", tileset->tile_size);
    if (tileset->encoding)
        json_string(&json, "encoding", tileset->encoding);
    return json_end(&json);
}

static int insert_metadata(struct mbtiles *archive, const struct tileset *tileset)
{
    /* Type: a map without transparency. Tile servers copy unknown keys to their TileJSON, where map
     * programs look for the encoding. */
    static const char format[] = "INSERT INTO metadata SELECT * FROM (VALUES"
                                 " ('name', %Q), ('format', %Q), ('bounds', %Q),"
                                 " ('center', %Q), ('minzoom', '%d'), ('maxzoom', '%d'),"
                                 " ('description', %Q), ('type', 'baselayer'),"
                                 " ('version', NULLIF('%d', '0')), ('encoding', %Q),"
                                 " ('fingerprint', %Q), ('attribution', %Q), ('json', '%.*q'))"
                                 " WHERE column2 NOT NULL";
    char bounds[4 * REAL_TEXT], center[3 * REAL_TEXT];
    struct blob *json = further_keys(tileset);
    if (!json)
        return -ENOMEM;
    format_bounds(tileset, bounds, sizeof bounds);
    format_center(tileset, center, sizeof center);
    char *sql = sqlite3_mprintf(format, tileset->name, tileset->format, bounds, center,
                                tileset->zoom_min, tileset->zoom_max, tileset->description,
                                tileset->version, tileset->encoding, tileset->fingerprint,
                                tileset->attribution, (int)json->length - 1, json->bytes);
    int err = sql ? execute(archive, sql) : -ENOMEM;
    sqlite3_free(sql);
    blob_release(json);
    return err;
}

static void close_db(struct mbtiles *archive)
{
    sqlite3_finalize(archive->insert);
    sqlite3_close(archive->db);
    archive->insert = NULL;
    archive->db = NULL;
}

/* SQLite's own locks are off, because unfinished_file_open has locked the file. */
static int open_db(struct mbtiles *archive, const struct tileset *tileset)
{
    static const char insert[] = "INSERT OR IGNORE INTO tiles VALUES (?, ?, ?, ?)";
    int err =
        check(archive, sqlite3_open_v2(archive->file.path, &archive->db,
                                       SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, "unix-none"));
    if (!err)
        err = execute(archive, schema);
    if (!err)
        err = insert_metadata(archive, tileset);
    if (!err)
        err = execute(archive, "COMMIT; BEGIN");
    if (!err)
        err = check(archive, sqlite3_prepare_v3(archive->db, insert, -1, SQLITE_PREPARE_PERSISTENT,
                                                &archive->insert, NULL));
    return err;
}

int mbtiles_new(struct mbtiles **out, const char *file, const struct tileset *tileset)
{
    if (!tileset_is_valid(tileset))
        return -EINVAL;
    struct mbtiles *archive = calloc(1, sizeof *archive);
    if (!archive)
        return -ENOMEM;
    archive->tileset = *tileset;
    pthread_mutex_init(&archive->lock, NULL);
    int err = unfinished_file_open(&archive->file, file, is_archive);
    if (!err)
        err = open_db(archive, tileset);
    if (err) {
        mbtiles_free(archive);
        return err;
    }
    *out = archive;
    return 0;
}

void mbtiles_free(struct mbtiles *archive)
{
    if (!archive)
        return;
    close_db(archive);
    unfinished_file_close(&archive->file);
    pthread_mutex_destroy(&archive->lock);
    free(archive);
}

/* ROW counts from the south, as TMS does. */
static int insert_tile(struct mbtiles *archive, int zoom, int64_t column, int64_t row,
                       const struct blob *png)
{
    sqlite3_stmt *insert = archive->insert;
    sqlite3_bind_int(insert, 1, zoom);
    sqlite3_bind_int64(insert, 2, column);
    sqlite3_bind_int64(insert, 3, row);
    sqlite3_bind_blob64(insert, 4, png->bytes, png->length, SQLITE_STATIC);
    int err = check(archive, sqlite3_step(insert));
    sqlite3_reset(insert);
    if (!err && ++archive->pending == TRANSACTION_TILES) {
        archive->pending = 0;
        err = execute(archive, "COMMIT; BEGIN");
    }
    return err;
}

int mbtiles_put(struct mbtiles *archive, int z, int64_t x, int64_t y, const struct blob *png)
{
    if (!tileset_has(&archive->tileset, z, x, y))
        return -ERANGE;
    pthread_mutex_lock(&archive->lock);
    int err = archive->err;
    if (!err)
        err = insert_tile(archive, z, x, (INT64_C(1) << z) - 1 - y, png);
    pthread_mutex_unlock(&archive->lock);
    return err;
}

/*
 * Insert the row agg_tiles_hash, which martin's `mbtiles validate` compares: the MD5 over all
 * tiles, ordered by zoom, column and row; for each, these three as text and then the tile's bytes
 * (https://github.com/maplibre/martin/blob/main/mbtiles/src/validation.rs, calc_agg_tiles_hash).
 */
static int hash_tiles(struct mbtiles *archive)
{
    static const char select[] = "SELECT zoom_level, tile_column, tile_row, tile_data FROM tiles"
                                 " ORDER BY zoom_level, tile_column, tile_row";
    char sql[128], digest[MD5_HEX];
    sqlite3_stmt *tiles;
    struct md5 md5;
    int result = SQLITE_DONE;
    int err = check(archive, sqlite3_prepare_v2(archive->db, select, -1, &tiles, NULL));
    if (err)
        return err;
    md5_begin(&md5);
    while ((result = sqlite3_step(tiles)) == SQLITE_ROW) {
        for (int i = 0; i < 3; i++) {
            const char *number = (const char *)sqlite3_column_text(tiles, i);
            md5_add(&md5, number ? number : "", number ? strlen(number) : 0);
        }
        const void *bytes = sqlite3_column_blob(tiles, 3);
        md5_add(&md5, bytes, (size_t)sqlite3_column_bytes(tiles, 3));
    }
    err = check(archive, result);
    sqlite3_finalize(tiles);
    if (err)
        return err;
    md5_end(&md5, digest);
    snprintf(sql, sizeof sql, "INSERT INTO metadata VALUES ('agg_tiles_hash', '%s')", digest);
    return execute(archive, sql);
}

int mbtiles_finish(struct mbtiles *archive)
{
    int err = archive->err;
    if (!err)
        err = hash_tiles(archive);
    if (!err)
        err = execute(archive, "COMMIT");
    if (err)
        return err;
    close_db(archive);
    return unfinished_file_finish(&archive->file);
}

const char *mbtiles_detail(const struct mbtiles *archive)
{
    return archive && archive->err ? archive->why : NULL;
}
