/* Terrains of other seeds: their values, how many are kept, and who compiles them. */
#include "server/world/terrain_cache.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>

#include "noise/terrain/terrain.h"
#include "server/world/worlds.h"
#include "tests/unit/support/fixtures.h"

/* Pairs: the first is derived with the seed of the second. */
static const char yaml[] = "worlds:\n"
                           "  - {name: noise, seeds: any, seed: 7}\n"
                           "  - {name: other-noise, seed: 42}\n"
                           "  - {name: fields, like: alps, seeds: any, seed: 7}\n"
                           "  - {name: other-fields, like: alps, seed: 42}\n"
                           "  - {name: window, seeds: any, wrap: true, seed: 7}\n"
                           "  - {name: other-window, wrap: true, seed: 42}\n";
enum { SEED = 42, PAIRS = 3 };

static struct worlds *worlds;
static struct terrain_cache *cache;

static void set_up(void)
{
    worlds = worlds_of_text(yaml);
    cache = worlds->terrains;
}

static void tear_down(void)
{
    ck_assert_uint_eq(worlds->references, 1);
    worlds_release(worlds);
}

static const struct farlands_terrain *hold(uint64_t seed)
{
    const struct farlands_terrain *terrain;
    ck_assert_int_eq(terrain_cache_hold(cache, worlds->world->config, seed, &terrain), 0);
    return terrain;
}

static void use(uint64_t seed)
{
    terrain_cache_release(cache, hold(seed));
}

/* --- Values --- */

enum { SIDE = 24, DEPTH = 8 };

static void must_be_same(const struct farlands_terrain *a, const struct farlands_terrain *b)
{
    static const int64_t steps[] = {1, FARLANDS_UNIT};
    float one[SIDE * SIDE * DEPTH], other[SIDE * SIDE * DEPTH];
    struct farlands_scratch *scratch;
    ck_assert_int_eq(farlands_scratch_new(&scratch), 0);
    for (int i = 0; i < ROWS(steps); i++) {
        const struct farlands_grid grid = {-12345678, 87654321, steps[i], SIDE, SIDE, false};
        const struct farlands_box box = {-12345678, 87654321, -2048, steps[i], SIDE, SIDE, DEPTH};
        for (int field = 0; field < terrain_field_count(a); field++) {
            float *const to = one, *const too = other;
            ck_assert_int_eq(terrain_fields(a, scratch, &grid, &field, 1, &to, SIDE), 0);
            ck_assert_int_eq(terrain_fields(b, scratch, &grid, &field, 1, &too, SIDE), 0);
            ck_assert_mem_eq(one, other, SIDE * SIDE * sizeof *one);
        }
        ck_assert_int_eq(terrain_density(a, scratch, &box, one), 0);
        ck_assert_int_eq(terrain_density(b, scratch, &box, other), 0);
        ck_assert_mem_eq(one, other, sizeof one);
    }
    farlands_scratch_free(scratch);
}

/* A world derived with a seed has the bits of one that is configured with it. */
START_TEST(test_same_bits)
{
    const struct world *base = &worlds->world[2 * _i], *other = base + 1;
    const struct farlands_terrain *terrain;
    struct worlds *derived;
    ck_assert_int_eq(worlds_derive(&derived, base, SEED), 0);
    ck_assert_uint_eq(terrain_cache_compiled(cache), 0);
    ck_assert_int_eq(world_terrain_hold(derived->world, &terrain), 0);
    ck_assert_ptr_ne(terrain, base->base_terrain);
    must_be_same(terrain, other->base_terrain);
    ck_assert_float_ne(terrain_height(terrain, 0, 0), terrain_height(base->base_terrain, 0, 0));
    world_terrain_release(derived->world, terrain);
    ck_assert_uint_eq(terrain_cache_compiled(cache), 1);
    worlds_release(derived);
}
END_TEST

/* A configured world's terrain is always there; so is that of its own seed under another name. */
START_TEST(test_own_seed)
{
    const struct farlands_terrain *terrain, *same;
    struct worlds *derived;
    ck_assert_int_eq(worlds_derive(&derived, worlds->world, worlds->world->seed), 0);
    ck_assert_int_eq(world_terrain_hold(worlds->world, &terrain), 0);
    ck_assert_int_eq(world_terrain_hold(derived->world, &same), 0);
    ck_assert_ptr_eq(terrain, worlds->world->base_terrain);
    ck_assert_ptr_eq(same, terrain);
    world_terrain_release(derived->world, same);
    world_terrain_release(worlds->world, terrain);
    ck_assert_uint_eq(terrain_cache_compiled(cache), 0);
    worlds_release(derived);
}
END_TEST

/* Worlds of the same seed and different bases are different. */
START_TEST(test_bases)
{
    const struct farlands_terrain *first = hold(SEED), *second;
    ck_assert_int_eq(terrain_cache_hold(cache, worlds->world[2].config, SEED, &second), 0);
    ck_assert_ptr_ne(first, second);
    ck_assert_ptr_eq(hold(SEED), first);
    terrain_cache_release(cache, second);
    terrain_cache_release(cache, first);
    terrain_cache_release(cache, first);
    ck_assert_uint_eq(terrain_cache_compiled(cache), 2);
}
END_TEST

/* --- How many --- */

/* The terrain used least recently goes, and only that one. */
START_TEST(test_eviction)
{
    for (uint64_t seed = 100; seed < 100 + TERRAIN_CACHE_IDLE; seed++)
        use(seed);
    ck_assert_int_eq(terrain_cache_count(cache), TERRAIN_CACHE_IDLE);
    use(100);
    use(1);
    ck_assert_int_eq(terrain_cache_count(cache), TERRAIN_CACHE_IDLE);
    ck_assert_uint_eq(terrain_cache_compiled(cache), TERRAIN_CACHE_IDLE + 1);
    use(100);
    for (uint64_t seed = 102; seed < 100 + TERRAIN_CACHE_IDLE; seed++)
        use(seed);
    ck_assert_uint_eq(terrain_cache_compiled(cache), TERRAIN_CACHE_IDLE + 1);
    use(101);
    ck_assert_uint_eq(terrain_cache_compiled(cache), TERRAIN_CACHE_IDLE + 2);
}
END_TEST

START_TEST(test_bounded)
{
    uint64_t state = 1;
    for (int i = 0; i < 1000; i++) {
        use(chance(&state));
        const int count = terrain_cache_count(cache);
        must(count <= TERRAIN_CACHE_IDLE, "%d after %d", count, i);
    }
}
END_TEST

/* What is in use stays, however much else comes and goes. */
START_TEST(test_in_use)
{
    enum { HELD = 2 * TERRAIN_CACHE_IDLE };
    const struct farlands_terrain *held[HELD];
    float height[HELD];
    for (int i = 0; i < HELD; i++) {
        held[i] = hold((uint64_t)i);
        height[i] = terrain_height(held[i], 1, 2);
    }
    for (uint64_t seed = HELD; seed < 5 * HELD; seed++)
        use(seed);
    ck_assert_int_eq(terrain_cache_count(cache), HELD + TERRAIN_CACHE_IDLE);
    for (int i = 0; i < HELD; i++) {
        const struct farlands_terrain *again = hold((uint64_t)i);
        ck_assert_ptr_eq(again, held[i]);
        must(terrain_height(again, 1, 2) == height[i], "seed %d", i);
        terrain_cache_release(cache, again);
    }
    ck_assert_uint_eq(terrain_cache_compiled(cache), 5 * HELD);
    for (int i = 0; i < HELD; i++)
        terrain_cache_release(cache, held[i]);
    ck_assert_int_eq(terrain_cache_count(cache), TERRAIN_CACHE_IDLE);
}
END_TEST

/* A terrain that cannot be made leaves nothing behind, and can be made later. */
START_TEST(test_failure)
{
    const struct farlands_terrain *terrain;
    setenv("FARLANDS_KERNEL", "abacus", 1);
    ck_assert_int_eq(terrain_cache_hold(cache, worlds->world->config, 1, &terrain), -ENOMEM);
    unsetenv("FARLANDS_KERNEL");
    ck_assert_int_eq(terrain_cache_count(cache), 0);
    ck_assert_uint_eq(terrain_cache_compiled(cache), 0);
    use(1);
    ck_assert_uint_eq(terrain_cache_compiled(cache), 1);
}
END_TEST

/* --- Threads --- */

enum { THREADS = 4 };

enum { ROUNDS = 100 };

static pthread_barrier_t barrier;

/* Hold a terrain of each round's seed at the same time as the other threads. */
static void *hold_same(void *list)
{
    const struct farlands_terrain **seen = list;
    for (uint64_t seed = 0; seed < ROUNDS; seed++) {
        pthread_barrier_wait(&barrier);
        ck_assert_int_eq(terrain_cache_hold(cache, worlds->world[2].config, seed, &seen[seed]), 0);
        pthread_barrier_wait(&barrier);
        terrain_cache_release(cache, seen[seed]);
    }
    return NULL;
}

/* Threads that want the same terrain at a time get one, compiled once. */
START_TEST(test_compiled_once)
{
    pthread_t thread[THREADS];
    const struct farlands_terrain *seen[THREADS][ROUNDS];
    pthread_barrier_init(&barrier, NULL, THREADS);
    for (int i = 0; i < THREADS; i++)
        ck_assert_int_eq(pthread_create(&thread[i], NULL, hold_same, (void *)seen[i]), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
    for (int i = 1; i < THREADS; i++)
        ck_assert_mem_eq(seen[i], seen[0], sizeof seen[0]);
    ck_assert_uint_eq(terrain_cache_compiled(cache), ROUNDS);
    pthread_barrier_destroy(&barrier);
}
END_TEST

enum { SEEDS = 2 * TERRAIN_CACHE_IDLE };
static float expected[SEEDS];

static void *use_many(void *first)
{
    uint64_t state = *(const uint64_t *)first;
    for (int i = 0; i < 500; i++) {
        const uint64_t seed = chance(&state) % SEEDS;
        const struct farlands_terrain *terrain = hold(seed);
        must(terrain_height(terrain, 5, 6) == expected[seed], "seed %" PRIu64, seed);
        const int count = terrain_cache_count(cache);
        must(count <= TERRAIN_CACHE_IDLE + THREADS, "%d", count);
        terrain_cache_release(cache, terrain);
    }
    return NULL;
}

START_TEST(test_threads)
{
    pthread_t thread[THREADS];
    static uint64_t first[THREADS];
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        const struct farlands_terrain *terrain = hold(seed);
        expected[seed] = terrain_height(terrain, 5, 6);
        terrain_cache_release(cache, terrain);
    }
    for (int i = 0; i < THREADS; i++) {
        first[i] = (uint64_t)i;
        ck_assert_int_eq(pthread_create(&thread[i], NULL, use_many, &first[i]), 0);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
    ck_assert_int_eq(terrain_cache_count(cache), TERRAIN_CACHE_IDLE);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("terrain cache");
    TCase *tcase = suite_case(suite, "terrains");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_loop_test(tcase, test_same_bits, 0, PAIRS);
    tcase_add_test(tcase, test_own_seed);
    tcase_add_test(tcase, test_bases);
    tcase_add_test(tcase, test_eviction);
    tcase_add_test(tcase, test_bounded);
    tcase_add_test(tcase, test_in_use);
    tcase_add_test(tcase, test_failure);
    tcase_add_test(tcase, test_compiled_once);
    tcase_add_test(tcase, test_threads);
    return suite_run(suite);
}
