/* PMTiles: what the specification demands, read by a reader of its own; files that are complete or
 * absent. */
#include "server/prerender/pmtiles.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <zlib.h>

#include "tests/unit/support/fixtures.h"

static char directory[FOLDER_TEXT];
static char file[FOLDER_TEXT + 32], unfinished[FOLDER_TEXT + 48];

static const struct tileset everything = {.name = "default relief",
                                          .format = "png",
                                          .description = "a \"text\" — too",
                                          .zoom_min = 0,
                                          .zoom_max = 14,
                                          .west = -180,
                                          .south = -85.0511287798066,
                                          .east = 180,
                                          .north = 85.0511287798066,
                                          .version = 2,
                                          .fingerprint = "0123456789abcdef",
                                          .encoding = "terrarium",
                                          .attribution = "someone",
                                          .tile_size = 256};

static void set_up(void)
{
    folder_new(directory);
    snprintf(file, sizeof file, "%s/world.pmtiles", directory);
    snprintf(unfinished, sizeof unfinished, "%s.unfinished", file);
}

static void tear_down(void)
{
    folder_remove(directory);
}

static struct pmtiles *archive_new(const struct tileset *tileset)
{
    struct pmtiles *archive;
    int err = pmtiles_new(&archive, file, tileset);
    ck_assert_msg(err == 0, "%s", strerror(-err));
    return archive;
}

static int put(struct pmtiles *archive, int z, int64_t x, int64_t y, const char *text)
{
    struct blob *blob = blob_copy(text, strlen(text));
    int err = pmtiles_put(archive, z, x, y, blob);
    blob_release(blob);
    return err;
}

static void must_finish(struct pmtiles *archive)
{
    ck_assert(file_exists(unfinished) && !file_exists(file));
    ck_assert_int_eq(pmtiles_finish(archive), 0);
    pmtiles_free(archive);
    ck_assert(file_exists(file) && !file_exists(unfinished));
}

/* --- A reader --- */

struct reader {
    uint8_t *bytes;
    size_t length;
    uint64_t at[4], size[4]; /* root, metadata, leaves, tiles */
    uint64_t addressed, entries, contents;
    uint64_t last_id, seen, end; /* of the walk */
    bool any;
};

static uint64_t number(const uint8_t *bytes, int count)
{
    uint64_t value = 0;
    while (count-- > 0)
        value = value << 8 | bytes[count];
    return value;
}

static struct reader open_archive(void)
{
    struct reader reader = {0};
    struct stat status;
    int fd = open(file, O_RDONLY | O_CLOEXEC);
    ck_assert(fd >= 0 && fstat(fd, &status) == 0);
    reader.length = (size_t)status.st_size;
    reader.bytes = malloc(reader.length);
    ck_assert_int_eq(read(fd, reader.bytes, reader.length), (ssize_t)reader.length);
    close(fd);
    ck_assert(reader.length > 127 && memcmp(reader.bytes, "PMTiles\3", 8) == 0);
    uint64_t end = 127;
    for (int i = 0; i < 4; i++) {
        reader.at[i] = number(reader.bytes + 8 + 16 * i, 8);
        reader.size[i] = number(reader.bytes + 16 + 16 * i, 8);
        ck_assert_uint_eq(reader.at[i], end);
        end += reader.size[i];
    }
    ck_assert_uint_eq(end, reader.length);
    ck_assert_uint_lt(reader.at[0] + reader.size[0], 16384);
    reader.addressed = number(reader.bytes + 72, 8);
    reader.entries = number(reader.bytes + 80, 8);
    reader.contents = number(reader.bytes + 88, 8);
    ck_assert(reader.bytes[96] == 1 && reader.bytes[97] == 2 && reader.bytes[98] == 1);
    return reader;
}

/* LENGTH bytes at OFFSET, decompressed; the caller frees. */
static uint8_t *inflated(const struct reader *reader, uint64_t offset, uint64_t length,
                         size_t *plain)
{
    z_stream stream = {.next_in = reader->bytes + offset, .avail_in = (uInt)length};
    size_t room = 1 << 22;
    uint8_t *out = malloc(room);
    stream.next_out = out;
    stream.avail_out = (uInt)room;
    ck_assert_int_eq(inflateInit2(&stream, 16 + MAX_WBITS), Z_OK);
    ck_assert_int_eq(inflate(&stream, Z_FINISH), Z_STREAM_END);
    ck_assert_uint_eq(stream.avail_in, 0);
    *plain = stream.total_out;
    inflateEnd(&stream);
    return out;
}

static uint64_t varint(const uint8_t **at, const uint8_t *end)
{
    uint64_t value = 0;
    for (int shift = 0;; shift += 7) {
        must(*at < end && shift < 64, "a varint does not end");
        value |= (uint64_t)(**at & 0x7f) << shift;
        if (!(*(*at)++ & 0x80))
            return value;
    }
}

/* The text of tile ID is expected to be this. */
typedef const char *expected_text(uint64_t id);

static void walk(struct reader *reader, uint64_t offset, uint64_t length, expected_text *expected,
                 int depth)
{
    size_t plain;
    uint8_t *bytes = inflated(reader, offset, length, &plain);
    const uint8_t *at = bytes, *end = bytes + plain;
    const size_t count = varint(&at, end);
    uint64_t *column[4];
    must(count > 0 && depth < 2, "%zu entries at depth %d", count, depth);
    for (int i = 0; i < 4; i++) {
        column[i] = calloc(count, sizeof *column[i]);
        for (size_t k = 0; k < count; k++)
            column[i][k] = varint(&at, end);
    }
    ck_assert_ptr_eq(at, end);
    for (size_t k = 0; k < count; k++) {
        column[0][k] += k ? column[0][k - 1] : 0;
        must(column[3][k] || k, "no first offset");
        column[3][k] = column[3][k] ? column[3][k] - 1 : column[3][k - 1] + column[2][k - 1];
        const uint64_t id = column[0][k], run = column[1][k], size = column[2][k],
                       place = column[3][k];
        must(size > 0 && (k == 0 || id > column[0][k - 1]), "entry %zu: size, order", k);
        if (run == 0) {
            must(place + size <= reader->size[2], "leaf %zu is outside", k);
            walk(reader, reader->at[2] + place, size, expected, depth + 1);
            continue;
        }
        must(!reader->any || id > reader->last_id, "ids in order");
        must(place + size <= reader->size[3], "tile %ju is outside", (uintmax_t)id);
        must(place <= reader->end, "not clustered: %ju", (uintmax_t)id);
        if (place == reader->end) {
            reader->end += size;
            reader->contents--;
        }
        reader->any = true;
        reader->last_id = id + run - 1;
        reader->entries--;
        reader->seen += run;
        for (uint64_t i = id; i < id + run; i++) {
            const char *text = expected(i);
            must(text && strlen(text) == size &&
                     memcmp(text, reader->bytes + reader->at[3] + place, size) == 0,
                 "tile %ju: %.*s", (uintmax_t)i, (int)size, reader->bytes + reader->at[3] + place);
        }
    }
    for (int i = 0; i < 4; i++)
        free(column[i]);
    free(bytes);
}

/* The archive has TILES tiles, which are as EXPECTED, and counts them right. */
static struct reader must_have(uint64_t tiles, expected_text *expected)
{
    struct reader reader = open_archive();
    walk(&reader, reader.at[0], reader.size[0], expected, 0);
    ck_assert_uint_eq(reader.seen, tiles);
    ck_assert_uint_eq(reader.addressed, tiles);
    ck_assert_uint_eq(reader.entries, 0);
    ck_assert_uint_eq(reader.contents, 0);
    ck_assert_uint_eq(reader.end, reader.size[3]);
    return reader;
}

/* --- Tests --- */

static const struct {
    int z;
    int64_t x, y;
    uint64_t id;
} ids[] = {
    {0, 0, 0, 0},
    {1, 0, 0, 1},
    {1, 0, 1, 2},
    {1, 1, 1, 3},
    {1, 1, 0, 4},
    {2, 0, 0, 5},
    /* Those of the reference implementation's tests. */
    {12, 3423, 1763, 19078479},
    {2, 3, 0, 20},
    /* The last one of its zoom. */
    {30, (1 << 30) - 1, 0, UINT64_C(1537228672809129300)},
};

START_TEST(test_ids)
{
    ck_assert_uint_eq(pmtiles_id(ids[_i].z, ids[_i].x, ids[_i].y), ids[_i].id);
}
END_TEST

/* Each id once, and neighbors in the order are neighbors on the map. */
START_TEST(test_curve)
{
    enum { Z = 6, SIDE = 1 << Z, BEFORE = (SIDE * SIDE - 1) / 3 };
    static int place[SIDE * SIDE][2];
    static bool has[SIDE * SIDE];
    for (int x = 0; x < SIDE; x++)
        for (int y = 0; y < SIDE; y++) {
            const uint64_t id = pmtiles_id(Z, x, y) - BEFORE;
            must(id < SIDE * SIDE && !has[id], "%d, %d: %ju", x, y, (uintmax_t)id);
            has[id] = true;
            place[id][0] = x;
            place[id][1] = y;
        }
    for (int i = 1; i < SIDE * SIDE; i++)
        ck_assert_int_eq(abs(place[i][0] - place[i - 1][0]) + abs(place[i][1] - place[i - 1][1]),
                         1);
}
END_TEST

static const char *of_few(uint64_t id)
{
    static const char *const texts[] = {"top", "sea", "sea", "land", "sea"};
    return id < 5 ? texts[id] : NULL;
}

START_TEST(test_few)
{
    struct pmtiles *archive = archive_new(&everything);
    ck_assert_int_eq(put(archive, 1, 1, 0, "sea"), 0);
    ck_assert_int_eq(put(archive, 1, 0, 1, "sea"), 0);
    ck_assert_int_eq(put(archive, 0, 0, 0, "top"), 0);
    ck_assert_int_eq(put(archive, 1, 1, 1, "land"), 0);
    ck_assert_int_eq(put(archive, 1, 0, 0, "sea"), 0);
    /* The first of two is kept. */
    ck_assert_int_eq(put(archive, 1, 1, 1, "other"), 0);
    ck_assert_int_eq(put(archive, 0, 0, 0, "sea"), 0);
    must_finish(archive);
    const struct reader reader = must_have(5, of_few);
    ck_assert_uint_eq(number(reader.bytes + 80, 8), 4); /* a run of two */
    ck_assert_uint_eq(number(reader.bytes + 88, 8), 3);
    ck_assert_uint_eq(reader.size[2], 0);
    ck_assert_uint_eq(reader.size[3], strlen("topsealand"));
    free(reader.bytes);
}
END_TEST

START_TEST(test_header)
{
    struct tileset changed = everything;
    struct pmtiles *archive;
    size_t length;
    changed.zoom_min = 2;
    changed.zoom_max = 5;
    changed.west = -90;
    changed.east = 0.5;
    changed.format = _i ? "webp" : "png";
    archive = archive_new(&changed);
    ck_assert_int_eq(put(archive, 2, 1, 1, "a"), 0);
    must_finish(archive);
    struct reader reader = open_archive();
    static const int32_t degrees[] = {-900000000, -850511288, 5000000, 850511288};
    ck_assert_int_eq(reader.bytes[99], _i ? 4 : 2);
    ck_assert_int_eq(reader.bytes[100], 2);
    ck_assert_int_eq(reader.bytes[101], 5);
    for (int i = 0; i < 4; i++)
        ck_assert_int_eq((int32_t)number(reader.bytes + 102 + 4 * i, 4), degrees[i]);
    ck_assert_int_eq(reader.bytes[118], 3);
    ck_assert_int_eq((int32_t)number(reader.bytes + 119, 4), -447500000);
    ck_assert_int_eq((int32_t)number(reader.bytes + 123, 4), 0);
    char *json = (char *)inflated(&reader, reader.at[1], reader.size[1], &length);
    static const char expected[] =
        "{\"name\":\"default relief\",\"description\":\"a \\\"text\\\" — too\","
        "\"attribution\":\"someone\",\"type\":\"baselayer\",\"encoding\":\"terrarium\","
        "\"fingerprint\":\"0123456789abcdef\",\"version\":\"2\"}\n";
    must(length == strlen(expected) && memcmp(json, expected, length) == 0, "%.*s", (int)length,
         json);
    free(json);
    free(reader.bytes);
}
END_TEST

/* So many tiles of zooms 0 to 8, of irregular lengths, that the root has no room for them; some are
 * missing, and some alike. */
static const char *of_many(uint64_t id)
{
    static _Thread_local char text[64];
    uint64_t seed = id;
    const uint64_t draw = chance(&seed);
    if (id > 0 && draw % 7 == 0)
        return NULL;
    if (draw % 5 == 0)
        return "the same";
    snprintf(text, sizeof text, "%ju %.*s", (uintmax_t)id, (int)(draw >> 8) & 31,
             "................................");
    return text;
}

static void put_all(struct pmtiles *archive, int top, expected_text *text, uint64_t *count)
{
    for (int z = top; z >= 0; z--)
        for (int64_t x = 0; x < 1 << z; x++)
            for (int64_t y = 0; y < 1 << z; y++) {
                const char *tile = text(pmtiles_id(z, x, y));
                if (!tile)
                    continue;
                must(put(archive, z, x, y, tile) == 0, "%d/%jd/%jd", z, (intmax_t)x, (intmax_t)y);
                ++*count;
            }
}

START_TEST(test_leaves)
{
    struct pmtiles *archive = archive_new(&everything);
    uint64_t count = 0;
    put_all(archive, 8, of_many, &count);
    must_finish(archive);
    const struct reader reader = must_have(count, of_many);
    ck_assert_uint_gt(reader.size[2], 10000);
    free(reader.bytes);
}
END_TEST

static const char *of_sea(uint64_t id)
{
    (void)id;
    return "sea";
}

/* All of the world is one entry. */
START_TEST(test_sea)
{
    struct pmtiles *archive = archive_new(&everything);
    uint64_t count = 0;
    put_all(archive, 7, of_sea, &count);
    must_finish(archive);
    const struct reader reader = must_have(count, of_sea);
    ck_assert_uint_eq(number(reader.bytes + 80, 8), 1);
    ck_assert_uint_eq(reader.size[3], 3);
    free(reader.bytes);
}
END_TEST

static void *put_share(void *context)
{
    struct pmtiles *archive = context;
    uint64_t count = 0;
    put_all(archive, 5, of_many, &count);
    return NULL;
}

/* Each of four threads puts all tiles. */
START_TEST(test_threads)
{
    struct pmtiles *archive = archive_new(&everything);
    pthread_t threads[4];
    uint64_t count = 0;
    for (int i = 0; i < 4; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, put_share, archive), 0);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    must_finish(archive);
    for (uint64_t id = 0; id < ((1 << 12) - 1) / 3; id++)
        count += of_many(id) != NULL;
    free(must_have(count, of_many).bytes);
}
END_TEST

START_TEST(test_refused)
{
    struct tileset changed = everything;
    struct pmtiles *archive;
    changed.name = NULL;
    ck_assert_int_eq(pmtiles_new(&archive, file, &changed), -EINVAL);
    ck_assert_int_eq(pmtiles_new(&archive, "", &everything), -ENOENT);
    ck_assert_int_eq(pmtiles_new(&archive, "/proc/a.pmtiles", &everything), -ENOENT);

    archive = archive_new(&everything);
    struct pmtiles *second;
    ck_assert_int_eq(pmtiles_new(&second, file, &everything), -EBUSY);
    ck_assert_int_eq(put(archive, 15, 0, 0, "a"), -ERANGE);
    ck_assert_int_eq(put(archive, 1, 2, 0, "a"), -ERANGE);
    ck_assert_int_eq(put(archive, 1, 0, -1, "a"), -ERANGE);
    ck_assert_int_eq(pmtiles_finish(archive), -ENODATA);
    pmtiles_free(archive);
    ck_assert(!file_exists(file) && !file_exists(unfinished));

    archive = archive_new(&everything);
    ck_assert_int_eq(put(archive, 1, 0, 0, ""), -EFBIG);
    ck_assert_int_eq(put(archive, 1, 0, 0, "a"), -EFBIG); /* the first error is final */
    pmtiles_free(archive);

    file_write(file, "x", 1);
    ck_assert_int_eq(pmtiles_new(&archive, file, &everything), -EEXIST);
    remove(file);
    file_write(unfinished, "other", 5);
    ck_assert_int_eq(pmtiles_new(&archive, file, &everything), -ENOTUNIQ);
    /* What a killed writer leaves is overwritten. */
    file_write(unfinished, "PMTiles\3 and so on", 18);
    archive = archive_new(&everything);
    ck_assert_int_eq(put(archive, 0, 0, 0, "top"), 0);
    must_finish(archive);
    free(must_have(1, of_few).bytes);
}
END_TEST

/* Files may grow to BYTES only; 0: without a limit. Check's own files, too. */
static void limit_files(rlim_t bytes)
{
    struct rlimit limit;
    getrlimit(RLIMIT_FSIZE, &limit);
    limit.rlim_cur = bytes ? bytes : limit.rlim_max;
    setrlimit(RLIMIT_FSIZE, &limit);
}

/* The disk is full while tiles are collected, or while they are put in order. */
START_TEST(test_no_room)
{
    struct pmtiles *archive = archive_new(&everything);
    int refused = 0;
    signal(SIGXFSZ, SIG_IGN);
    for (int i = 0; i < 64; i++) {
        char text[32];
        snprintf(text, sizeof text, "tile %02d", i);
        limit_files(_i == 0 ? 70 : 0);
        const int err = put(archive, 3, i % 8, i / 8, text);
        limit_files(0);
        ck_assert_int_eq(err, _i == 0 && i >= 10 ? -EFBIG : 0);
        refused += err != 0;
    }
    ck_assert_int_eq(refused, _i == 0 ? 54 : 0);
    limit_files(_i == 0 ? 0 : 200);
    const int err = pmtiles_finish(archive);
    limit_files(0);
    ck_assert_int_eq(err, -EFBIG);
    pmtiles_free(archive);
    ck_assert(!file_exists(file) && !file_exists(unfinished));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("pmtiles");
    TCase *tcase = suite_case(suite, "ids");
    tcase_add_loop_test(tcase, test_ids, 0, ROWS(ids));
    tcase_add_test(tcase, test_curve);
    tcase = suite_case(suite, "files");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, test_few);
    tcase_add_loop_test(tcase, test_header, 0, 2);
    tcase_add_test(tcase, test_leaves);
    tcase_add_test(tcase, test_sea);
    tcase_add_test(tcase, test_threads);
    tcase_add_test(tcase, test_refused);
    tcase_add_loop_test(tcase, test_no_room, 0, 2);
    return suite_run(suite);
}
