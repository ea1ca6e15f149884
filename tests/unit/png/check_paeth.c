/* The Paeth filter against the formula of the PNG specification. */
#include "server/png/paeth.h"
#include "tests/unit/support/fixtures.h"

enum { LENGTH_MAX = 1536, PIXEL_MAX = 4, BYTES = 256 };

static struct guarded row, above, out;

static void set_up(void)
{
    guarded_new(&row, LENGTH_MAX);
    guarded_new(&above, LENGTH_MAX);
    guarded_new(&out, LENGTH_MAX);
}

static void tear_down(void)
{
    guarded_free(&row);
    guarded_free(&above);
    guarded_free(&out);
}

/* PNG, third edition, 9.4: a is left, b above, c above left. */
static inline int paeth_predictor(int a, int b, int c)
{
    int p = a + b - c, pa = abs(p - a), pb = abs(p - b), pc = abs(p - c);
    if (pa <= pb && pa <= pc)
        return a;
    return pb <= pc ? b : c;
}

static void check_row(const uint8_t *got, const uint8_t *bytes, const uint8_t *before,
                      size_t length, size_t pixel)
{
    for (size_t i = 0; i < length; i++) {
        int a = i < pixel ? 0 : bytes[i - pixel], b = before ? before[i] : 0;
        int c = i < pixel || !before ? 0 : before[i - pixel];
        must(got[i] == (uint8_t)(bytes[i] - paeth_predictor(a, b, c)),
             "byte %zu of %zu, %zu a pixel, is %d: a %d, b %d, c %d give %d", i, length, pixel,
             bytes[i], a, b, c, got[i]);
    }
}

/* Random bytes, or only the extremes of unsigned and signed bytes. */
static void fill(uint8_t *bytes, size_t length, bool extreme, uint64_t *state)
{
    static const uint8_t extremes[] = {0, 1, 127, 128, 254, 255};
    for (size_t i = 0; i < length; i++) {
        uint64_t any = chance(state);
        bytes[i] = extreme ? extremes[any % sizeof extremes] : (uint8_t)any;
    }
}

/* Rows at either end of guarded memory: nothing before or after a row is touched. */
static void check_length(size_t length, size_t pixel, uint64_t *state)
{
    for (int way = 0; way < 8; way++) {
        bool first = way & 1, extreme = way & 2;
        uint8_t *bytes = guarded_bytes(&row, length, first);
        uint8_t *before = guarded_bytes(&above, length, first);
        uint8_t *got = guarded_bytes(&out, length, first);
        fill(bytes, length, extreme, state);
        fill(before, length, extreme, state);
        memset(out.map, 0x5a, out.capacity);
        before = way & 4 ? NULL : before;
        paeth_row(got, bytes, before, length, pixel);
        check_row(got, bytes, before, length, pixel);
        uint8_t beside = first ? out.map[length] : out.map[out.capacity - length - 1];
        must(length == out.capacity || beside == 0x5a, "%zu bytes: wrote beside them", length);
    }
}

START_TEST(test_lengths)
{
    uint64_t state = 1;
    for (size_t pixel = 1; pixel <= PIXEL_MAX; pixel++) {
        for (size_t length = pixel; length <= 200; length++)
            check_length(length, pixel, &state);
        check_length(LENGTH_MAX, pixel, &state);
    }
}
END_TEST

/* All values of left, above and corner, two pixels at a time: the first one holds left and corner,
 * and the second one is predicted. */
START_TEST(test_exhaustive)
{
    enum { LENGTH = 2 * (BYTES * BYTES + PIXEL_MAX) };
    const size_t pixel = (size_t)_i;
    static uint8_t bytes[LENGTH], before[LENGTH], got[LENGTH];
    uint64_t state = 2;
    fill(bytes, sizeof bytes, false, &state);
    const size_t length = 2 * pixel * ((BYTES * BYTES + pixel - 1) / pixel);
    for (int c = 0; c < BYTES; c++) {
        for (size_t i = 0; i < length; i++) {
            size_t ab = i / (2 * pixel) * pixel + i % pixel;
            bool second = i / pixel & 1;
            if (!second)
                bytes[i] = (uint8_t)ab;
            before[i] = (uint8_t)(second ? ab / BYTES : (size_t)c);
        }
        paeth_row(got, bytes, before, length, pixel);
        check_row(got, bytes, before, length, pixel);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("paeth");
    TCase *tcase = suite_case(suite, "paeth");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, test_lengths);
    tcase_add_loop_test(tcase, test_exhaustive, 1, PIXEL_MAX + 1);
    return suite_run(suite);
}
