/* Fixtures for unit tests: random numbers, guard pages, directories, worlds, a PNG decoder. */
#ifndef FARLANDS_FIXTURES_H
#define FARLANDS_FIXTURES_H

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <netinet/in.h>
#include <png.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "server/core/blob.h"
#include "server/core/clock.h"
#include "server/layers/layer.h"
#include "server/world/worlds.h"
#include "tests/worlds/fractal.h"

#define ROWS(table) ((int)(sizeof(table) / sizeof *(table)))

/* ck_assert for inner loops: Check records every ck_assert in a file, this only a failure. */
#define must(condition, ...)           \
    do {                               \
        if (!(condition))              \
            ck_abort_msg(__VA_ARGS__); \
    } while (0)

/* The factor for time limits: 1, or more under sanitizers. */
static inline double patience(void)
{
    const char *factor = getenv("PATIENCE");
    return factor ? atof(factor) : 1;
}

/* An input of twice the size takes twice the steps, and at most MOST. Steps are what the code under
 * test counted, so a busy machine changes nothing. */
static inline void must_be_linear(size_t half, size_t whole, size_t most, const char *row)
{
    must(half > 0, "%s: no step was counted", row);
    must(10 * whole <= 21 * half, "%s: %zu steps, twice the size %zu; expected at most 2.1 times",
         row, half, whole);
    must(whole <= most, "%s: %zu steps; expected at most %zu", row, whole, most);
}

enum { FOLDER_TEXT = 256 };

static inline int folder_remove_entry(const char *path, const struct stat *status, int kind,
                                      struct FTW *place)
{
    (void)status, (void)kind, (void)place;
    return remove(path);
}

static inline void folder_remove(const char *path)
{
    nftw(path, folder_remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

/* Parent of every directory that tests make, so that it is removed even if a test crashes. */
static char test_folder[FOLDER_TEXT / 2];

/* Run SUITE, each test in a process of its own. Returns the program's exit code. */
static inline int suite_run(Suite *suite)
{
    const char *parent = getenv("TMPDIR");
    snprintf(test_folder, sizeof test_folder, "%s/farlands-check-XXXXXX",
             parent && *parent ? parent : "/tmp");
    if (!mkdtemp(test_folder)) {
        perror(test_folder);
        return EXIT_FAILURE;
    }
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    folder_remove(test_folder);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

/* Add a test case to SUITE, with a timeout long enough for sanitizers. */
static inline TCase *suite_case(Suite *suite, const char *name)
{
    TCase *tcase = tcase_create(name);
    tcase_set_timeout(tcase, 60);
    suite_add_tcase(suite, tcase);
    return tcase;
}

/* Both ends of a TCP connection, the server's non-blocking end first. TCP, because only there
 * closing a socket with unread bytes resets the connection. */
static inline void tcp_pair(int ends[2])
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof address;
    int listener = socket(AF_INET, SOCK_STREAM, 0);

    ck_assert_int_eq(bind(listener, (struct sockaddr *)&address, length), 0);
    ck_assert_int_eq(listen(listener, 1), 0);
    ck_assert_int_eq(getsockname(listener, (struct sockaddr *)&address, &length), 0);
    ends[1] = socket(AF_INET, SOCK_STREAM, 0);
    ck_assert_int_eq(connect(ends[1], (struct sockaddr *)&address, length), 0);
    ends[0] = accept4(listener, NULL, NULL, SOCK_NONBLOCK);
    ck_assert_int_ge(ends[0], 0);
    close(listener);
}

/* splitmix64: the same numbers in every run. */
static inline uint64_t chance(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

/* From 0 to BELOW - 1. */
static inline int chance_below(uint64_t *state, int below)
{
    return (int)(chance(state) % (uint64_t)below);
}

/* Memory between two guard pages. */
struct guarded {
    uint8_t *map;
    size_t capacity;
};

static inline void guarded_new(struct guarded *guarded, size_t capacity)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    guarded->capacity = (capacity + page - 1) / page * page;
    uint8_t *map =
        mmap(NULL, guarded->capacity + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ck_assert_ptr_ne(map, MAP_FAILED);
    guarded->map = map + page;
    ck_assert_int_eq(mprotect(guarded->map, guarded->capacity, PROT_READ | PROT_WRITE), 0);
}

/* Its last LENGTH bytes or, if FIRST, its first. */
static inline uint8_t *guarded_bytes(struct guarded *guarded, size_t length, bool first)
{
    must(length <= guarded->capacity, "no room for %zu bytes", length);
    return guarded->map + (first ? 0 : guarded->capacity - length);
}

/* LENGTH bytes that end at the guard page. */
static inline void *guarded_end(struct guarded *guarded, size_t length)
{
    return guarded_bytes(guarded, length, false);
}

/* A copy of BYTES that ends at the guard page. */
static inline uint8_t *guarded_copy(struct guarded *guarded, const void *bytes, size_t length)
{
    uint8_t *copy = guarded_end(guarded, length);
    if (length)
        memcpy(copy, bytes, length);
    return copy;
}

static inline void guarded_free(struct guarded *guarded)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    munmap(guarded->map - page, guarded->capacity + 2 * page);
}

/* Make a new, empty directory. Returns PATH. */
static inline char *folder_new(char path[FOLDER_TEXT])
{
    snprintf(path, FOLDER_TEXT, "%s/XXXXXX", test_folder);
    ck_assert_msg(mkdtemp(path) != NULL, "mkdtemp: %s", path);
    return path;
}

static inline void file_write(const char *path, const void *bytes, size_t length)
{
    FILE *file = fopen(path, "wb");
    ck_assert_msg(file != NULL, "cannot write %s", path);
    ck_assert_uint_eq(fwrite(bytes, 1, length, file), length);
    ck_assert_int_eq(fclose(file), 0);
}

static inline bool file_exists(const char *path)
{
    struct stat status;
    return lstat(path, &status) == 0;
}

/* The contents of the file as a blob with one reference, or NULL. */
static inline struct blob *file_read(const char *path)
{
    FILE *file = fopen(path, "rb");
    struct stat status;
    if (!file)
        return NULL;
    must(fstat(fileno(file), &status) == 0, "%s: %s", path, strerror(errno));
    struct blob *blob = blob_new((size_t)status.st_size);
    must(fread(blob->bytes, 1, blob->length, file) == blob->length, "%s is cut off", path);
    fclose(file);
    return blob;
}

/* The configuration FILE, or the built-in one if FILE is NULL. */
static inline struct config *config_of(const char *file)
{
    struct config *config;
    struct config_layer known[CONFIG_LAYERS_MAX + 1];
    struct config_error error = {0};
    layers_known(known);
    ck_assert_msg(config_load(&config, file, known, &error) == 0, "%s", error.text);
    return config;
}

/* That of TEXT. */
static inline struct config *config_of_text(const char *text)
{
    char folder[FOLDER_TEXT], file[FOLDER_TEXT + 16];
    snprintf(file, sizeof file, "%s/a.yaml", folder_new(folder));
    file_write(file, text, strlen(text));
    struct config *config = config_of(file);
    folder_remove(folder);
    return config;
}

/* The worlds of CONFIG, which is freed. */
static inline struct worlds *worlds_of_config(struct config *config)
{
    struct worlds *worlds;
    ck_assert_int_eq(worlds_new(&worlds, config), 0);
    config_free(config);
    return worlds;
}

static inline struct worlds *worlds_of(const char *file)
{
    return worlds_of_config(config_of(file));
}

static inline struct worlds *worlds_of_text(const char *text)
{
    return worlds_of_config(config_of_text(text));
}

/* The layers of the table that a single noise has: no rivers, no biomes, no other fields. */
static inline int plain_layers(void)
{
    int count = 0;
    for (const struct layer *layer = layers; layer->name; layer++)
        count += !layer->fields && !layer->biomes && !layer->rivers;
    return count;
}

/* A decoded PNG: 16-bit samples in native order, indexed colors as RGB, rows packed. */
struct picture {
    uint32_t width, height;
    int depth, color; /* of the file: PNG_COLOR_TYPE_... */
    size_t bytes;
    uint8_t *pixels;
};

struct picture_source {
    const uint8_t *bytes;
    size_t left;
};

static inline void picture_read(png_structp png, png_bytep out, size_t length)
{
    struct picture_source *source = png_get_io_ptr(png);
    if (length > source->left)
        png_error(png, "ends too soon");
    memcpy(out, source->bytes, length);
    source->bytes += length;
    source->left -= length;
}

/* Decode a PNG, or fail the test. */
static inline void picture_decode(struct picture *picture, const uint8_t *bytes, size_t length)
{
    struct picture_source source = {bytes, length};
    png_structp png = png_create_read_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
    png_infop info = png_create_info_struct(png);
    if (setjmp(png_jmpbuf(png)))
        ck_abort_msg("not a PNG that libpng reads");
    png_set_read_fn(png, &source, picture_read);
    png_set_crc_action(png, PNG_CRC_ERROR_QUIT, PNG_CRC_ERROR_QUIT);
    png_read_info(png, info);
    picture->width = png_get_image_width(png, info);
    picture->height = png_get_image_height(png, info);
    picture->depth = png_get_bit_depth(png, info);
    picture->color = png_get_color_type(png, info);
    if (picture->color == PNG_COLOR_TYPE_PALETTE)
        png_set_palette_to_rgb(png);
    if (picture->depth == 16)
        png_set_swap(png);
    png_read_update_info(png, info);
    size_t row = png_get_rowbytes(png, info);
    picture->bytes = row * picture->height;
    picture->pixels = malloc(picture->bytes);
    for (uint32_t y = 0; y < picture->height; y++)
        png_read_row(png, picture->pixels + y * row, NULL);
    png_read_end(png, NULL);
    png_destroy_read_struct(&png, &info, NULL);
    ck_assert_uint_eq(source.left, 0);
}

static inline void picture_free(struct picture *picture)
{
    free(picture->pixels);
}

#endif
