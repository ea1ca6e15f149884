/* The memory cache: its budget, its order, and whose references are whose. */
#include "server/memory_cache.h"

#include <inttypes.h>

#include "tests/fixtures.h"

static struct memory_cache *cache;

static void make(uint64_t budget)
{
    ck_assert_int_eq(memory_cache_new(&cache, budget), 0);
}

static struct blob *blob_of(size_t length)
{
    struct blob *blob = blob_new(length);
    memset(blob->bytes, 'b', length);
    return blob;
}

/* The test holds one reference itself. */
static bool is_kept(const struct blob *blob)
{
    must(blob->references == 1 || blob->references == 2, "%u references", blob->references);
    return blob->references == 2;
}

START_TEST(test_keep)
{
    make(1 << 20);
    struct blob *one = blob_of(100), *other = blob_of(0);
    ck_assert_ptr_null(memory_cache_get(cache, "one"));
    memory_cache_put(cache, "one", one);
    memory_cache_put(cache, "", other);
    ck_assert_ptr_eq(memory_cache_get(cache, "one"), one);
    ck_assert_ptr_eq(memory_cache_get(cache, "one"), one);
    ck_assert_ptr_eq(memory_cache_get(cache, ""), other);
    ck_assert_ptr_null(memory_cache_get(cache, "on"));
    ck_assert_ptr_null(memory_cache_get(cache, "onee"));
    ck_assert_ptr_null(memory_cache_get(cache, "One"));
    /* Of its own, and none for who gets. */
    ck_assert_uint_eq(one->references, 2);
    ck_assert_uint_eq(other->references, 2);
    memory_cache_free(cache);
    ck_assert_uint_eq(one->references, 1);
    ck_assert_uint_eq(other->references, 1);
    blob_release(one);
    blob_release(other);
    memory_cache_free(NULL);
}
END_TEST

/* The key is copied. */
START_TEST(test_key)
{
    char key[] = "relief/1/2/3.png";
    make(1 << 20);
    struct blob *blob = blob_of(10);
    memory_cache_put(cache, key, blob);
    key[0] = 'x';
    ck_assert_ptr_null(memory_cache_get(cache, key));
    ck_assert_ptr_eq(memory_cache_get(cache, "relief/1/2/3.png"), blob);
    blob_release(blob);
    memory_cache_free(cache);
}
END_TEST

START_TEST(test_replace)
{
    make(1 << 20);
    struct blob *old = blob_of(1000), *new = blob_of(2000);
    memory_cache_put(cache, "key", old);
    memory_cache_put(cache, "key", new);
    ck_assert_ptr_eq(memory_cache_get(cache, "key"), new);
    ck_assert_uint_eq(old->references, 1);
    ck_assert_uint_eq(new->references, 2);
    /* The same again, and under a second key. */
    memory_cache_put(cache, "key", new);
    ck_assert_uint_eq(new->references, 2);
    memory_cache_put(cache, "other", new);
    ck_assert_uint_eq(new->references, 3);
    ck_assert_ptr_eq(memory_cache_get(cache, "other"), new);
    memory_cache_free(cache);
    ck_assert_uint_eq(new->references, 1);
    blob_release(old);
    blob_release(new);
}
END_TEST

/* Replacing gives the old one's bytes back to the budget. */
START_TEST(test_replace_in_budget)
{
    make(10000);
    struct blob *bystander = blob_of(1000);
    memory_cache_put(cache, "bystander", bystander);
    for (int i = 0; i < 1000; i++) {
        struct blob *blob = blob_of(3000);
        memory_cache_put(cache, "key", blob);
        must(memory_cache_get(cache, "key") == blob, "replacement %d is gone", i);
        blob_release(blob);
    }
    ck_assert_ptr_eq(memory_cache_get(cache, "bystander"), bystander);
    blob_release(bystander);
    memory_cache_free(cache);
}
END_TEST

START_TEST(test_too_large)
{
    make(10000);
    struct blob *small = blob_of(1000), *large = blob_of(10001), *exact = blob_of(10000);
    memory_cache_put(cache, "small", small);
    memory_cache_put(cache, "large", large);
    ck_assert_ptr_null(memory_cache_get(cache, "large"));
    ck_assert(!is_kept(large));
    /* With its key it is beyond the budget too. */
    memory_cache_put(cache, "exact", exact);
    ck_assert_ptr_null(memory_cache_get(cache, "exact"));
    ck_assert(!is_kept(exact));
    /* Instead of a small one: not the old outcome, and not the new one. */
    memory_cache_put(cache, "small", large);
    ck_assert_ptr_null(memory_cache_get(cache, "small"));
    ck_assert(!is_kept(large));
    ck_assert(!is_kept(small));
    memory_cache_free(cache);
    blob_release(small);
    blob_release(large);
    blob_release(exact);
}
END_TEST

START_TEST(test_no_budget)
{
    make((uint64_t)_i);
    struct blob *blob = blob_of(1), *empty = blob_of(0);
    memory_cache_put(cache, "blob", blob);
    memory_cache_put(cache, "empty", empty);
    ck_assert_ptr_null(memory_cache_get(cache, "blob"));
    ck_assert_ptr_null(memory_cache_get(cache, "empty"));
    ck_assert(!is_kept(blob));
    ck_assert(!is_kept(empty));
    memory_cache_free(cache);
    blob_release(blob);
    blob_release(empty);
}
END_TEST

/* Of equal ones those used last stay; both get and put are uses. */
START_TEST(test_order)
{
    enum { COUNT = 64 };
    struct blob *blobs[COUNT];
    char key[16];
    make(100000);
    int room = 0;
    for (int i = 0; i < COUNT; i++) {
        blobs[i] = blob_of(5000);
        snprintf(key, sizeof key, "%03d", i);
        memory_cache_put(cache, key, blobs[i]);
        /* The first is used again and again. */
        ck_assert_ptr_eq(memory_cache_get(cache, "000"), blobs[0]);
        room += i == room && is_kept(blobs[0]) && (i < 2 || is_kept(blobs[1]));
    }
    ck_assert_int_ge(room, 15);
    ck_assert_int_le(room, 20);
    for (int i = 1; i < COUNT; i++)
        ck_assert_msg(is_kept(blobs[i]) == (i > COUNT - room), "%d of %d with room for %d", i,
                      COUNT, room);
    memory_cache_free(cache);
    for (int i = 0; i < COUNT; i++) {
        ck_assert(!is_kept(blobs[i]));
        blob_release(blobs[i]);
    }
}
END_TEST

enum { KEYS = 200, STEPS = 20000, BUDGET = 50000 };

/* A cache of the plainest kind to compare with: keys by last use, newest last. */
struct model {
    int keys[KEYS];
    int count;
};

static void model_use(struct model *model, int key)
{
    for (int i = 0; i < model->count; i++)
        if (model->keys[i] == key) {
            memmove(model->keys + i, model->keys + i + 1,
                    (size_t)(--model->count - i) * sizeof *model->keys);
            break;
        }
    model->keys[model->count++] = key;
}

/* Random use: never beyond the budget, and gone is always the one used longest ago. */
START_TEST(test_random)
{
    static struct blob *blobs[KEYS];
    static struct model model;
    uint64_t state = 12;
    size_t most = 0;
    make(BUDGET);
    for (int step = 0; step < STEPS; step++) {
        int key = chance_below(&state, KEYS);
        char name[16];
        snprintf(name, sizeof name, "%d", key);
        struct blob *found = memory_cache_get(cache, name);
        must(found == (blobs[key] && is_kept(blobs[key]) ? blobs[key] : NULL), "step %d: key %d",
             step, key);
        if (found && chance_below(&state, 4)) {
            model_use(&model, key);
            continue;
        }
        struct blob *blob = blob_of((size_t)chance_below(&state, 3000));
        memory_cache_put(cache, name, blob);
        if (blobs[key]) {
            must(!is_kept(blobs[key]), "step %d: the old one is held", step);
            blob_release(blobs[key]);
        }
        blobs[key] = blob;
        model_use(&model, key);
        must(is_kept(blob), "step %d: not kept", step);

        size_t total = 0;
        bool gone = false;
        for (int i = model.count - 1; i >= 0; i--) {
            bool kept = is_kept(blobs[model.keys[i]]);
            must(!kept || !gone, "step %d: gone before %d, which is older", step, model.keys[i]);
            gone |= !kept;
            total += kept ? blobs[model.keys[i]]->length : 0;
        }
        must(total <= BUDGET, "step %d: %zu bytes", step, total);
        most = total > most ? total : most;
    }
    /* Nor does bookkeeping take more than a reasonable share. */
    ck_assert_uint_ge(most, BUDGET * 8 / 10);
    memory_cache_free(cache);
    for (int i = 0; i < KEYS; i++)
        if (blobs[i]) {
            ck_assert(!is_kept(blobs[i]));
            blob_release(blobs[i]);
        }
}
END_TEST

/* Keys and bookkeeping count: empty blobs do not fill the memory. */
START_TEST(test_empty_blobs)
{
    make(100000);
    struct blob *empty = blob_of(0);
    for (int i = 0; i < 20000; i++) {
        char key[16];
        snprintf(key, sizeof key, "%d", i);
        memory_cache_put(cache, key, empty);
    }
    ck_assert_uint_gt(empty->references, 1);
    ck_assert_uint_lt(empty->references, 100000 / 16);
    memory_cache_free(cache);
    ck_assert_uint_eq(empty->references, 1);
    blob_release(empty);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("memory_cache");
    TCase *tcase = suite_case(suite, "cache");
    tcase_add_test(tcase, test_keep);
    tcase_add_test(tcase, test_key);
    tcase_add_test(tcase, test_replace);
    tcase_add_test(tcase, test_replace_in_budget);
    tcase_add_test(tcase, test_too_large);
    tcase_add_loop_test(tcase, test_no_budget, 0, 2);
    tcase_add_test(tcase, test_order);
    tcase_add_test(tcase, test_random);
    tcase_add_test(tcase, test_empty_blobs);
    return suite_run(suite);
}
