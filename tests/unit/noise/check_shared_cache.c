/* A cache that threads share: what is found is what was published, whatever others do. */
#include <pthread.h>
#include <stdbool.h>

#include "noise/drainage/shared_cache.h"
#include "tests/unit/support/fixtures.h"

enum { RECORDS = 64, WORDS = 500 };

struct content {
    uint64_t word[WORDS];
};

static struct shared_cache *cache;

static void set_up(void)
{
    ck_assert_int_eq(shared_cache_new(&cache, sizeof(struct content), RECORDS), 0);
}

static void tear_down(void)
{
    shared_cache_free(cache);
}

static struct shared_key key_of(int64_t number)
{
    return (struct shared_key){.owner = 1, .i = number, .j = -number};
}

static uint64_t word_of(int64_t number, int k)
{
    return (uint64_t)number * 1000 + (uint64_t)k;
}

/* Publish NUMBER's content, pinned. */
static struct content *publish(int64_t number)
{
    const struct shared_key key = key_of(number);
    struct content *content = shared_cache_claim(cache, &key);
    for (int k = 0; k < WORDS; k++)
        content->word[k] = word_of(number, k);
    shared_cache_publish(cache, content);
    return content;
}

static const struct content *pin(int64_t number)
{
    const struct shared_key key = key_of(number);
    return shared_cache_pin(cache, &key);
}

static bool is_whole(const struct content *content, int64_t number)
{
    bool whole = true;
    for (int k = 0; k < WORDS; k++)
        whole &= content->word[k] == word_of(number, k);
    return whole;
}

START_TEST(what_was_published_is_found)
{
    ck_assert_ptr_null(pin(7));
    struct content *published = publish(7);
    ck_assert_ptr_eq(pin(7), published);
    shared_cache_unpin(cache, published);
    shared_cache_unpin(cache, published);
    const struct content *found = pin(7);
    ck_assert(is_whole(found, 7));
    shared_cache_unpin(cache, found);
    ck_assert_ptr_null(pin(8));
}
END_TEST

/* Each part of a key counts. */
START_TEST(keys_differ)
{
    const struct shared_key key = {1, 2, 3, 4, 5};
    const struct shared_key others[] = {
        {9, 2, 3, 4, 5}, {1, 9, 3, 4, 5}, {1, 2, 9, 4, 5}, {1, 2, 3, 9, 5}, {1, 2, 3, 4, 9}};
    void *content = shared_cache_claim(cache, &key);
    ck_assert_ptr_null(shared_cache_pin(cache, &key));
    shared_cache_publish(cache, content);
    for (int k = 0; k < ROWS(others); k++)
        ck_assert_ptr_null(shared_cache_pin(cache, &others[k]));
    ck_assert_ptr_eq(shared_cache_pin(cache, &key), content);
    shared_cache_unpin(cache, content);
    shared_cache_unpin(cache, content);
}
END_TEST

/* New records displace those that were used least recently, and no record that is pinned. */
START_TEST(records_that_are_used_stay)
{
    enum { OFTEN = 0, PINNED = 1, FIRST = 2, LAST = 50 * RECORDS };
    shared_cache_unpin(cache, publish(OFTEN));
    const struct content *pinned = publish(PINNED);
    int kept = 0;
    for (int64_t n = FIRST; n < LAST; n++) {
        const struct content *often = pin(OFTEN);
        ck_assert_ptr_nonnull(often);
        shared_cache_unpin(cache, often);
        shared_cache_unpin(cache, publish(n));
    }
    ck_assert(is_whole(pinned, PINNED));
    ck_assert_ptr_eq(pin(PINNED), pinned);
    for (int64_t n = FIRST; n < LAST; n++) {
        const struct content *found = pin(n);
        if (!found)
            continue;
        ck_assert(is_whole(found, n));
        shared_cache_unpin(cache, found);
        kept++;
    }
    ck_assert_int_le(kept, RECORDS - 2);
    ck_assert_int_ge(kept, RECORDS / 2);
}
END_TEST

enum { THREADS = 6, ROUNDS = 20000, NUMBERS = 3 * RECORDS };

static int torn;

static void *use(void *seed)
{
    uint64_t state = (uint64_t)(uintptr_t)seed;
    for (int round = 0; round < ROUNDS; round++) {
        state = state * UINT64_C(6364136223846793005) + 1442695040888963407;
        const int64_t number = (int64_t)((state >> 33) % NUMBERS);
        const struct content *content = pin(number);
        if (!content)
            content = publish(number);
        if (!is_whole(content, number))
            __atomic_fetch_add(&torn, 1, __ATOMIC_RELAXED);
        shared_cache_unpin(cache, content);
    }
    return NULL;
}

START_TEST(threads_find_whole_records)
{
    pthread_t thread[THREADS];
    for (int k = 0; k < THREADS; k++)
        ck_assert_int_eq(pthread_create(&thread[k], NULL, use, (void *)(uintptr_t)(k + 1)), 0);
    for (int k = 0; k < THREADS; k++)
        pthread_join(thread[k], NULL);
    ck_assert_int_eq(torn, 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("shared cache");
    TCase *tcase = suite_case(suite, "records");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, what_was_published_is_found);
    tcase_add_test(tcase, keys_differ);
    tcase_add_test(tcase, records_that_are_used_stay);
    tcase_add_test(tcase, threads_find_whole_records);
    return suite_run(suite);
}
