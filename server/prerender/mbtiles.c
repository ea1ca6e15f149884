#include "mbtiles.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "config/exact_numbers.h"
#include "server/core/json.h"
#include "server/core/md5.h"

#define SUFFIX ".unfinished"

/* FILE.unfinished may be renamed or deleted between opening and locking it. */
enum { ATTEMPTS = 64 };

/* Bounds the memory of a transaction, and shows write errors early. */
enum { TRANSACTION_TILES = 512 };

/* https://www.sqlite.org/fileformat2.html, 1.3 */
enum { HEADER_BYTES = 100, HEADER_APPLICATION = 68 };
static const char header_magic[] = "SQLite format 3";
static const uint8_t application_id[4] = {'M', 'P', 'B', 'X'};

/*
 * The file is private until it is complete, and is thrown away if it never is: no journal, and no
 * sync before the end. The index grows with the tiles, since building it at the end would need
 * temporary disk space. Small pages waste less behind each tile.
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
    char *file, *path; /* PATH: FILE.unfinished */
    int fd;            /* of PATH; holds the lock; less than 0: none, or finished */
    int zoom_min, zoom_max;
    pthread_mutex_t lock; /* of the members below */
    sqlite3 *db;
    sqlite3_stmt *insert;
    int pending;   /* tiles in the open transaction */
    int err;       /* the first write error, or 0 */
    char why[256]; /* SQLite's text for ERR */
};

/* Recognizes archives even if their writer was killed right after creating them. */
static bool is_archive(int fd)
{
    uint8_t header[HEADER_BYTES];
    return pread(fd, header, sizeof header, 0) == sizeof header &&
           memcmp(header, header_magic, sizeof header_magic) == 0 &&
           memcmp(header + HEADER_APPLICATION, application_id, sizeof application_id) == 0;
}

static bool exists(const char *path)
{
    struct stat status;
    return lstat(path, &status) == 0;
}

/* An OFD lock, so that it also excludes a second writer in this process. */
static int lock(int fd)
{
    struct flock all = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    if (fcntl(fd, F_OFD_SETLK, &all) == 0)
        return 0;
    return errno == EACCES || errno == EAGAIN ? -EBUSY : -errno;
}

static bool is_named(int fd, const char *path)
{
    struct stat open_one, named;
    return fstat(fd, &open_one) == 0 && lstat(path, &named) == 0 &&
           open_one.st_dev == named.st_dev && open_one.st_ino == named.st_ino;
}

/* FD is locked: its writer is dead. */
static int take_over(int fd)
{
    struct stat status;
    if (fstat(fd, &status))
        return -errno;
    if (!S_ISREG(status.st_mode) || (status.st_size > 0 && !is_archive(fd)))
        return -ENOTUNIQ;
    return ftruncate(fd, 0) ? -errno : 0;
}

/* Returns PATH's descriptor, locked and empty; -EAGAIN if PATH was renamed or deleted meanwhile. */
static int open_locked(const char *path)
{
    int fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0666);
    if (fd < 0)
        return errno == ELOOP || errno == EISDIR || errno == ENXIO ? -ENOTUNIQ : -errno;
    int err = lock(fd);
    if (!err && !is_named(fd, path))
        err = -EAGAIN;
    if (!err)
        err = take_over(fd);
    if (err)
        close(fd);
    return err ? err : fd;
}

static int open_unfinished(struct mbtiles *archive)
{
    for (int i = 0; i < ATTEMPTS; i++) {
        archive->fd = open_locked(archive->path);
        if (archive->fd >= 0) /* the last writer may have finished it */
            return exists(archive->file) ? -EEXIST : 0;
        if (archive->fd != -EAGAIN)
            return archive->fd;
    }
    return -EBUSY;
}

/* Create FILE.unfinished, locked and empty. */
static int create(struct mbtiles *archive, const char *file)
{
    if (!*file)
        return -ENOENT;
    if (exists(file))
        return -EEXIST;
    archive->file = strdup(file);
    /* SQLite must not mistake it for an option or a URI. */
    if (asprintf(&archive->path, "%s%s" SUFFIX, file[0] == '/' ? "" : "./", file) < 0)
        archive->path = NULL;
    return archive->file && archive->path ? open_unfinished(archive) : -ENOMEM;
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

/* Returns the negative code of RESULT, and keeps the first one. */
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

static double longitude(double u)
{
    return 360 * u - 180;
}

static double latitude(double v)
{
    return atan(sinh(M_PI * (1 - 2 * v))) * 180 / M_PI;
}

void mbtiles_set_bounds(struct mbtiles_metadata *metadata, int z, int64_t x0, int64_t y0,
                        int64_t x1, int64_t y1)
{
    metadata->west = longitude(ldexp((double)x0, -z));
    metadata->east = longitude(ldexp((double)x1, -z));
    metadata->north = latitude(ldexp((double)y0, -z));
    metadata->south = latitude(ldexp((double)y1, -z));
}

static bool is_valid(const struct mbtiles_metadata *metadata)
{
    return metadata->name && metadata->format && metadata->zoom_min >= 0 &&
           metadata->zoom_min <= metadata->zoom_max && metadata->zoom_max <= MBTILES_ZOOM_MAX &&
           metadata->west >= -180 && metadata->west < metadata->east && metadata->east <= 180 &&
           metadata->south > -90 && metadata->south < metadata->north && metadata->north < 90;
}

/* The centre in the map's projection, and the zoom at which the bounds are four tiles wide. */
static void format_center(const struct mbtiles_metadata *metadata, char *out, size_t size)
{
    const double middle =
        (asinh(tan(metadata->south * M_PI / 180)) + asinh(tan(metadata->north * M_PI / 180))) / 2;
    const double fit = floor(log2(4 * 360 / (metadata->east - metadata->west)));
    const double zoom = fmin(fmax(fit, metadata->zoom_min), metadata->zoom_max);
    char x[REAL_TEXT], y[REAL_TEXT];
    snprintf(out, size, "%s,%s,%.0f", real_format((metadata->west + metadata->east) / 2, x),
             real_format(atan(sinh(middle)) * 180 / M_PI, y), zoom);
}

static void format_bounds(const struct mbtiles_metadata *metadata, char *out, size_t size)
{
    char edges[4][REAL_TEXT];
    snprintf(out, size, "%s,%s,%s,%s", real_format(metadata->west, edges[0]),
             real_format(metadata->south, edges[1]), real_format(metadata->east, edges[2]),
             real_format(metadata->north, edges[3]));
}

/* Keys for the TileJSON of tile servers whose values are not text: they add the keys of `json`.
 * NULL: out of memory. */
static struct blob *further_keys(const struct mbtiles_metadata *metadata)
{
    struct json json = json_new();
    json_add(&json, json.root, "tileSize", cJSON_CreateNumber(metadata->tile_size));
    if (metadata->encoding)
        json_add_text(&json, json.root, "encoding", "%s", metadata->encoding);
    return json_end(&json, false);
}

static int insert_metadata(struct mbtiles *archive, const struct mbtiles_metadata *metadata)
{
    /* The type is an opaque map. Tile servers copy unknown keys to their TileJSON, where maps look
     * for the encoding. */
    static const char format[] = "INSERT INTO metadata SELECT * FROM (VALUES"
                                 " ('name', %Q), ('format', %Q), ('bounds', %Q),"
                                 " ('center', %Q), ('minzoom', '%d'), ('maxzoom', '%d'),"
                                 " ('description', %Q), ('type', 'baselayer'),"
                                 " ('version', NULLIF('%d', '0')), ('encoding', %Q),"
                                 " ('fingerprint', %Q), ('attribution', %Q), ('json', '%.*q'))"
                                 " WHERE column2 NOT NULL";
    char bounds[4 * REAL_TEXT], center[3 * REAL_TEXT];
    struct blob *json = further_keys(metadata);
    if (!json)
        return -ENOMEM;
    format_bounds(metadata, bounds, sizeof bounds);
    format_center(metadata, center, sizeof center);
    char *sql = sqlite3_mprintf(format, metadata->name, metadata->format, bounds, center,
                                metadata->zoom_min, metadata->zoom_max, metadata->description,
                                metadata->version, metadata->encoding, metadata->fingerprint,
                                metadata->attribution, (int)json->length - 1, json->bytes);
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

/* Without SQLite's locks: FD holds one. */
static int open_db(struct mbtiles *archive, const struct mbtiles_metadata *metadata)
{
    static const char insert[] = "INSERT OR IGNORE INTO tiles VALUES (?, ?, ?, ?)";
    int err =
        check(archive, sqlite3_open_v2(archive->path, &archive->db,
                                       SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, "unix-none"));
    if (!err)
        err = execute(archive, schema);
    if (!err)
        err = insert_metadata(archive, metadata);
    if (!err)
        err = execute(archive, "COMMIT; BEGIN");
    if (!err)
        err = check(archive, sqlite3_prepare_v3(archive->db, insert, -1, SQLITE_PREPARE_PERSISTENT,
                                                &archive->insert, NULL));
    return err;
}

int mbtiles_new(struct mbtiles **out, const char *file, const struct mbtiles_metadata *metadata)
{
    if (!is_valid(metadata))
        return -EINVAL;
    struct mbtiles *archive = calloc(1, sizeof *archive);
    if (!archive)
        return -ENOMEM;
    archive->zoom_min = metadata->zoom_min;
    archive->zoom_max = metadata->zoom_max;
    archive->fd = -1;
    pthread_mutex_init(&archive->lock, NULL);
    int err = create(archive, file);
    if (!err)
        err = open_db(archive, metadata);
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
    if (archive->fd >= 0) {
        if (is_named(archive->fd, archive->path))
            unlink(archive->path);
        close(archive->fd);
    }
    pthread_mutex_destroy(&archive->lock);
    free(archive->path);
    free(archive->file);
    free(archive);
}

/* ROW counts from the south, as in TMS. */
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
    if (z < archive->zoom_min || z > archive->zoom_max || x < 0 || y < 0 || x >> z || y >> z)
        return -ERANGE;
    pthread_mutex_lock(&archive->lock);
    int err = archive->err;
    if (!err)
        err = insert_tile(archive, z, x, (INT64_C(1) << z) - 1 - y, png);
    pthread_mutex_unlock(&archive->lock);
    return err;
}

/* Fails if TO exists. */
static int rename_new(const char *from, const char *to)
{
    if (renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0)
        return 0;
    if (errno != EINVAL && errno != ENOSYS)
        return -errno;
    /* File systems without RENAME_NOREPLACE, such as NFS, have hard links, which never replace. */
    if (link(from, to))
        return -errno;
    unlink(from);
    return 0;
}

/* Makes the rename survive a power loss. Best effort: the file is complete either way. */
static void sync_directory(const char *path)
{
    const char *slash = strrchr(path, '/');
    char *directory = strndup(path, (size_t)(slash - path) + 1);
    int fd = directory ? open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    if (fd >= 0) {
        fsync(fd);
        close(fd);
    }
    free(directory);
}

/*
 * The row agg_tiles_hash, which `mbtiles validate` of martin compares: the MD5 of zoom, column and
 * row as text and the tile, of all tiles in this order
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
    if (fsync(archive->fd))
        return -errno;
    if (!is_named(archive->fd, archive->path))
        return -ENOENT;
    err = rename_new(archive->path, archive->file);
    if (err)
        return err;
    close(archive->fd);
    archive->fd = -1;
    sync_directory(archive->path);
    return 0;
}

char *mbtiles_explain(const struct mbtiles *archive, const char *file, int err,
                      char why[MBTILES_WHY])
{
    const bool detail = archive && archive->err;
    if (err == -EEXIST)
        snprintf(why, MBTILES_WHY, "%s: file exists; archives are never overwritten", file);
    else if (err == -EBUSY)
        snprintf(why, MBTILES_WHY, "%s" SUFFIX ": another run is writing it", file);
    else if (err == -ENOTUNIQ)
        snprintf(why, MBTILES_WHY, "%s" SUFFIX ": file exists and is not an interrupted archive",
                 file);
    else
        snprintf(why, MBTILES_WHY, "%s: %s%s%s%s", file, strerror(-err), detail ? " (" : "",
                 detail ? archive->why : "", detail ? ")" : "");
    return why;
}
