/* Indexed color: the palette is complete, and sorted by brightness. */
#include "server/png/color_index.h"
#include "tests/unit/support/fixtures.h"

enum { COUNT_MAX = 512 * 512 };

static struct guarded pixels, index_of;

static void set_up(void)
{
    guarded_new(&pixels, 3 * COUNT_MAX);
    guarded_new(&index_of, COUNT_MAX);
}

static void tear_down(void)
{
    guarded_free(&pixels);
    guarded_free(&index_of);
}

enum choice { ANY, GREYS, REDS, BLUES, CHOICES };

/* Color N of a scheme, a different one for each N, since an odd factor is invertible. The 257th is
 * none of a scheme's 256 shades. */
static void colour_of(uint8_t out[3], enum choice choice, int n)
{
    static const uint8_t factors[CHOICES][3] = {{0}, {1, 1, 1}, {1, 0, 0}, {0, 0, 1}};
    const uint32_t any = (uint32_t)n * 0x9e3779b1u;
    for (int part = 0; part < 3; part++)
        out[part] = (uint8_t)(choice == ANY ? any >> 8 * part
                              : n < 256     ? (unsigned)n * factors[choice][part]
                                            : (unsigned)part + 1);
}

/* No channel of A is brighter than that of B: so A is not brighter, whatever the weights. */
static bool no_brighter(const uint8_t a[3], const uint8_t b[3])
{
    return a[0] <= b[0] && a[1] <= b[1] && a[2] <= b[2];
}

static void check_colours(enum choice choice, int colours, size_t count, bool first,
                          uint64_t *state)
{
    uint8_t *bytes = guarded_bytes(&pixels, 3 * count, first);
    uint8_t *index = guarded_bytes(&index_of, count, first);
    /* Each color at least once, the last one at the very end, the rest random. */
    const int others = colours > 1 ? colours - 1 : 1;
    for (size_t i = 0; i < count; i++) {
        int last = colours - (int)(count - i);
        colour_of(bytes + 3 * i, choice, last >= 0 ? last : chance_below(state, others));
    }
    uint8_t palette[COLOR_INDEX_MAX][3];
    int got = color_index(index, palette, bytes, count);
    must(got == (colours > COLOR_INDEX_MAX ? 0 : colours), "choice %d, %d colours in %zu: %d",
         choice, colours, count, got);
    for (size_t i = 0; got && i < count; i++)
        must(index[i] < got && memcmp(palette[index[i]], bytes + 3 * i, 3) == 0,
             "choice %d, %d colours: pixel %zu of %zu", choice, colours, i, count);
    for (int i = 0; i < got; i++)
        for (int j = i + 1; j < got; j++)
            must(!no_brighter(palette[j], palette[i]), "choice %d, %d colours: %d before %d",
                 choice, colours, i, j);
}

static const int numbers[] = {1, 2, 3, 16, 255, 256, 257, 1000};

START_TEST(test_colours)
{
    uint64_t state = 3;
    const int colours = numbers[_i];
    for (enum choice choice = 0; choice < CHOICES; choice++) {
        if (choice != ANY && colours > 257)
            continue;
        for (int first = 0; first < 2; first++) {
            check_colours(choice, colours, (size_t)colours, first, &state);
            check_colours(choice, colours, (size_t)colours + 1, first, &state);
            check_colours(choice, colours, 65 * 65, first, &state);
            check_colours(choice, colours, COUNT_MAX, first, &state);
        }
    }
}
END_TEST

/* Colors that differ in a single bit, and black and white. */
START_TEST(test_bits)
{
    uint8_t bytes[3 * 50] = {0}, index[50], palette[COLOR_INDEX_MAX][3];
    for (int bit = 0; bit < 24; bit++) {
        bytes[3 * (1 + bit) + bit / 8] = (uint8_t)(1 << bit % 8);
        memset(bytes + 3 * (25 + bit), 0xff, 3);
        bytes[3 * (25 + bit) + bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
    memset(bytes + 3 * 49, 0xff, 3);
    ck_assert_int_eq(color_index(index, palette, bytes, 50), 50);
    for (int i = 0; i < 50; i++)
        ck_assert_mem_eq(palette[index[i]], bytes + 3 * i, 3);
    ck_assert_int_eq(index[0], 0);
    ck_assert_int_eq(index[49], 49);
    /* Half of any channel is brighter than a sixteenth of any other. */
    for (int bright = 7; bright < 24; bright += 8)
        for (int dark = 0; dark < 24; dark++)
            ck_assert(dark % 8 > 4 || index[1 + bright] > index[1 + dark]);
}
END_TEST

/* A second picture is independent of the first. */
START_TEST(test_pure)
{
    uint64_t state = 4;
    check_colours(ANY, 257, 1000, false, &state);
    check_colours(REDS, 256, 1000, false, &state);
    check_colours(BLUES, 2, 1000, false, &state);
    check_colours(ANY, 256, 1000, false, &state);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("color index");
    TCase *tcase = suite_case(suite, "palettes");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_loop_test(tcase, test_colours, 0, ROWS(numbers));
    tcase_add_test(tcase, test_bits);
    tcase_add_test(tcase, test_pure);
    return suite_run(suite);
}
