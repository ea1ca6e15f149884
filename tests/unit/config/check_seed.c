/* Seeds: numbers of 64 bits, signed or not, and the hash of other text. tests/browser/seed.test.mjs
 * has the same rows for seed.js. */
#include "config/seed.h"

#include <errno.h>
#include <inttypes.h>

#include "tests/unit/support/fixtures.h"

static struct guarded memory;

static void set_up(void)
{
    guarded_new(&memory, 128);
}

static void tear_down(void)
{
    guarded_free(&memory);
}

#define ZEROS40 "0000000000000000000000000000000000000000"

static const struct {
    const char *text;
    uint64_t seed;
} table[] = {
    {"0", 0},
    {"-0", 0},
    {"0042", 42},
    {" 7 ", 7},
    {"\t7\r\n", 7},
    {"18446744073709551615", UINT64_MAX},
    {"-1", UINT64_MAX},
    {"-007", UINT64_MAX - 6},
    {"9223372036854775808", UINT64_C(1) << 63},
    {"-9223372036854775808", UINT64_C(1) << 63},
    {"-9223372036854775807", (UINT64_C(1) << 63) + 1},
    {"-9223372036854775809", UINT64_C(6683965522375199174)},
    {"18446744073709551616", UINT64_C(17145954108847178093)},
    {"99999999999999999999999999999999999999", UINT64_C(9695191946594754603)},
    {ZEROS40, 0},
    {ZEROS40 "7", UINT64_C(4218680872969696310)},
    /* The hashes of the reference code. */
    {"a", UINT64_C(0xaf63dc4c8601ec8c)},
    {"foobar", UINT64_C(0x85944171f73967e8)},
    {"  foobar\t", UINT64_C(0x85944171f73967e8)},
    {"hello", UINT64_C(0xa430d84680aabd0b)},
    {"-", UINT64_C(12638121229857949336)},
    {"--1", UINT64_C(16031935166647329242)},
    {"+5", UINT64_C(568741114260578637)},
    {"1e3", UINT64_C(4952624886465500888)},
    {"1.5", UINT64_C(5007220036841904057)},
    {"0x10", UINT64_C(12117172270458030548)},
    {"Rivers & towers", UINT64_C(10180851224283138830)},
    {"\xC3\xA9", UINT64_C(775207407765167617)},
    {"\xE9\x9B\xAA\xE5\xB1\xB1", UINT64_C(7354489725993096214)},
};

START_TEST(test_seeds)
{
    uint64_t seed = 1;
    const char *text = table[_i].text;
    const char *copy = (const char *)guarded_copy(&memory, text, strlen(text));
    ck_assert_int_eq(seed_parse(copy, strlen(text), &seed), 0);
    must(seed == table[_i].seed, "\"%s\" is %" PRIu64, text, seed);
}
END_TEST

/* Blank; e and an acute accent of its own; the last of the accents; one without a letter. */
static const char *const refused[] = {"", " ", "\t \n", "e\xCC\x81", "a\xCD\xAF b", "\xCC\x80"};

START_TEST(test_refused)
{
    uint64_t seed = 1;
    const char *text = refused[_i];
    const char *copy = (const char *)guarded_copy(&memory, text, strlen(text));
    ck_assert_int_eq(seed_parse(copy, strlen(text), &seed), -EINVAL);
    ck_assert_uint_eq(seed, 1);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("seeds");
    TCase *tcase = suite_case(suite, "text");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_loop_test(tcase, test_seeds, 0, ROWS(table));
    tcase_add_loop_test(tcase, test_refused, 0, ROWS(refused));
    return suite_run(suite);
}
