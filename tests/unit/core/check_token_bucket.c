/* The bucket gives a tenth of the time, and little more than that for a moment. */
#include "server/core/token_bucket.h"

#include "tests/unit/support/fixtures.h"

enum { US = 1000, MS = 1000 * US, SECOND = 1000 * MS };

/* Take COST as often as possible for DURATION, asking each PAUSE. Returns what was taken. */
static int64_t take_all(struct token_bucket *bucket, uint64_t *now, int64_t duration, int64_t pause,
                        int64_t cost)
{
    int64_t taken = 0;
    for (const uint64_t end = *now + (uint64_t)duration; *now < end; *now += (uint64_t)pause)
        while (token_bucket_take(bucket, *now, cost))
            taken += cost;
    return taken;
}

static const struct {
    int64_t duration, pause, cost;
} floods[] = {
    {SECOND, 10 * US, 50 * US},   {SECOND, MS, US}, {SECOND, 40 * MS, 50 * US}, {MS, 1, 50 * US},
    {60LL * SECOND, MS, 50 * US},
};

START_TEST(gives_a_tenth)
{
    struct token_bucket bucket = {0};
    uint64_t now = 12345 * (uint64_t)SECOND;
    const int64_t duration = floods[_i].duration, share = duration / TOKEN_BUCKET_SHARE;
    const int64_t taken = take_all(&bucket, &now, duration, floods[_i].pause, floods[_i].cost);
    ck_assert_int_le(taken, share + TOKEN_BUCKET_DEPTH);
    ck_assert_int_ge(taken, share - floods[_i].cost);
}
END_TEST

START_TEST(saves_no_more_than_its_depth)
{
    struct token_bucket bucket = {0};
    ck_assert(token_bucket_take(&bucket, SECOND, TOKEN_BUCKET_DEPTH));
    ck_assert(!token_bucket_take(&bucket, SECOND, 1));
    ck_assert(!token_bucket_take(&bucket, (uint64_t)3600 * SECOND, TOKEN_BUCKET_DEPTH + 1));
    ck_assert(token_bucket_take(&bucket, (uint64_t)3600 * SECOND, TOKEN_BUCKET_DEPTH));
}
END_TEST

/* Work that took too long is paid back first. */
START_TEST(corrects)
{
    struct token_bucket bucket = {0};
    ck_assert(token_bucket_take(&bucket, SECOND, 50 * US));
    token_bucket_correct(&bucket, 100 * MS);
    ck_assert(!token_bucket_take(&bucket, SECOND + 900 * MS, 50 * US));
    ck_assert(token_bucket_take(&bucket, SECOND + 960 * MS, 50 * US));
    token_bucket_correct(&bucket, -50 * US);
    ck_assert(token_bucket_take(&bucket, SECOND + 960 * MS, 50 * US));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("token bucket");
    TCase *tcase = suite_case(suite, "token bucket");
    tcase_add_loop_test(tcase, gives_a_tenth, 0, ROWS(floods));
    tcase_add_test(tcase, saves_no_more_than_its_depth);
    tcase_add_test(tcase, corrects);
    return suite_run(suite);
}
