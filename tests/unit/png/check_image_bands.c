/* Pictures encoded in bands of rows, and decoded again. */
#include <errno.h>
#include <libdeflate.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>

#include "server/png/image_writer.h"
#include "tests/unit/support/fixtures.h"

enum { WIDEST = IMAGE_WIDTH_MAX, TALLEST = 130, BANDS_MAX = TALLEST, HEAD_LENGTH = 8 + 25 + 14 };

static struct guarded memory; /* a band of pixels */
static struct image_writer *writer, *other_writer;
static struct libdeflate_decompressor *decompressor;

static void bands_set_up(void)
{
    guarded_new(&memory, IMAGE_BAND_MAX);
    ck_assert_int_eq(image_writer_new(&writer), 0);
    ck_assert_int_eq(image_writer_new(&other_writer), 0);
    decompressor = libdeflate_alloc_decompressor();
    ck_assert_ptr_nonnull(decompressor);
}

static void bands_tear_down(void)
{
    libdeflate_free_decompressor(decompressor);
    image_writer_free(other_writer);
    image_writer_free(writer);
    guarded_free(&memory);
}

static const struct {
    enum pixel pixel;
    const char *name;
    int depth, color;
} kinds[] = {
    {PIXEL_GRAY8, "gray8", 8, PNG_COLOR_TYPE_GRAY},
    {PIXEL_GRAY16, "gray16", 16, PNG_COLOR_TYPE_GRAY},
    {PIXEL_RGB8, "rgb8", 8, PNG_COLOR_TYPE_RGB},
    {PIXEL_PICTURE, "picture", 8, PNG_COLOR_TYPE_RGB}, /* even if a palette would do */
};

/* A picture, encoded BAND rows at a time; the last band has the rest. */
struct scene {
    int kind, width, height, band;
    uint8_t *pixels;
};

static size_t row_bytes(const struct scene *scene)
{
    return (size_t)scene->width * pixel_bytes(kinds[scene->kind].pixel);
}

static int bands_of(const struct scene *scene)
{
    return (scene->height + scene->band - 1) / scene->band;
}

static int rows_of(const struct scene *scene, int band)
{
    const int left = scene->height - band * scene->band;
    return left < scene->band ? left : scene->band;
}

enum look { RANDOM, FLAT, TERRAIN, LOOKS };
static const char *const looks[LOOKS] = {"random", "flat", "terrain"};

/* Hills of several sizes, with roughness on top. */
static double height_at(int x, int y)
{
    double height = 0.5;
    for (int octave = 1; octave <= 32; octave *= 2)
        height += 0.2 / octave * sin(x * octave / 300.0 + octave) * cos(y * octave / 200.0 + 1);
    return height;
}

static void paint(struct scene *scene, enum look look)
{
    static uint8_t pixels[WIDEST * TALLEST * 3] __attribute__((aligned(8)));
    const bool wide = kinds[scene->kind].pixel == PIXEL_GRAY16;
    const int channels = kinds[scene->kind].color == PNG_COLOR_TYPE_RGB ? 3 : 1;
    uint64_t state = 9;

    scene->pixels = pixels;
    for (int i = 0; i < scene->width * scene->height * channels; i++) {
        const int at = i / channels;
        int value = 40000;
        if (look == RANDOM)
            value = (int)(chance(&state) & 0xffff);
        if (look == TERRAIN)
            value = (int)(height_at(at % scene->width, at / scene->width) * 65000) +
                    (int)(chance(&state) & 7);
        if (wide)
            ((uint16_t *)(void *)pixels)[i] = (uint16_t)value;
        else
            pixels[i] = (uint8_t)(value >> 8);
    }
}

/* The encoded bands of a scene. */
struct bands {
    struct blob *blob[BANDS_MAX];
    struct adler sum[BANDS_MAX];
};

/* Encode band I of SCENE, from pixels that end at a guard page. */
static void encode(struct bands *bands, const struct scene *scene, int i, struct image_writer *with)
{
    const int rows = rows_of(scene, i);
    const uint8_t *pixels = scene->pixels + (size_t)i * (size_t)scene->band * row_bytes(scene);
    const int err = image_writer_band(
        &bands->blob[i], &bands->sum[i], with, kinds[scene->kind].pixel, scene->width, rows,
        guarded_copy(&memory, pixels, (size_t)rows * row_bytes(scene)));
    must(err == 0, "image_writer_band: %d", err);
    must(bands->sum[i].length == (size_t)rows * (1 + row_bytes(scene)), "%zu bytes of %d rows",
         (size_t)bands->sum[i].length, rows);
}

static void bands_free(struct bands *bands, int number)
{
    for (int i = 0; i < number; i++)
        blob_release(bands->blob[i]);
}

static void append(struct blob *file, struct blob *part)
{
    memcpy(file->bytes + file->length, part->bytes, part->length);
    file->length += part->length;
}

static struct blob *join(const struct bands *bands, const struct scene *scene)
{
    struct blob *head, *tail;
    struct adler sum = {0};
    size_t length = 0;

    for (int i = 0; i < bands_of(scene); i++) {
        adler_join(&sum, &bands->sum[i]);
        length += bands->blob[i]->length;
    }
    ck_assert_int_eq(
        image_writer_head(&head, kinds[scene->kind].pixel, NULL, scene->width, scene->height), 0);
    ck_assert_int_eq(image_writer_tail(&tail, &sum), 0);
    struct blob *file = blob_new(head->length + length + tail->length);
    file->length = 0;
    append(file, head);
    for (int i = 0; i < bands_of(scene); i++)
        append(file, bands->blob[i]);
    append(file, tail);
    blob_release(head);
    blob_release(tail);
    return file;
}

static struct blob *file_of(const struct scene *scene)
{
    struct bands bands;
    for (int i = 0; i < bands_of(scene); i++)
        encode(&bands, scene, i, writer);
    struct blob *file = join(&bands, scene);
    bands_free(&bands, bands_of(scene));
    return file;
}

static uint32_t big_endian(const uint8_t *bytes)
{
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

/* The contents of all IDATs, and the types of all chunks. */
static struct blob *stream_of(const struct blob *file, char *types)
{
    struct blob *stream = blob_new(file->length);
    stream->length = 0;
    for (size_t at = 8, length; at < file->length; at += 12 + length) {
        length = big_endian(file->bytes + at);
        memcpy(types, file->bytes + at + 4, 4);
        if (memcmp(types, "IDAT", 4) == 0) {
            memcpy(stream->bytes + stream->length, file->bytes + at + 8, length);
            stream->length += length;
        }
        types += 4;
    }
    *types = 0;
    return stream;
}

/* The stream ends with its last IDAT, after all bytes, and has the right checksum: libpng would not
 * mind otherwise. */
static void check_stream(const struct blob *file, const struct scene *scene, const char *look)
{
    char types[4 * (BANDS_MAX + 8)], want[sizeof types] = "IHDRIDAT";
    const size_t length = (size_t)scene->height * (1 + row_bytes(scene));
    size_t taken = 0, got = 0;
    uint8_t *out = malloc(length);

    struct blob *stream = stream_of(file, types);
    const enum libdeflate_result result = libdeflate_zlib_decompress_ex(
        decompressor, stream->bytes, stream->length, out, length, &taken, &got);
    must(result == LIBDEFLATE_SUCCESS && taken == stream->length && got == length,
         "%s, %s, %d x %d by %d: libdeflate says %d, took %zu of %zu, gave %zu of %zu", look,
         kinds[scene->kind].name, scene->width, scene->height, scene->band, result, taken,
         stream->length, got, length);
    for (int i = 0; i < bands_of(scene); i++)
        memcpy(want + 8 + 4 * i, "IDAT", 4);
    memcpy(want + 8 + 4 * bands_of(scene), "IDATIEND", 8);
    must(strcmp(types, want) == 0, "chunks %s", types);
    blob_release(stream);
    free(out);
}

static void check_file(const struct blob *file, const struct scene *scene, const char *look)
{
    struct picture picture;
    const uint32_t width = (uint32_t)scene->width, height = (uint32_t)scene->height;

    picture_decode(&picture, file->bytes, file->length);
    must(picture.width == width && picture.height == height &&
             picture.depth == kinds[scene->kind].depth && picture.color == kinds[scene->kind].color,
         "%s, %s, %d x %d: became %u x %u", look, kinds[scene->kind].name, scene->width,
         scene->height, picture.width, picture.height);
    must(memcmp(picture.pixels, scene->pixels, picture.bytes) == 0,
         "%s, %s, %d x %d by %d: other pixels", look, kinds[scene->kind].name, scene->width,
         scene->height, scene->band);
    picture_free(&picture);
    check_stream(file, scene, look);
}

static const int widths[] = {1, 2, 3, 31, 64, 65, 255, 1000, 4096, 4097};
static const int heights_of_bands[] = {1, 7, 16, 64};
enum { KINDS_AND_WIDTHS = ROWS(kinds) * ROWS(widths) };

/* One band and many; the last one full or not. */
START_TEST(test_round_trip)
{
    struct scene scene = {.kind = _i % ROWS(kinds), .width = widths[_i / ROWS(kinds)]};
    for (enum look look = 0; look < LOOKS; look++) {
        scene.height = TALLEST;
        paint(&scene, look);
        for (int i = 0; i < ROWS(heights_of_bands); i++) {
            scene.band = heights_of_bands[i];
            const int heights[] = {1, scene.band, 2 * scene.band, TALLEST};
            for (int j = 0; j < ROWS(heights); j++) {
                scene.height = heights[j];
                struct blob *file = file_of(&scene);
                check_file(file, &scene, looks[look]);
                blob_release(file);
            }
        }
    }
}
END_TEST

/* Bands encoded from south to north, by a used writer, have the same bytes. */
START_TEST(test_any_order)
{
    struct scene scene = {.kind = _i, .width = 1000, .height = TALLEST, .band = 16};
    struct bands forth, back;
    uint8_t *tile = calloc(LAYER_MAX_SIZE * LAYER_MAX_SIZE, 3);
    paint(&scene, TERRAIN);
    for (int i = 0; i < bands_of(&scene); i++)
        encode(&forth, &scene, i, writer);
    for (int i = bands_of(&scene) - 1; i >= 0; i--) {
        struct blob *between;
        ck_assert_int_eq(
            image_writer_tile(&between, other_writer, (enum pixel)(i % 4), NULL, 256, tile, "a"),
            0);
        blob_release(between);
        encode(&back, &scene, i, other_writer);
    }
    for (int i = 0; i < bands_of(&scene); i++) {
        ck_assert_uint_eq(forth.blob[i]->length, back.blob[i]->length);
        ck_assert_mem_eq(forth.blob[i]->bytes, back.blob[i]->bytes, back.blob[i]->length);
        ck_assert_uint_eq(forth.sum[i].sums, back.sum[i].sums);
    }
    bands_free(&forth, bands_of(&scene));
    bands_free(&back, bands_of(&scene));
    free(tile);
}
END_TEST

/* Every LANES-th band of a scene. */
enum { LANES = 4 };
struct lane {
    const struct scene *scene;
    struct bands *bands;
    int first, err;
};

static void *encode_lane(void *context)
{
    struct lane *lane = context;
    const struct scene *scene = lane->scene;
    struct image_writer *own;
    lane->err = image_writer_new(&own);
    for (int i = lane->first; !lane->err && i < bands_of(scene); i += LANES)
        lane->err =
            image_writer_band(&lane->bands->blob[i], &lane->bands->sum[i], own,
                              kinds[scene->kind].pixel, scene->width, rows_of(scene, i),
                              scene->pixels + (size_t)i * (size_t)scene->band * row_bytes(scene));
    image_writer_free(own);
    return NULL;
}

START_TEST(test_threads)
{
    struct scene scene = {.kind = 1, .width = 1000, .height = TALLEST, .band = 7};
    struct lane lanes[LANES];
    pthread_t threads[LANES];
    struct bands bands;

    paint(&scene, TERRAIN);
    for (int i = 0; i < LANES; i++) {
        lanes[i] = (struct lane){&scene, &bands, i, 0};
        ck_assert_int_eq(pthread_create(&threads[i], NULL, encode_lane, &lanes[i]), 0);
    }
    for (int i = 0; i < LANES; i++) {
        pthread_join(threads[i], NULL);
        ck_assert_int_eq(lanes[i].err, 0);
    }
    struct blob *file = join(&bands, &scene), *same = file_of(&scene);
    check_file(file, &scene, "threads");
    ck_assert_uint_eq(file->length, same->length);
    ck_assert_mem_eq(file->bytes, same->bytes, same->length);
    bands_free(&bands, bands_of(&scene));
    blob_release(file);
    blob_release(same);
}
END_TEST

/* If all rows are equal, a band costs its first row, the codes, and little for each other row. */
START_TEST(test_length)
{
    struct scene scene = {.kind = _i, .width = 1000, .height = 1};
    paint(&scene, RANDOM);
    const size_t row = row_bytes(&scene);
    for (scene.height = 2; scene.height <= 128; scene.height++)
        memcpy(scene.pixels + (size_t)(scene.height - 1) * row, scene.pixels, row);
    scene.height = 128;
    for (scene.band = 1; scene.band <= scene.height; scene.band *= 2) {
        struct blob *file = file_of(&scene);
        const size_t most =
            (size_t)bands_of(&scene) * (row + row / 50 + 150) + 128 * (8 + row / 99);
        must(file->length <= most, "%s by %d: %zu bytes, more than %zu", kinds[_i].name, scene.band,
             file->length, most);
        blob_release(file);
    }
}
END_TEST

/* The largest bands, of incompressible pixels. */
START_TEST(test_largest)
{
    uint64_t state = 10;
    for (int i = 0; i < ROWS(widths); i++) {
        const enum pixel pixel = kinds[_i].pixel;
        const int rows = image_writer_band_rows(pixel, widths[i]);
        const size_t row = (size_t)widths[i] * pixel_bytes(pixel), length = (size_t)rows * row;
        struct scene scene = {.kind = _i, .width = widths[i], .height = rows, .band = rows};
        struct bands bands;
        must(rows >= 64 && (row + 1) * (size_t)rows <= IMAGE_BAND_MAX, "%d rows of %zu", rows, row);
        must((row + 1) * ((size_t)rows + 1) > IMAGE_BAND_MAX, "more than %d rows of %zu", rows,
             row);
        uint8_t *pixels = guarded_end(&memory, length);
        for (size_t j = 0; j < length; j++)
            pixels[j] = (uint8_t)chance(&state);
        ck_assert_int_eq(image_writer_band(&bands.blob[0], &bands.sum[0], writer, pixel, widths[i],
                                           rows, pixels),
                         0);
        struct blob *file = join(&bands, &scene);
        scene.pixels = pixels;
        check_file(file, &scene, "the largest");
        blob_release(file);
        bands_free(&bands, 1);
    }
}
END_TEST

static const struct {
    int width, rows;
} no_bands[] = {{4098, 1}, {0, 1}, {-1, 1}, {4097, 0}, {4097, -1}, {4097, 97}, {1, 262315}};

/* A band that is too large is an error of the caller. */
START_TEST(test_no_band)
{
    struct blob *blob;
    struct adler sum;
    if (!freopen("/dev/null", "w", stderr))
        return;
    image_writer_band(&blob, &sum, writer, PIXEL_GRAY16, no_bands[_i].width, no_bands[_i].rows,
                      memory.map);
}
END_TEST

/* The parts of a file are whole chunks; the lengths of head and tail are constant. */
START_TEST(test_ends)
{
    struct blob *head, *tail;
    const struct adler none = {0};
    ck_assert_int_eq(image_writer_head(&head, kinds[_i].pixel, NULL, 4097, 1), 0);
    ck_assert_uint_eq(head->length, HEAD_LENGTH);
    ck_assert_int_eq(image_writer_tail(&tail, &none), 0);
    ck_assert_uint_eq(tail->length, 12 + 9 + 12);
    ck_assert_mem_eq(tail->bytes + 4, "IDAT", 4);
    ck_assert_mem_eq(tail->bytes + 12 + 9 + 4, "IEND", 4);
    blob_release(head);
    blob_release(tail);
}
END_TEST

/* libpng refuses such a picture, and logs it. */
START_TEST(test_no_picture)
{
    struct blob *head;
    if (!freopen("/dev/null", "w", stderr))
        ck_abort_msg("no /dev/null");
    ck_assert_int_eq(image_writer_head(&head, PIXEL_GRAY16, NULL, 0, 1), -EIO);
    ck_assert_int_eq(image_writer_head(&head, PIXEL_GRAY16, NULL, 1, -1), -EIO);
}
END_TEST

extern char **environ;

/* Whether an independent program finds no error. */
static bool pngcheck_passes(const struct blob *file)
{
    char directory[FOLDER_TEXT], path[FOLDER_TEXT + 16];
    pid_t process;
    int status = -1;

    snprintf(path, sizeof path, "%s/bands.png", folder_new(directory));
    file_write(path, file->bytes, file->length);
    char *arguments[] = {(char[]){"pngcheck"}, (char[]){"-q"}, path, NULL};
    posix_spawn_file_actions_t quiet;
    posix_spawn_file_actions_init(&quiet);
    posix_spawn_file_actions_addopen(&quiet, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    const int err = posix_spawnp(&process, "pngcheck", &quiet, NULL, arguments, environ);
    ck_assert_msg(err == 0, "pngcheck: %s", strerror(err));
    posix_spawn_file_actions_destroy(&quiet);
    ck_assert_int_eq(waitpid(process, &status, 0), process);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

START_TEST(test_pngcheck)
{
    struct scene scene = {.kind = _i, .width = 4097, .height = TALLEST, .band = 16};
    paint(&scene, TERRAIN);
    struct blob *file = file_of(&scene);
    ck_assert(pngcheck_passes(file));
    file->bytes[HEAD_LENGTH + 100] ^= 1; /* in the first band */
    ck_assert(!pngcheck_passes(file));
    blob_release(file);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("image bands");
    TCase *tcase = suite_case(suite, "bands");
    tcase_add_checked_fixture(tcase, bands_set_up, bands_tear_down);
    tcase_add_loop_test(tcase, test_round_trip, 0, KINDS_AND_WIDTHS);
    tcase_add_loop_test(tcase, test_any_order, 0, ROWS(kinds));
    tcase_add_test(tcase, test_threads);
    tcase_add_loop_test(tcase, test_length, 0, ROWS(kinds));
    tcase_add_loop_test(tcase, test_largest, 0, ROWS(kinds));
    tcase_add_loop_test_raise_signal(tcase, test_no_band, SIGABRT, 0, ROWS(no_bands));
    tcase_add_loop_test(tcase, test_ends, 0, ROWS(kinds));
    tcase_add_test(tcase, test_no_picture);
    tcase_add_loop_test(tcase, test_pngcheck, 0, ROWS(kinds));
    return suite_run(suite);
}
