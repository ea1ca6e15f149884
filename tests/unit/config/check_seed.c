/* Seeds: numbers of 64 bits, signed or not, and the hash of other text. seeds.def has the rows,
 * which tests of the viewer, of URLs, configurations and farlands.js take, too. */
#include "config/values/seed.h"

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

static const struct {
    const char *text;
    uint64_t seed;
} table[] = {
#define SEED(text, number) {text, UINT64_C(number)},
#include "seeds.def"
#undef SEED
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

static const char *const refused[] = {"", " ", "\t \n", "\v\f\r"};

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
