#include "pmtiles.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>

#include "server/cache/file_io.h"
#include "server/core/coding.h"
#include "server/core/json.h"
#include "server/prerender/pmtiles_directories.h"
#include "server/prerender/unfinished_file.h"

enum { HEADER_BYTES = 127 };
enum { COMPRESSION_NONE = 1, COMPRESSION_GZIP = 2 };
enum { TYPE_PNG = 2, TYPE_WEBP = 4 };

static const char magic[8] = {'P', 'M', 'T', 'i', 'l', 'e', 's', 3};

/* The bytes of one or more tiles. Contents with the same hash count as equal: by chance that is
 * wrong in one out of 2^64 archives with 2^32 tiles. */
struct content {
    XXH128_hash_t hash;
    uint64_t collected; /* offset in the collecting file */
    uint64_t offset;    /* in the archive, once PLACED */
    uint32_t length;
    bool placed;
};

struct tile_entry {
    uint64_t id;
    uint32_t content; /* index in contents */
    uint32_t run;     /* the put's number: the first put of an id wins */
};

struct pmtiles {
    struct unfinished_file file;
    struct tileset tileset;
    int collecting;       /* a nameless file; less than 0: none */
    pthread_mutex_t lock; /* protects the members below */
    struct tile_entry *entries;
    struct content *contents;
    uint32_t *table; /* hash -> content's index plus 1; open addressing */
    size_t entry_count, entry_room, content_count, content_room, table_room;
    uint64_t collected; /* bytes */
    int err;            /* the first error, or 0 */
};

uint64_t pmtiles_id(int z, int64_t x, int64_t y)
{
    uint64_t id = ((UINT64_C(1) << 2 * z) - 1) / 3; /* all tiles at lower zooms */
    uint64_t column = (uint64_t)x, row = (uint64_t)y;

    for (int bit = z - 1; bit >= 0; bit--) {
        const uint64_t side = UINT64_C(1) << bit;
        const uint64_t right = column >> bit & 1, lower = row >> bit & 1;
        id += (3 * right ^ lower) << 2 * bit;
        if (lower)
            continue;
        /* In an upper quarter the curve is turned; higher bits are not read again. */
        const uint64_t turned = right ? side - 1 - row : row;
        row = right ? side - 1 - column : column;
        column = turned;
    }
    return id;
}

/* --- Collecting --- */

/* Write (OUT) or read all LENGTH bytes at OFFSET. */
static int transfer(int fd, void *bytes, size_t length, uint64_t offset, bool out)
{
    const ssize_t done = file_transfer(fd, bytes, length, offset, out);
    if (done < 0)
        return (int)done;
    return (size_t)done == length ? 0 : -EIO;
}

/* Open a nameless file beside PATH. Returns a descriptor or a negative code. */
static int open_nameless(const char *path)
{
    char *name;
    const int above = (int)(strrchr(path, '/') - path) + 1;

    if (asprintf(&name, "%.*s", above, path) < 0)
        return -ENOMEM;
    int fd = open(name, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    int err = fd < 0 ? -errno : 0;
    free(name);
    if (err != -EOPNOTSUPP && err != -EISDIR)
        return err ? err : fd;
    if (asprintf(&name, "%s-XXXXXX", path) < 0)
        return -ENOMEM;
    fd = mkostemp(name, O_CLOEXEC);
    err = fd < 0 ? -errno : 0;
    if (!err)
        unlink(name);
    free(name);
    return err ? err : fd;
}

/* Make room for one more item; there are COUNT, of SIZE bytes each. Returns 0 or -ENOMEM. */
static int reserve(void **items, size_t *room, size_t count, size_t size)
{
    if (count < *room)
        return 0;
    const size_t more = *room ? 2 * *room : 1024;
    void *grown = reallocarray(*items, more, size);
    if (!grown)
        return -ENOMEM;
    *items = grown;
    *room = more;
    return 0;
}

/* The slot of the content with HASH, or the free slot where it belongs. */
static uint32_t *slot_of(const struct pmtiles *archive, XXH128_hash_t hash)
{
    size_t i = hash.low64 & (archive->table_room - 1);
    while (archive->table[i] &&
           !XXH128_isEqual(archive->contents[archive->table[i] - 1].hash, hash))
        i = (i + 1) & (archive->table_room - 1);
    return &archive->table[i];
}

/* Keep at least half of the table free. */
static int grow_table(struct pmtiles *archive)
{
    if (2 * (archive->content_count + 1) <= archive->table_room)
        return 0;
    const size_t room = archive->table_room ? 2 * archive->table_room : 2048;
    uint32_t *table = calloc(room, sizeof *table);
    if (!table)
        return -ENOMEM;
    free(archive->table);
    archive->table = table;
    archive->table_room = room;
    for (size_t i = 0; i < archive->content_count; i++)
        *slot_of(archive, archive->contents[i].hash) = (uint32_t)i + 1;
    return 0;
}

/* Set *NUMBER to TILE's content index, adding the content if it is new. */
static int add_content(struct pmtiles *archive, const struct blob *tile, uint32_t *number)
{
    const XXH128_hash_t hash = XXH3_128bits(tile->bytes, tile->length);
    int err = grow_table(archive);
    if (!err)
        err = reserve((void **)&archive->contents, &archive->content_room, archive->content_count,
                      sizeof *archive->contents);
    if (err)
        return err;
    uint32_t *slot = slot_of(archive, hash);
    if (!*slot) {
        err = transfer(archive->collecting, (void *)tile->bytes, tile->length, archive->collected,
                       true);
        if (err)
            return err;
        archive->contents[archive->content_count++] = (struct content){
            .hash = hash, .collected = archive->collected, .length = (uint32_t)tile->length};
        archive->collected += tile->length;
        *slot = (uint32_t)archive->content_count;
    }
    *number = *slot - 1;
    return 0;
}

static int add_tile(struct pmtiles *archive, uint64_t id, const struct blob *tile)
{
    uint32_t content;
    if (tile->length == 0 || tile->length > UINT32_MAX || archive->entry_count >= UINT32_MAX)
        return -EFBIG;
    int err = reserve((void **)&archive->entries, &archive->entry_room, archive->entry_count,
                      sizeof *archive->entries);
    if (!err)
        err = add_content(archive, tile, &content);
    if (err)
        return err;
    archive->entries[archive->entry_count] =
        (struct tile_entry){id, content, (uint32_t)archive->entry_count};
    archive->entry_count++;
    return 0;
}

int pmtiles_put(struct pmtiles *archive, int z, int64_t x, int64_t y, const struct blob *tile)
{
    if (!tileset_has(&archive->tileset, z, x, y))
        return -ERANGE;
    pthread_mutex_lock(&archive->lock);
    if (!archive->err)
        archive->err = add_tile(archive, pmtiles_id(z, x, y), tile);
    const int err = archive->err;
    pthread_mutex_unlock(&archive->lock);
    return err;
}

/* --- Finishing --- */

static int compare(const void *a, const void *b)
{
    const struct tile_entry *one = a, *other = b;
    if (one->id != other->id)
        return one->id < other->id ? -1 : 1;
    return one->run < other->run ? -1 : 1;
}

/* If a tile was put twice, keep the first one. */
static void sort_entries(struct pmtiles *archive)
{
    size_t kept = 0;
    qsort(archive->entries, archive->entry_count, sizeof *archive->entries, compare);
    for (size_t i = 0; i < archive->entry_count; i++)
        if (i == 0 || archive->entries[i].id != archive->entries[kept - 1].id)
            archive->entries[kept++] = archive->entries[i];
    archive->entry_count = kept;
}

struct layout {
    struct pmtiles_entry *entries; /* merged into runs */
    size_t count;
    uint64_t bytes, contents; /* distinct tiles: their bytes, their number */
};

/* Give each content its offset, in the order of ids. Returns 0 or -ENOMEM. */
static int lay_out(struct layout *out, struct pmtiles *archive)
{
    *out = (struct layout){.entries = calloc(archive->entry_count, sizeof *out->entries)};
    if (!out->entries)
        return -ENOMEM;
    for (size_t i = 0; i < archive->entry_count; i++) {
        const struct tile_entry *tile = &archive->entries[i];
        struct content *content = &archive->contents[tile->content];
        struct pmtiles_entry *last = out->count ? &out->entries[out->count - 1] : NULL;
        if (!content->placed) {
            content->placed = true;
            content->offset = out->bytes;
            out->bytes += content->length;
            out->contents++;
        }
        if (last && last->offset == content->offset && last->id + last->run == tile->id)
            last->run++;
        else
            out->entries[out->count++] =
                (struct pmtiles_entry){tile->id, content->offset, 1, content->length};
    }
    return 0;
}

/* TILESET as compressed JSON; NULL if out of memory. By the specification all values are text. */
static struct blob *make_metadata(const struct tileset *tileset)
{
    const struct {
        const char *key, *value;
    } rows[] = {
        {"name", tileset->name},
        {"description", tileset->description},
        {"attribution", tileset->attribution},
        {"type", "baselayer"},
        {"encoding", tileset->encoding},
        {"fingerprint", tileset->fingerprint},
    };
    struct json json = json_new(false);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (rows[i].value)
            json_string(&json, rows[i].key, rows[i].value);
    if (tileset->version)
        json_text(&json, "version", "%d", tileset->version);
    return coding_pack_over(json_end(&json), CODING_GZIP);
}

static void put_number(uint8_t *out, uint64_t value, int bytes)
{
    for (int i = 0; i < bytes; i++)
        out[i] = (uint8_t)(value >> 8 * i);
}

static void put_degrees(uint8_t *out, double degrees)
{
    put_number(out, (uint64_t)llround(degrees * 1e7), 4);
}

static void make_header(uint8_t header[HEADER_BYTES], const struct pmtiles *archive,
                        const struct layout *layout, const struct pmtiles_directories *directories,
                        const struct blob *metadata)
{
    const struct tileset *tileset = &archive->tileset;
    const struct tileset_center center = tileset_center(tileset);
    const uint64_t lengths[] = {directories->root->length, metadata->length,
                                directories->leaves ? directories->leaves->length : 0,
                                layout->bytes};
    uint64_t offset = HEADER_BYTES;

    memset(header, 0, HEADER_BYTES);
    memcpy(header, magic, sizeof magic);
    for (int i = 0; i < 4; i++) {
        put_number(header + 8 + 16 * i, offset, 8);
        put_number(header + 16 + 16 * i, lengths[i], 8);
        offset += lengths[i];
    }
    put_number(header + 72, archive->entry_count, 8);
    put_number(header + 80, layout->count, 8);
    put_number(header + 88, layout->contents, 8);
    header[96] = 1; /* clustered */
    header[97] = COMPRESSION_GZIP;
    header[98] = COMPRESSION_NONE;
    header[99] = strcmp(tileset->format, "webp") == 0 ? TYPE_WEBP : TYPE_PNG;
    header[100] = (uint8_t)tileset->zoom_min;
    header[101] = (uint8_t)tileset->zoom_max;
    put_degrees(header + 102, tileset->west);
    put_degrees(header + 106, tileset->south);
    put_degrees(header + 110, tileset->east);
    put_degrees(header + 114, tileset->north);
    header[118] = (uint8_t)center.zoom;
    put_degrees(header + 119, center.longitude);
    put_degrees(header + 123, center.latitude);
}

/* Copy the contents to OFFSET and after, in the order of their offsets. */
static int copy_tiles(const struct pmtiles *archive, uint64_t offset)
{
    uint32_t longest = 1;
    uint64_t next = 0;
    int err = 0;
    for (size_t i = 0; i < archive->content_count; i++)
        if (archive->contents[i].length > longest)
            longest = archive->contents[i].length;
    void *bytes = malloc(longest);
    if (!bytes)
        return -ENOMEM;
    for (size_t i = 0; i < archive->entry_count && !err; i++) {
        const struct content *content = &archive->contents[archive->entries[i].content];
        if (content->offset != next)
            continue; /* already copied */
        err = transfer(archive->collecting, bytes, content->length, content->collected, false);
        if (!err)
            err = transfer(archive->file.fd, bytes, content->length, offset + next, true);
        next += content->length;
    }
    free(bytes);
    return err;
}

/* The header is written first: it lets the next writer recognize what a killed one has left. */
static int write_sections(const struct pmtiles *archive, const struct layout *layout,
                          const struct pmtiles_directories *directories,
                          const struct blob *metadata)
{
    const struct blob *const sections[] = {directories->root, metadata, directories->leaves};
    const int fd = archive->file.fd;
    uint8_t header[HEADER_BYTES];
    uint64_t offset = HEADER_BYTES;

    make_header(header, archive, layout, directories, metadata);
    int err = transfer(fd, header, sizeof header, 0, true);
    for (int i = 0; i < 3 && !err; i++)
        if (sections[i]) {
            err = transfer(fd, (void *)sections[i]->bytes, sections[i]->length, offset, true);
            offset += sections[i]->length;
        }
    return err ? err : copy_tiles(archive, offset);
}

static int write_archive(struct pmtiles *archive)
{
    struct pmtiles_directories directories = {NULL, NULL};
    struct blob *metadata = make_metadata(&archive->tileset);
    struct layout layout = {0};
    int err = metadata ? 0 : -ENOMEM;

    sort_entries(archive);
    if (!err)
        err = lay_out(&layout, archive);
    if (!err)
        err = pmtiles_directories_make(&directories, layout.entries, layout.count, HEADER_BYTES);
    if (!err)
        err = write_sections(archive, &layout, &directories, metadata);
    pmtiles_directories_free(&directories);
    free(layout.entries);
    blob_release(metadata);
    return err;
}

int pmtiles_finish(struct pmtiles *archive)
{
    if (!archive->err && archive->entry_count == 0)
        archive->err = -ENODATA;
    if (!archive->err)
        archive->err = write_archive(archive);
    return archive->err ? archive->err : unfinished_file_finish(&archive->file);
}

/* A killed writer leaves an empty file, or one that begins like this. */
static bool is_archive(int fd)
{
    char begin[sizeof magic];
    return pread(fd, begin, sizeof begin, 0) == sizeof begin &&
           memcmp(begin, magic, sizeof magic) == 0;
}

int pmtiles_new(struct pmtiles **out, const char *file, const struct tileset *tileset)
{
    if (!tileset_is_valid(tileset))
        return -EINVAL;
    struct pmtiles *archive = calloc(1, sizeof *archive);
    if (!archive)
        return -ENOMEM;
    archive->tileset = *tileset;
    archive->collecting = -1;
    pthread_mutex_init(&archive->lock, NULL);
    int err = unfinished_file_open(&archive->file, file, is_archive);
    if (!err) {
        archive->collecting = open_nameless(archive->file.path);
        err = archive->collecting < 0 ? archive->collecting : 0;
    }
    if (err) {
        pmtiles_free(archive);
        return err;
    }
    *out = archive;
    return 0;
}

void pmtiles_free(struct pmtiles *archive)
{
    if (!archive)
        return;
    unfinished_file_close(&archive->file);
    if (archive->collecting >= 0)
        close(archive->collecting);
    pthread_mutex_destroy(&archive->lock);
    free(archive->entries);
    free(archive->contents);
    free(archive->table);
    free(archive);
}
