/* Worlds of other seeds: how many are kept, how long they last, and which are known as recent. */
#include "server/world/seed_cache.h"

#include <inttypes.h>
#include <pthread.h>

#include "server/api/snapshot.h"
#include "server/world/terrain_cache.h"
#include "tests/unit/support/fixtures.h"

static struct worlds *worlds;
static struct recent_worlds *recent_worlds;
static struct seed_cache *cache;

static void set_up(void)
{
    static const char yaml[] = "worlds:\n"
                               "  - {name: first, seeds: any}\n"
                               "  - {name: second, seeds: any, wrap: true}\n";
    worlds = worlds_of_text(yaml);
    ck_assert_int_eq(recent_worlds_new(&recent_worlds), 0);
    ck_assert_int_eq(seed_cache_new(&cache, recent_worlds), 0);
}

static void tear_down(void)
{
    seed_cache_free(cache);
    recent_worlds_free(recent_worlds);
    ck_assert_uint_eq(worlds->references, 1);
    worlds_release(worlds);
}

static const struct world *find(int base, uint64_t seed)
{
    const struct world *world = seed_cache_find(cache, &worlds->world[base], seed);
    must(world != NULL, "no %" PRIu64, seed);
    must(world->seed == seed, "%" PRIu64 " for %" PRIu64, world->seed, seed);
    must(world->set->base == worlds, "another base");
    return world;
}

START_TEST(test_found_again)
{
    const struct world *world = find(0, 42);
    ck_assert_str_eq(world->name, "first:42");
    ck_assert_ptr_ne(find(1, 42), world);
    ck_assert_str_eq(find(1, 42)->name, "second:42");
    ck_assert_ptr_ne(find(0, 0), world);
    ck_assert_ptr_ne(find(0, UINT64_MAX), world);
    ck_assert_ptr_eq(find(0, 42), world);
    ck_assert_uint_eq(world->set->references, 1);
    ck_assert_uint_eq(worlds->references, 5);
}
END_TEST

/* Event loops make these worlds, and pending requests hold them: they are small, and need no
 * terrain. */
START_TEST(test_small)
{
    ck_assert_uint_le(sizeof(struct worlds) + sizeof(struct world), 2048);
    for (int i = 0; i < 2 * SEED_CACHE_MAX; i++)
        find(i % 2, 1000 + (uint64_t)i);
    ck_assert_uint_eq(terrain_cache_compiled(worlds->terrains), 0);
}
END_TEST

/* The least recently found world is evicted, and only that one. */
START_TEST(test_eviction)
{
    const struct world *kept = find(0, 1000), *gone = world_hold(find(0, 0));
    const struct world *others[SEED_CACHE_MAX];
    for (int i = 1; i < SEED_CACHE_MAX - 1; i++)
        others[i] = find(0, (uint64_t)i);
    ck_assert_ptr_eq(find(0, 1000), kept);
    ck_assert_uint_eq(gone->set->references, 2);
    ck_assert_uint_eq(worlds->references, 1 + SEED_CACHE_MAX);
    find(1, 0);
    ck_assert_uint_eq(gone->set->references, 1);
    for (int i = 1; i < SEED_CACHE_MAX - 1; i++)
        ck_assert_ptr_eq(find(0, (uint64_t)i), others[i]);
    ck_assert_ptr_eq(find(0, 1000), kept);
    /* A held world stays valid. */
    ck_assert_str_eq(gone->name, "first:0");
    const struct world *again = find(0, 0);
    ck_assert_ptr_ne(again, gone);
    ck_assert_str_eq(again->fingerprints.region, gone->fingerprints.region);
    world_release(gone);
}
END_TEST

START_TEST(test_bounded)
{
    uint64_t state = 1;
    for (int i = 0; i < 5000; i++) {
        find(i % 2, chance(&state));
        must(worlds->references <= 1 + SEED_CACHE_MAX, "%u references", worlds->references);
    }
    ck_assert_uint_eq(worlds->references, 1 + SEED_CACHE_MAX);
}
END_TEST

START_TEST(test_clear)
{
    const struct world *held = world_hold(find(0, 7));
    find(0, 8);
    seed_cache_clear(cache);
    ck_assert_uint_eq(held->set->references, 1);
    ck_assert_uint_eq(worlds->references, 2);
    seed_cache_clear(cache);
    find(0, 7);
    ck_assert_uint_eq(worlds->references, 3);
    world_release(held);
}
END_TEST

static bool knows_layer(const struct world *world, int layer)
{
    char family[FINGERPRINT_TEXT] = "";
    bool known = recent_worlds_find(recent_worlds, world->fingerprints.tile[layer], family);
    must(!known || strcmp(family, world->parameters->family[layer]) == 0, "family %s", family);
    return known;
}

static bool is_known(const struct world *world)
{
    return knows_layer(world, 0);
}

/* Only worlds asked for tiles are added, and not at every request. */
START_TEST(test_kept)
{
    const struct world *world = find(0, 1);
    ck_assert(!is_known(world));
    ck_assert_uint_eq(recent_worlds_clock(recent_worlds), 0);
    seed_cache_touch(cache, 0);
    ck_assert(is_known(world));
    ck_assert_uint_eq(recent_worlds_clock(recent_worlds), 1);
    for (int i = 0; i < 100; i++) {
        find(0, 1);
        seed_cache_touch(cache, 0);
    }
    ck_assert_uint_eq(recent_worlds_clock(recent_worlds), 1);
    ck_assert(!knows_layer(world, 1));
    for (int i = 0; i < 100; i++)
        seed_cache_touch(cache, i % 3);
    ck_assert(knows_layer(world, 1) && knows_layer(world, 2) && !knows_layer(world, 3));
    ck_assert_uint_eq(recent_worlds_clock(recent_worlds), 3);
    ck_assert(!is_known(find(0, 2)));
    ck_assert(!is_known(worlds->world));
}
END_TEST

static struct snapshot *setup_of(const char *yaml)
{
    struct snapshot *snapshot;
    ck_assert_int_eq(snapshot_new(&snapshot, config_of_text(yaml)), 0);
    return snapshot;
}

/* Configurations that serve, or do not serve, the recent world first:42 and others like it. */
static const struct {
    const char *yaml;
    bool kept, other; /* whether first:42, which is recent, and first:43 are served */
} setups[] = {
    {"worlds: [{name: first, seeds: any}]", true, false},
    {"worlds: [{name: a, noise: {octaves: 3}}, {name: b, seed: 7, seeds: any}]", true, false},
    {"worlds: [{name: first, seeds: fixed}]", false, false},
    {"worlds: [{name: first, seeds: any, wrap: true}]", false, false},
    {"worlds: [{name: a, seed: 42}]", true, false},
    {"worlds: [{name: a, seed: 43}, {name: first, seeds: any}]", true, true},
    {"worlds: [{name: first, seeds: any, about: hills}]", true, false},
    {"worlds: [{name: first, seeds: any, native_zoom: 15}]", false, false},
};

static bool serves_all(const struct snapshot *snapshot, const struct world *world)
{
    const bool first = snapshot_serves(snapshot, recent_worlds, world->fingerprints.tile[0]);
    for (int i = 0; i < TILE_KINDS; i++)
        if (world->fingerprints.tile[i][0])
            ck_assert_int_eq(snapshot_serves(snapshot, recent_worlds, world->fingerprints.tile[i]),
                             first && world_serves(world, i % CONFIG_LAYERS_MAX));
    return first;
}

static void touch_all(void)
{
    for (int i = 0; i < TILE_KINDS; i++)
        if (worlds->world->fingerprints.tile[i][0])
            seed_cache_touch(cache, i);
}

/* Another quality needs other tiles in WebP alone. */
START_TEST(test_serves_webp)
{
    const int relief = layer_find("relief"), webp = tile_kind(relief, FORMAT_WEBP);
    const struct world *kept = find(0, 42);
    touch_all();
    struct snapshot *finer = setup_of("webp: {quality: 86}\nworlds: [{name: first, seeds: any}]");
    ck_assert(snapshot_serves(finer, recent_worlds, kept->fingerprints.tile[relief]));
    ck_assert(!snapshot_serves(finer, recent_worlds, kept->fingerprints.tile[webp]));
    ck_assert(snapshot_serves(finer, recent_worlds, finer->worlds->world->fingerprints.tile[webp]));
    ck_assert(!snapshot_serves(finer, recent_worlds, ""));
    snapshot_release(finer);
}
END_TEST

START_TEST(test_serves)
{
    struct snapshot *snapshot = setup_of(setups[_i].yaml);
    const struct world *kept = find(0, 42);
    touch_all();
    ck_assert_int_eq(serves_all(snapshot, kept), setups[_i].kept);
    ck_assert_int_eq(serves_all(snapshot, find(0, 43)), setups[_i].other);
    ck_assert(serves_all(snapshot, snapshot->worlds->world));
    ck_assert(!snapshot_serves(snapshot, recent_worlds, "0000000000000000"));
    snapshot_release(snapshot);
}
END_TEST

/* Another palette needs other relief tiles alone, and a layer that is not listed needs none. */
START_TEST(test_serves_layers)
{
    const int relief = layer_find("relief"), gray = layer_find("gray");
    const struct world *kept = world_hold(find(0, 42));
    touch_all();
    struct snapshot *painted = setup_of("worlds: [{name: first, seeds: any, "
                                        "palette: [[0, \"#000000\"], [1, \"#ffffff\"]]}]");
    ck_assert(!snapshot_serves(painted, recent_worlds, kept->fingerprints.tile[relief]));
    ck_assert(snapshot_serves(painted, recent_worlds, kept->fingerprints.tile[gray]));
    struct snapshot *listed = setup_of("worlds: [{name: first, seeds: any, layers: [gray]}]");
    ck_assert(!snapshot_serves(listed, recent_worlds, kept->fingerprints.tile[relief]));
    ck_assert(snapshot_serves(listed, recent_worlds, kept->fingerprints.tile[gray]));
    snapshot_release(painted);
    snapshot_release(listed);
    world_release(kept);
}
END_TEST

/* World N: only the fingerprint and the family of its first layer. */
static struct world number(uint64_t n)
{
    static struct parameters families[3];
    struct world world = {.parameters = &families[n % 3]};
    uint64_t state = n;
    snprintf(world.fingerprints.tile[0], FINGERPRINT_TEXT, "%016" PRIx64, chance(&state));
    return world;
}

/* A world that is asked for tiles again and again stays known while many others come and go. */
START_TEST(test_kept_among_many)
{
    const struct world *world = world_hold(find(0, 1));
    seed_cache_touch(cache, 0);
    for (uint64_t i = 0; i < 10 * RECENT_WORLDS_MIN; i++) {
        const struct world other = number(i);
        recent_worlds_add(recent_worlds, &other, 0);
        find(0, 1);
        seed_cache_touch(cache, 0);
        must(is_known(world), "forgotten after %" PRIu64, i);
    }
    world_release(world);
}
END_TEST

START_TEST(test_latest)
{
    enum { ALL = 3 * RECENT_WORLDS_MIN };
    int known = 0, older = 0;
    for (uint64_t i = 0; i < ALL; i++) {
        const struct world world = number(i);
        ck_assert_uint_eq(recent_worlds_add(recent_worlds, &world, 0), i + 1);
    }
    for (uint64_t i = 0; i < ALL; i++) {
        const struct world world = number(i);
        if (i >= ALL - RECENT_WORLDS_MIN)
            known += is_known(&world);
        else
            older += is_known(&world);
    }
    ck_assert_int_gt(known, RECENT_WORLDS_MIN - RECENT_WORLDS_MIN / 100);
    ck_assert_int_lt(older, ALL / 2); /* bounded: most are forgotten */
}
END_TEST

static void *add_many(void *first)
{
    for (uint64_t i = 0; i < 20000; i++) {
        const struct world world = number(*(const uint64_t *)first + i % 300);
        recent_worlds_add(recent_worlds, &world, 0);
        must(is_known(&world), "forgotten at once");
    }
    return NULL;
}

START_TEST(test_threads)
{
    enum { THREADS = 4 };
    pthread_t thread[THREADS];
    static uint64_t first[THREADS];
    for (int i = 0; i < THREADS; i++) {
        first[i] = (uint64_t)i * 150;
        ck_assert_int_eq(pthread_create(&thread[i], NULL, add_many, &first[i]), 0);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
    ck_assert_uint_eq(recent_worlds_clock(recent_worlds), THREADS * 20000);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("seed cache");
    TCase *tcase = suite_case(suite, "worlds");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, test_found_again);
    tcase_add_test(tcase, test_small);
    tcase_add_test(tcase, test_eviction);
    tcase_add_test(tcase, test_bounded);
    tcase_add_test(tcase, test_clear);
    tcase_add_test(tcase, test_kept);
    tcase_add_loop_test(tcase, test_serves, 0, ROWS(setups));
    tcase_add_test(tcase, test_serves_layers);
    tcase_add_test(tcase, test_serves_webp);
    tcase_add_test(tcase, test_kept_among_many);
    tcase_add_test(tcase, test_latest);
    tcase_add_test(tcase, test_threads);
    return suite_run(suite);
}
