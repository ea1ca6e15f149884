/* Palettes: exact when few colors are far apart, close to the picture when it has many. */
#include "server/png/palette.h"

#include <math.h>

#include "tests/unit/support/fixtures.h"

enum { SIDE = 256, COUNT = SIDE * SIDE };

static struct palette_maker *maker;
static struct guarded pixels, index_of;
static uint8_t palette[PALETTE_COLORS][3];

static void set_up(void)
{
    maker = palette_maker_new();
    ck_assert_ptr_nonnull(maker);
    guarded_new(&pixels, 3 * PALETTE_PIXELS_MAX);
    guarded_new(&index_of, PALETTE_PIXELS_MAX);
}

static void tear_down(void)
{
    guarded_free(&pixels);
    guarded_free(&index_of);
    palette_maker_free(maker);
}

/* How far a picture is from its pixels, in levels of a channel. */
struct errors {
    double mean;
    int worst;
};

/* The palette has COLORS in order of brightness, and all are used. */
static void check_order(const uint8_t *index, size_t count, int colors)
{
    bool used[PALETTE_COLORS] = {false};
    for (size_t i = 0; i < count; i++) {
        must(index[i] < colors, "pixel %zu: %d of %d", i, index[i], colors);
        used[index[i]] = true;
    }
    for (int i = 0; i < colors; i++)
        must(used[i], "color %d of %d has no pixel", i, colors);
    for (int i = 1; i < colors; i++)
        must(palette[i - 1][0] < palette[i][0] || palette[i - 1][1] < palette[i][1] ||
                 palette[i - 1][2] < palette[i][2] || !memcmp(palette[i - 1], palette[i], 3),
             "color %d is brighter than the next", i - 1);
}

static struct errors errors_of(const uint8_t *bytes, const uint8_t *index, size_t count)
{
    struct errors errors = {0, 0};
    for (size_t i = 0; i < 3 * count; i++) {
        const int error = abs(palette[index[i / 3]][i % 3] - bytes[i]);
        errors.mean += (double)error / (3 * (double)count);
        errors.worst = error > errors.worst ? error : errors.worst;
    }
    return errors;
}

/* Color N, a different one for each N since an odd factor is invertible. */
static void color_of(uint8_t out[3], int n)
{
    const uint32_t any = (uint32_t)n * 0x9e3779b1u;
    for (int part = 0; part < 3; part++)
        out[part] = (uint8_t)(any >> 8 * part);
}

/* COLORS far apart in COUNT pixels: each at least once, the last one at the very end. */
static void check_few(int colors, size_t count, bool first, uint64_t *state)
{
    uint8_t *bytes = guarded_bytes(&pixels, 3 * count, first);
    uint8_t *index = guarded_bytes(&index_of, count, first);
    const int others = colors > 1 ? colors - 1 : 1;
    for (size_t i = 0; i < count; i++) {
        const int last = colors - (int)(count - i);
        color_of(bytes + 3 * i, last >= 0 ? last : chance_below(state, others));
    }
    ck_assert_int_eq(palette_make(maker, index, palette, bytes, count), colors);
    check_order(index, count, colors);
    ck_assert_int_eq(errors_of(bytes, index, count).worst, 0);
}

static const int numbers[] = {1, 2, 3, 16, 17, 255, 256};

START_TEST(test_few_colors_are_kept)
{
    uint64_t state = 3;
    for (int first = 0; first < 2; first++) {
        check_few(numbers[_i], (size_t)numbers[_i], first, &state);
        check_few(numbers[_i], (size_t)numbers[_i] + 1, first, &state);
        check_few(numbers[_i], 65 * 65, first, &state);
        check_few(numbers[_i], PALETTE_PIXELS_MAX, first, &state);
    }
}
END_TEST

enum scheme { GRAYS, REDS, GREENS, BLUES, SCHEMES };

/* Shades that follow each other are at most a cell apart: no one sees that they are one. */
START_TEST(test_shades_are_close)
{
    static const uint8_t has[SCHEMES][3] = {{1, 1, 1}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    uint8_t bytes[3 * 256], index[256];
    for (int i = 0; i < 3 * 256; i++)
        bytes[i] = (uint8_t)(i / 3 * has[_i][i % 3]);
    const int colors = palette_make(maker, index, palette, bytes, 256);
    ck_assert_int_ge(colors, 64);
    check_order(index, 256, colors);
    ck_assert_int_le(errors_of(bytes, index, 256).worst, 3);
}
END_TEST

/* Three slow waves, of HUES of color and ROUGH levels of noise in lightness. */
static void paint_ground(uint8_t *out, double hues, int rough, uint64_t *state)
{
    for (int i = 0; i < COUNT; i++) {
        const double x = i % SIDE / 41.0, y = i / SIDE / 29.0;
        const double light = 130 + 60 * sin(x + 2 * y) + (rough ? chance_below(state, rough) : 0);
        const double red = hues * sin(0.7 * x - y), blue = hues * cos(1.3 * y + x);
        const double of[3] = {light + red, light, light + blue};
        for (int c = 0; c < 3; c++)
            out[3 * i + c] = (uint8_t)fmin(fmax(of[c], 0), 255);
    }
}

/* The means are what these pictures have, with a tenth to spare. */
static const struct {
    double hues;
    int rough, worst;
    double mean;
} grounds[] = {{0, 0, 1, 0.6}, {4, 0, 6, 1.4}, {8, 20, 9, 1.8}, {20, 40, 14, 3.3}};

START_TEST(test_many_colors_move_little)
{
    uint64_t state = 5;
    uint8_t *bytes = guarded_bytes(&pixels, 3 * COUNT, true);
    uint8_t *index = guarded_bytes(&index_of, COUNT, true);
    paint_ground(bytes, grounds[_i].hues, grounds[_i].rough, &state);
    const int colors = palette_make(maker, index, palette, bytes, COUNT);
    ck_assert_int_gt(colors, 0);
    check_order(index, COUNT, colors);
    const struct errors errors = errors_of(bytes, index, COUNT);
    ck_assert_int_le(errors.worst, grounds[_i].worst);
    ck_assert_double_le(errors.mean, grounds[_i].mean);
}
END_TEST

/* A level area keeps its color beside one that has thousands, so that no seam shows in it. */
START_TEST(test_level_areas_keep_their_color)
{
    static const uint8_t sea[3] = {40, 71, 109};
    uint64_t state = 6;
    uint8_t *bytes = guarded_bytes(&pixels, 3 * COUNT, true);
    uint8_t *index = guarded_bytes(&index_of, COUNT, true);
    paint_ground(bytes, 20, 40, &state);
    for (int i = 0; i < COUNT / 4; i++)
        memcpy(bytes + 3 * i, sea, 3);
    ck_assert_int_gt(palette_make(maker, index, palette, bytes, COUNT), 0);
    for (int i = 0; i < COUNT / 4; i++)
        for (int c = 0; c < 3; c++)
            must(abs(palette[index[i]][c] - sea[c]) <= 1, "pixel %d: %d", i, palette[index[i]][c]);
}
END_TEST

/* Colors everywhere cannot be shown by 256, and the next picture is not affected. */
START_TEST(test_too_many_colors)
{
    uint64_t state = 7;
    uint8_t *bytes = guarded_bytes(&pixels, 3 * COUNT, true);
    uint8_t *index = guarded_bytes(&index_of, COUNT, true);
    for (int i = 0; i < COUNT; i++)
        color_of(bytes + 3 * i, i);
    ck_assert_int_eq(palette_make(maker, index, palette, bytes, COUNT), 0);
    check_few(256, COUNT, true, &state);
}
END_TEST

/* The same picture gives the same result after any other. */
START_TEST(test_pure)
{
    static uint8_t once[COUNT], first[PALETTE_COLORS][3];
    uint64_t state = 8;
    uint8_t *bytes = guarded_bytes(&pixels, 3 * COUNT, true);
    uint8_t *index = guarded_bytes(&index_of, COUNT, true);
    paint_ground(bytes, 20, 40, &state);
    const int colors = palette_make(maker, index, palette, bytes, COUNT);
    memcpy(once, index, COUNT);
    memcpy(first, palette, sizeof first);
    check_few(255, 1000, false, &state);
    state = 8;
    bytes = guarded_bytes(&pixels, 3 * COUNT, true);
    paint_ground(bytes, 20, 40, &state);
    ck_assert_int_eq(palette_make(maker, index, palette, bytes, COUNT), colors);
    ck_assert_mem_eq(index, once, COUNT);
    ck_assert_mem_eq(palette, first, 3 * (size_t)colors);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("palette");
    TCase *tcase = suite_case(suite, "palettes");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_loop_test(tcase, test_few_colors_are_kept, 0, ROWS(numbers));
    tcase_add_loop_test(tcase, test_shades_are_close, 0, SCHEMES);
    tcase_add_loop_test(tcase, test_many_colors_move_little, 0, ROWS(grounds));
    tcase_add_test(tcase, test_level_areas_keep_their_color);
    tcase_add_test(tcase, test_too_many_colors);
    tcase_add_test(tcase, test_pure);
    return suite_run(suite);
}
