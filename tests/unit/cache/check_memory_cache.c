/* The memory cache: its budget, order of eviction, references, threads. */
#include "server/cache/memory_cache.h"

#include <errno.h>
#include <uv.h>

#include "tests/unit/support/fixtures.h"
#include "tests/unit/support/refusals.h"

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

/* Look KEY up. The reference is released: the result may only be compared. */
static struct blob *get(const char *key)
{
    struct blob *blob = memory_cache_get(cache, key);
    blob_release(blob);
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
    ck_assert_ptr_null(get("one"));
    memory_cache_put(cache, "one", one);
    memory_cache_put(cache, "", other);
    ck_assert_ptr_eq(get("one"), one);
    ck_assert_ptr_eq(get("one"), one);
    ck_assert_ptr_eq(get(""), other);
    ck_assert_ptr_null(get("on"));
    ck_assert_ptr_null(get("onee"));
    ck_assert_ptr_null(get("One"));
    /* The cache's own, and one per get. */
    ck_assert_uint_eq(one->references, 2);
    ck_assert_ptr_eq(memory_cache_get(cache, "one"), one);
    ck_assert_uint_eq(one->references, 3);
    blob_release(one);
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
    ck_assert_ptr_null(get(key));
    ck_assert_ptr_eq(get("relief/1/2/3.png"), blob);
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
    ck_assert_ptr_eq(get("key"), new);
    ck_assert_uint_eq(old->references, 1);
    ck_assert_uint_eq(new->references, 2);
    /* The same again, and under a second key. */
    memory_cache_put(cache, "key", new);
    ck_assert_uint_eq(new->references, 2);
    memory_cache_put(cache, "other", new);
    ck_assert_uint_eq(new->references, 3);
    ck_assert_ptr_eq(get("other"), new);
    memory_cache_free(cache);
    ck_assert_uint_eq(new->references, 1);
    blob_release(old);
    blob_release(new);
}
END_TEST

/* Replacing a blob returns its bytes to the budget. */
START_TEST(test_replace_in_budget)
{
    make(10000);
    struct blob *bystander = blob_of(1000);
    memory_cache_put(cache, "bystander", bystander);
    for (int i = 0; i < 1000; i++) {
        struct blob *blob = blob_of(3000);
        memory_cache_put(cache, "key", blob);
        must(get("key") == blob, "replacement %d is gone", i);
        blob_release(blob);
    }
    ck_assert_ptr_eq(get("bystander"), bystander);
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
    ck_assert_ptr_null(get("large"));
    ck_assert(!is_kept(large));
    /* With its key it exceeds the budget, too. */
    memory_cache_put(cache, "exact", exact);
    ck_assert_ptr_null(get("exact"));
    ck_assert(!is_kept(exact));
    /* Replacing a small one: neither is kept. */
    memory_cache_put(cache, "small", large);
    ck_assert_ptr_null(get("small"));
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
    ck_assert_ptr_null(get("blob"));
    ck_assert_ptr_null(get("empty"));
    ck_assert(!is_kept(blob));
    ck_assert(!is_kept(empty));
    memory_cache_free(cache);
    blob_release(blob);
    blob_release(empty);
}
END_TEST

enum { COUNT = 64, TILE = 5000 };

static struct blob *tiles[COUNT];
static size_t tile_length = TILE;

static void put_tile(int number)
{
    char key[16];
    snprintf(key, sizeof key, "%03d", number);
    if (!tiles[number])
        tiles[number] = blob_of(tile_length);
    memory_cache_put(cache, key, tiles[number]);
}

static void free_tiles(void)
{
    memory_cache_free(cache);
    for (int i = 0; i < COUNT; i++) {
        ck_assert(!tiles[i] || !is_kept(tiles[i]));
        blob_release(tiles[i]);
    }
}

/* With space for 19 tiles: first in, first out, except for tiles used more than once. */
START_TEST(test_order)
{
    static const int used[] = {0, 1, 2, 0, 3, 9};
    make(100000);
    for (int i = 0; i < COUNT; i++) {
        put_tile(i);
        for (int use = 0; i < ROWS(used) && use < used[i]; use++)
            blob_use(tiles[i]);
    }
    const int room = 19, stay = 3;
    for (int i = 0; i < COUNT; i++) {
        bool expected = i < ROWS(used) ? used[i] > 1 : i >= COUNT - (room - stay);
        ck_assert_msg(is_kept(tiles[i]) == expected, "tile %d", i);
    }
    ck_assert_uint_eq(tiles[5]->uses, 0); /* reset in the main queue */
    free_tiles();
}
END_TEST

START_TEST(test_uses)
{
    make(100000);
    put_tile(0);
    for (unsigned i = 0; i < 6; i++) {
        ck_assert_uint_eq(tiles[0]->uses, i < BLOB_USES_MAX ? i : BLOB_USES_MAX);
        get("000");
    }
    ck_assert_ptr_null(get("001"));
    free_tiles();
}
END_TEST

/* Tiles 0 to 18 are in the main queue: their uses there decide which are evicted first. */
START_TEST(test_second_chance)
{
    make(100000);
    for (int i = 0; i < 19; i++) {
        put_tile(i);
        get(i < 10 ? (char[]){'0', '0', (char)('0' + i), 0}
                   : (char[]){'0', '1', (char)('0' + i - 10), 0});
        blob_use(tiles[i]);
    }
    put_tile(19); /* the small queue moves to the main one, whose oldest is evicted */
    ck_assert(!is_kept(tiles[0]));
    blob_use(tiles[1]);
    blob_use(tiles[3]);
    for (int i = 20; i < 24; i++) {
        blob_use(tiles[i - 1]);
        blob_use(tiles[i - 1]);
        put_tile(i);
    }
    for (int i = 1; i < 19; i++)
        ck_assert_msg(is_kept(tiles[i]) == (i != 2 && i != 4 && i != 5 && i != 6), "tile %d", i);
    free_tiles();
}
END_TEST

/* Put COUNT other tiles, numbered from *NEXT. */
static void put_others(int *next)
{
    struct blob *blob = blob_of(tile_length);
    for (int end = *next + COUNT; *next < end; ++*next) {
        char key[16];
        snprintf(key, sizeof key, "other %d", *next);
        memory_cache_put(cache, key, blob);
    }
    blob_release(blob);
}

/* A tile put again soon after its eviction enters the main queue, which a scan does not reach. */
START_TEST(test_ghost)
{
    enum { SOON, LATE, OTHERS };
    int next = 0;
    /* So large that no ghost is overwritten. */
    tile_length = 10 * TILE;
    make(1000000);
    put_tile(SOON);
    put_tile(LATE);
    for (int i = OTHERS; is_kept(tiles[SOON]); i++)
        put_tile(i);
    put_tile(SOON);
    put_others(&next);
    ck_assert(is_kept(tiles[SOON]));
    ck_assert(!is_kept(tiles[LATE]));
    /* After so many evictions its ghost has expired. */
    put_tile(LATE);
    put_others(&next);
    ck_assert(is_kept(tiles[SOON]));
    ck_assert(!is_kept(tiles[LATE]));
    free_tiles();
}
END_TEST

START_TEST(test_resize)
{
    static const uint64_t budgets[] = {100000, 50000, 5100, 5000, 0, 20000, 100000};
    static const int room[] = {19, 9, 0, 0, 0, 3, 19};
    make(100000);
    for (int i = 0; i < COUNT; i++)
        put_tile(i);
    for (int row = 0; row < ROWS(budgets); row++) {
        memory_cache_resize(cache, budgets[row]);
        must(memory_cache_used(cache) <= budgets[row], "row %d", row);
        int kept[2] = {0, 0};
        for (int i = 0; i < COUNT; i++)
            kept[0] += is_kept(tiles[i]);
        /* Each is found, or can be put again; as many fit as before. */
        for (int i = 0; i < COUNT; i++) {
            char key[16];
            snprintf(key, sizeof key, "%03d", i);
            must(get(key) == (is_kept(tiles[i]) ? tiles[i] : NULL), "row %d, tile %d", row, i);
            tiles[i]->uses = 0;
        }
        for (int i = 0; i < COUNT; i++)
            put_tile(i);
        for (int i = 0; i < COUNT; i++)
            kept[1] += is_kept(tiles[i]);
        must(kept[1] == room[row] &&
                 kept[0] == (row ? room[row] < room[row - 1] ? room[row] : room[row - 1] : 19),
             "row %d: %d, then %d", row, kept[0], kept[1]);
    }
    free_tiles();
}
END_TEST

/* Out of memory a new blob is not kept, and the others stay, even without a table. */
START_TEST(test_no_memory)
{
#ifdef CAN_REFUSE
    for (int i = 0; i < 2; i++) {
        grants_before = i;
        refusals = 1;
        ck_assert_int_eq(memory_cache_new(&cache, 1 << 20), -ENOMEM);
        ck_assert_int_eq(refusals, 0);
    }
    make(1 << 24); /* its table takes 96 KiB */
    put_tile(0);
    struct blob *other = blob_of(TILE);
    refusals = 1;
    memory_cache_put(cache, "001", other);
    ck_assert(!is_kept(other));
    ck_assert(is_kept(tiles[0]));
    /* Nor the one that it would replace. */
    refusals = 1;
    memory_cache_put(cache, "000", other);
    ck_assert(!is_kept(other));
    ck_assert(!is_kept(tiles[0]));
    for (int i = 0; i < COUNT; i++)
        put_tile(i);
    refusals = 1;
    memory_cache_resize(cache, 1 << 30);
    ck_assert_int_eq(refusals, 0);
    for (int i = 0; i < COUNT; i++)
        ck_assert(is_kept(tiles[i]));
    /* The old table alone exceeds the budget. */
    refusals = 1;
    memory_cache_resize(cache, 50000);
    ck_assert_int_eq(refusals, 0);
    ck_assert_uint_le(memory_cache_used(cache), 50000);
    ck_assert_ptr_eq(get("063"), tiles[63]);
    put_tile(0);
    ck_assert_ptr_eq(get("000"), tiles[0]);
    blob_release(other);
    free_tiles();
#endif
}
END_TEST

/* An LRU cache, for comparison. */
struct lru {
    int keys[2048]; /* by last use, newest last */
    int count, room;
};

static bool lru_get(struct lru *lru, int key)
{
    int *keys = lru->keys, i = lru->count - 1;
    while (i >= 0 && keys[i] != key)
        i--;
    if (i < 0)
        return false;
    memmove(keys + i, keys + i + 1, (size_t)(lru->count - 1 - i) * sizeof *keys);
    keys[lru->count - 1] = key;
    return true;
}

static void lru_put(struct lru *lru, int key)
{
    if (lru->count == lru->room)
        memmove(lru->keys, lru->keys + 1, (size_t)--lru->count * sizeof key);
    lru->keys[lru->count++] = key;
}

/* HOT tiles are read equally often, or the n-th one 1/n as often; ROOM tiles fit. */
enum { ROOM = 1000, HOT = 600, SCAN = 20 * ROOM, READS = 5000, SCANNED_PER_READ = 20 };

static int hot_key(uint64_t *state, bool zipf)
{
    static double sums[HOT];
    if (!zipf)
        return chance_below(state, HOT);
    for (int i = 0; sums[HOT - 1] == 0 && i < HOT; i++)
        sums[i] = (i ? sums[i - 1] : 0) + 1.0 / (i + 1);
    double at = (double)(chance(state) >> 11) / 0x1p53 * sums[HOT - 1];
    int key = 0;
    while (sums[key] < at)
        key++;
    return key;
}

/* Read from LRU or, if NULL, from the cache; on a miss put the tile there if FILL. Returns 1 for a
 * hit. */
static int read_tile(struct lru *lru, int key, bool fill)
{
    char name[16];
    snprintf(name, sizeof name, "%06d", key);
    if (lru ? lru_get(lru, key) : get(name) != NULL)
        return 1;
    if (fill && lru)
        lru_put(lru, key);
    if (fill && !lru) {
        struct blob *blob = blob_of(TILE);
        memory_cache_put(cache, name, blob);
        blob_release(blob);
    }
    return 0;
}

/* Count the hits of READS reads before and after a scan, during which there are a few reads, too.
 */
static void scan(struct lru *lru, bool zipf, int *before, int *after)
{
    uint64_t state = 26;
    *before = *after = 0;
    for (int i = 0; i < 2 * READS; i++)
        read_tile(lru, hot_key(&state, zipf), true);
    for (int i = 0; i < READS; i++)
        *before += read_tile(lru, hot_key(&state, zipf), false);
    for (int i = 0; i < SCAN; i++) {
        read_tile(lru, HOT + i, true);
        if (i % SCANNED_PER_READ == 0)
            read_tile(lru, hot_key(&state, zipf), true);
    }
    for (int i = 0; i < READS; i++)
        *after += read_tile(lru, hot_key(&state, zipf), false);
}

START_TEST(test_scan)
{
    const bool zipf = _i == 1;
    static struct lru lru = {.room = ROOM};
    int before, after;
    make((uint64_t)ROOM * (TILE + 200));
    scan(NULL, zipf, &before, &after);
    ck_assert_int_ge(before, READS * 95 / 100);
    ck_assert_msg(after >= before * 9 / 10, "%d hits, then %d", before, after);
    memory_cache_free(cache);
    /* An LRU cache fails: the test can tell. */
    scan(&lru, zipf, &before, &after);
    ck_assert_int_ge(before, READS * 95 / 100);
    ck_assert_msg(after < before * 9 / 10, "%d hits, then %d", before, after);
}
END_TEST

enum { KEYS = 200, STEPS = 20000, BUDGET = 50000 };

/* Random use: the budget is never exceeded, and only the last blob put is found. */
START_TEST(test_random)
{
    static struct blob *blobs[KEYS];
    uint64_t state = 12, budget = BUDGET;
    size_t most = 0;
    make(BUDGET);
    for (int step = 0; step < STEPS; step++) {
        int key = chance_below(&state, KEYS);
        char name[16];
        snprintf(name, sizeof name, "%d", key);
        struct blob *found = get(name);
        must(found == (blobs[key] && is_kept(blobs[key]) ? blobs[key] : NULL), "step %d: key %d",
             step, key);
        if (found && chance_below(&state, 4))
            continue;
        struct blob *blob = blob_of((size_t)chance_below(&state, 3000));
        memory_cache_put(cache, name, blob);
        if (blobs[key]) {
            must(!is_kept(blobs[key]), "step %d: the old one is held", step);
            blob_release(blobs[key]);
        }
        blobs[key] = blob;
        must(is_kept(blob) || budget < BUDGET, "step %d: not kept", step);
        if (chance_below(&state, 100) == 0) {
            budget = chance_below(&state, 2) ? BUDGET : (uint64_t)chance_below(&state, BUDGET);
            memory_cache_resize(cache, budget);
        }

        size_t total = 0;
        for (int i = 0; i < KEYS; i++)
            total += blobs[i] && is_kept(blobs[i]) ? sizeof *blob + blobs[i]->length : 0;
        must(total <= memory_cache_used(cache), "step %d: %zu bytes", step, total);
        must(memory_cache_used(cache) <= budget, "step %d: budget exceeded", step);
        most = total > most ? total : most;
    }
    /* Bookkeeping takes no more than a fifth. */
    ck_assert_uint_ge(most, BUDGET * 8 / 10);
    memory_cache_resize(cache, 0);
    ck_assert_uint_eq(memory_cache_used(cache), 0);
    memory_cache_free(cache);
    for (int i = 0; i < KEYS; i++)
        if (blobs[i]) {
            ck_assert(!is_kept(blobs[i]));
            blob_release(blobs[i]);
        }
}
END_TEST

enum { THREADS = 4, TURNS = 10000, SHARED = 128 };

static void visit(void *argument)
{
    uint64_t state = *(uint64_t *)argument, most = SHARED * 512;
    for (int i = 0; i < TURNS; i++) {
        int key = chance_below(&state, SHARED);
        char name[16];
        snprintf(name, sizeof name, "%d", key);
        struct blob *blob = memory_cache_get(cache, name);
        if (blob) {
            must(blob->bytes[0] == key && blob->bytes[blob->length - 1] == key,
                 "bytes of another key");
            blob_use(blob);
        } else {
            blob = blob_new(1 + (size_t)chance_below(&state, 2000));
            memset(blob->bytes, key, blob->length);
            memory_cache_put(cache, name, blob);
        }
        blob_release(blob);
        if (chance_below(&state, 100) == 0)
            memory_cache_resize(cache, chance(&state) % most);
        must(memory_cache_used(cache) <= most, "budget exceeded");
    }
}

START_TEST(test_threads)
{
    uv_thread_t threads[THREADS];
    uint64_t seeds[THREADS];
    make(SHARED * 512);
    for (int i = 0; i < THREADS; i++) {
        seeds[i] = (uint64_t)i;
        ck_assert_int_eq(uv_thread_create(&threads[i], visit, &seeds[i]), 0);
    }
    for (int i = 0; i < THREADS; i++)
        uv_thread_join(&threads[i]);
    memory_cache_resize(cache, 10000);
    ck_assert_uint_le(memory_cache_used(cache), 10000);
    memory_cache_free(cache);
}
END_TEST

/* Keys and bookkeeping count, so empty blobs do not fill the memory. */
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

/* Pinned entries stay, whatever the budget is; then they are entries like others. */
START_TEST(test_pins)
{
    make(0);
    struct blob *blob = blob_of(5000), *other = blob_of(6000);
    memory_cache_pin(cache, "key", blob);
    memory_cache_pin(cache, "key", blob);
    memory_cache_put(cache, "key", blob);
    memory_cache_put(cache, "more", other);
    ck_assert_ptr_null(get("more"));
    ck_assert_uint_eq(memory_cache_used(cache), 0);
    memory_cache_unpin(cache, "key");
    ck_assert_ptr_eq(get("key"), blob);
    memory_cache_unpin(cache, "key");
    ck_assert(!is_kept(blob));
    memory_cache_unpin(cache, "key"); /* which is not there any more */

    memory_cache_resize(cache, 20000);
    memory_cache_pin(cache, "key", blob);
    ck_assert_uint_lt(memory_cache_used(cache), 5000);
    for (int i = 0; i < 100; i++) {
        char name[16];
        snprintf(name, sizeof name, "%d", i);
        memory_cache_put(cache, name, other);
        must(get("key") == blob, "gone with entry %d", i);
    }
    /* Pins are the key's, whichever blob it has. */
    memory_cache_put(cache, "key", other);
    ck_assert(!is_kept(blob));
    memory_cache_resize(cache, 1 << 20);
    memory_cache_resize(cache, 0);
    ck_assert_ptr_eq(get("key"), other);
    memory_cache_resize(cache, 20000);
    memory_cache_unpin(cache, "key");
    ck_assert_ptr_eq(get("key"), other);
    ck_assert_uint_gt(memory_cache_used(cache), 6000);
    memory_cache_resize(cache, 0);
    ck_assert(!is_kept(other));
    memory_cache_free(cache);
    blob_release(blob);
    blob_release(other);
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
    tcase_add_test(tcase, test_pins);
    tcase_add_test(tcase, test_order);
    tcase_add_test(tcase, test_uses);
    tcase_add_test(tcase, test_second_chance);
    tcase_add_test(tcase, test_ghost);
    tcase_add_test(tcase, test_resize);
    tcase_add_test(tcase, test_no_memory);
    tcase_add_loop_test(tcase, test_scan, 0, 2);
    tcase_add_test(tcase, test_random);
    tcase_add_test(tcase, test_threads);
    tcase_add_test(tcase, test_empty_blobs);
    return suite_run(suite);
}
