/* Which requests are refused because they would take more than a minute. */
#include "server/world/request_price.h"

#include <inttypes.h>

#include "tests/unit/support/fixtures.h"

static struct worlds *worlds;

static void set_up(void)
{
    worlds = worlds_of_text("worlds:\n- { name: default, like: default, seeds: any }\n"
                            "- { name: alps, like: alps }\n"
                            "- { name: plain, noise: { octaves: 4 } }\n");
}

static void tear_down(void)
{
    worlds_release(worlds);
}

static const struct world *world_of(const char *name)
{
    const struct world *world = worlds_find(worlds, name);
    must(world, "no world %s", name);
    return world;
}

static int field_of(const struct world *world, const char *name)
{
    return world_field(world, name, strlen(name));
}

static const struct {
    const char *world, *layer, *field;
    int64_t step; /* blocks */
    int width, height;
    bool filtered, dear;
} regions[] = {
    {"default", "height", "height", 1, 4097, 4097, false, false},
    {"default", "height", "height", 64, 4097, 4097, false, false},
    {"default", "height", "height", 65536, 30, 30, false, false},
    {"default", "height", "height", 1 << 20, 512, 512, false, true},
    {"default", "height", "height", 1 << 20, 4097, 1, false, true},
    {"default", "height", "biome", 1 << 20, 64, 64, false, true},
    {"default", "height", "surface", 1 << 20, 64, 64, false, true},
    {"default", "height", "surface", 1, 4097, 4097, false, false},
    {"default", "relief", "height", 1, 4097, 4097, true, false},
    {"default", "relief", "height", 1 << 20, 4097, 4097, true, false},
    {"default", "water", "height", 64, 4097, 4097, true, false},
    {"alps", "height", "height", 64, 4097, 4097, false, false},
    {"alps", "height", "height", 65536, 30, 30, false, false},
    {"alps", "height", "height", 32768, 257, 257, false, true},
    {"alps", "height", "height", 1 << 20, 64, 64, false, true},
    {"alps", "relief", "height", 64, 4097, 4097, true, false},
    {"plain", "height", "height", 1 << 20, 4097, 4097, false, false},
    {"plain", "height", "surface", 1, 1025, 1025, false, false},
    {"plain", "height", "surface", 64, 4097, 4097, false, true},
};

static void expect(uint64_t price, bool dear, const char *what, int row)
{
    must((price > REQUEST_PRICE_MOST) == dear, "%s, row %d: %.1f s; expected %s than a minute",
         what, row, (double)price / (double)PRICE_SECOND, dear ? "more" : "less");
}

START_TEST(regions_have_a_price)
{
    for (int i = 0; i < ROWS(regions); i++) {
        const struct world *world = world_of(regions[i].world);
        const struct farlands_grid grid = {.step = regions[i].step * FARLANDS_UNIT,
                                           .width = regions[i].width,
                                           .height = regions[i].height,
                                           .band_limit = regions[i].filtered};
        expect(request_price_of_region(world, layer_find(regions[i].layer),
                                       field_of(world, regions[i].field), &grid),
               regions[i].dear, "region", i);
    }
}
END_TEST

START_TEST(regions_cost_samples_times_their_price)
{
    const struct world *world = world_of("default");
    const struct farlands_grid grid = {.step = FARLANDS_UNIT << 4, .width = 100, .height = 30};
    const int height = world_height_field(world);
    ck_assert_uint_eq(request_price_of_region(world, layer_find("height"), height, &grid),
                      3000 * world->prices[height].exact[2]);
}
END_TEST

static const struct {
    const char *world;
    int64_t step; /* blocks */
    int width, height, depth, parts;
    bool dear;
} volumes[] = {
    {"default", 1, 256, 256, 256, 64, false},    {"default", 1, 4096, 4096, 1, 1, false},
    {"default", 64, 256, 256, 256, 64, true},    {"default", 1 << 20, 4096, 4096, 1, 1, true},
    {"default", 1 << 20, 3, 3, 1, 1, false},     {"default", 1 << 20, 30, 30, 2, 1, true},
    {"plain", 1 << 20, 4096, 4096, 1, 1, false},
};

START_TEST(volumes_have_a_price)
{
    for (int i = 0; i < ROWS(volumes); i++) {
        const struct farlands_box box = {.step = volumes[i].step * FARLANDS_UNIT,
                                         .width = volumes[i].width,
                                         .height = volumes[i].height,
                                         .depth = volumes[i].depth};
        expect(request_price_of_volume(world_of(volumes[i].world), &box, volumes[i].parts),
               volumes[i].dear, "volume", i);
    }
}
END_TEST

/* Lists that a URL holds, with all fields, are accepted: 2048 places of one digit, and 640 that are
 * far from each other. Each field that has the same rivers costs less than the first. */
START_TEST(places_have_a_price)
{
    enum { PLACES = 2048, FAR = 640, FIELDS = 16 };
    const struct world *world = world_of("default");
    int fields[FIELDS];
    for (int i = 0; i < FIELDS; i++)
        fields[i] = i;
    fields[0] = field_of(world, "surface");
    fields[1] = world_height_field(world);
    const uint64_t one = request_price_of_places(world, fields, 0, 1, 1);
    const uint64_t more = request_price_of_places(world, fields, FIELDS, 1, 1);
    must(one > PRICE_SECOND / 1000 && more > one && more < 2 * one,
         "%" PRIu64 " alone, %" PRIu64 " with fields", one, more);
    expect(request_price_of_places(world, fields, FIELDS, PLACES, 1), false, "near places", FIELDS);
    expect(request_price_of_places(world, fields, FIELDS, FAR, FAR), false, "far places", FIELDS);
    expect(request_price_of_places(world, fields, FIELDS, PLACES, PLACES), true, "more", FIELDS);
}
END_TEST

START_TEST(prices_have_a_bound)
{
    struct price dear = {.filtered = PRICE_MOST, .place = PRICE_MOST};
    for (int i = 0; i < PRICE_STEPS; i++)
        dear.exact[i] = PRICE_MOST / 2;
    struct world world = *world_of("plain");
    world.prices = &dear;
    const struct farlands_grid grid = {.step = 1, .width = 4097, .height = 4097};
    const struct farlands_box box = {.step = 1, .width = 4097, .height = 4097, .depth = 1};
    ck_assert_uint_eq(request_price_of_region(&world, layer_find("height"), 0, &grid), PRICE_MOST);
    ck_assert_uint_eq(request_price_of_volume(&world, &box, 1), PRICE_MOST);
    ck_assert_uint_eq(request_price_of_places(&world, NULL, 0, 1, 1), PRICE_MOST);
}
END_TEST

START_TEST(seeds_share_prices)
{
    struct worlds *derived;
    ck_assert_int_eq(worlds_derive(&derived, world_of("default"), 5), 0);
    ck_assert_ptr_eq(derived->world->prices, world_of("default")->prices);
    worlds_release(derived);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("request_price");
    TCase *tests = suite_case(suite, "request_price");
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, regions_have_a_price);
    tcase_add_test(tests, regions_cost_samples_times_their_price);
    tcase_add_test(tests, volumes_have_a_price);
    tcase_add_test(tests, places_have_a_price);
    tcase_add_test(tests, prices_have_a_bound);
    tcase_add_test(tests, seeds_share_prices);
    return suite_run(suite);
}
