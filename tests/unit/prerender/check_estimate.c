/* The remaining time, and estimates from samples. */
#include "server/prerender/estimate.h"

#include <inttypes.h>
#include <math.h>

#include "server/tiles/render.h"
#include "tests/unit/support/tile_fixtures.h"

#define MS UINT64_C(1000000)

static const struct {
    const char *name;
    struct part_work work[3];
    size_t parts;
    unsigned threads;
    double seconds;
} rows[] = {
    {"nothing measured", {{100, 0, 0, 0, 0}}, 1, 1, -1},
    {"samples only", {{1000, 2e6, 0, 0, 0}}, 1, 1, 2},
    {"two threads", {{1000, 2e6, 0, 0, 0}}, 1, 2, 1},
    {"renders replace samples", {{1000, 2e6, 500, 500, 500 * 4 * MS}}, 1, 1, 2},
    {"tiles found in the cache do not change the pace", {{1000, 2e6, 900, 0, 0}}, 1, 1, 0.2},
    {"nor if others were rendered", {{1000, 0, 900, 20, 20 * 3 * MS}}, 1, 1, 0.3},
    {"an expensive part is left",
     {{1000, 1e6, 1000, 1000, 1000 * MS}, {1000, 8e6, 0, 0, 0}},
     2,
     1,
     8},
    {"and is slower than its samples by the factor of the first part",
     {{1000, 1e6, 1000, 1000, 2000 * MS}, {1000, 8e6, 0, 0, 0}},
     2,
     1,
     16},
    {"few renders do not replace samples", {{100, 1e6, 2, 2, 2 * 2 * MS}}, 1, 1, 0.196},
    {"a part without samples costs the mean of the others",
     {{100, 0, 100, 100, 100 * 5 * MS}, {200, 0, 0, 0, 0}},
     2,
     1,
     1},
    {"all done", {{100, 1e6, 100, 100, 100 * MS}, {7, 1e6, 7, 0, 0}}, 2, 4, 0},
};

START_TEST(test_seconds)
{
    const double seconds = eta_seconds(rows[_i].work, rows[_i].parts, rows[_i].threads);
    ck_assert_msg(fabs(seconds - rows[_i].seconds) < 1e-9, "%s: %g s", rows[_i].name, seconds);
}
END_TEST

/* The size of all tiles of a plan on disk, without directories. */
static double bytes_of(const struct tile_plan *plan)
{
    struct render_scratch *scratch;
    double bytes = 0;
    ck_assert_int_eq(render_scratch_new(&scratch), 0);
    for (uint64_t i = 0; i < tile_plan_count(plan); i++) {
        struct tile_address tile;
        struct blob *png;
        tile_plan_get(plan, i, &tile);
        ck_assert_int_eq(render_address(&png, scratch, &tile, NULL, NULL), 0);
        bytes += (double)footprint_of_file(png->length).bytes;
        blob_release(png);
    }
    render_scratch_free(scratch);
    return bytes;
}

/* If every tile is a sample, the estimate is exact, also of a shard. */
START_TEST(test_estimate)
{
    struct worlds *worlds = worlds_of(FRACTAL_WORLD);
    const struct footprint directory = footprint_of_directory(0, 0);
    struct tile_box box = {.world = worlds->world,
                           .layer = {layer_find("gray"), layer_find("relief")},
                           .layer_count = 2,
                           .scale = 1,
                           .zoom_max = 3,
                           .whole = true};
    struct tile_plan *plan;
    struct estimate *estimate;
    char why[TILE_PLAN_WHY];
    ck_assert_int_eq(tile_plan_box(&plan, &box, why), 0);
    for (uint64_t of = 1; of <= 3; of += 2) {
        tile_plan_shard(plan, of - 1, of);
        ck_assert_int_eq(estimate_new(&estimate, plan, 2, 60000, 100000, NULL, NULL), 0);
        uint64_t samples = 0;
        for (size_t i = 0; i < plan->part_count; i++) {
            ck_assert_uint_eq(estimate->part[i].samples, tile_plan_count_part(plan, i));
            samples += estimate->part[i].samples;
        }
        ck_assert_uint_eq(samples, tile_plan_count(plan));
        const double files = (double)(plan->directories + samples);
        const double bytes = bytes_of(plan) + (double)(plan->directories * directory.bytes);
        ck_assert_msg(fabs(estimate->bytes - bytes) < 1, "%g bytes, not %g", estimate->bytes,
                      bytes);
        ck_assert_msg(fabs(estimate->files - files) < 0.1, "%g files, not %g", estimate->files,
                      files);
        ck_assert(estimate->seconds > 0);
        free(estimate);
    }
    tile_plan_free(plan);
    worlds_release(worlds);
}
END_TEST

static const uint64_t counts[] = {1, 2, 3, 4, 5, 8, 10, 64, 85, 1000, 1024, 4096, 4181};

/* Any number of samples is spread evenly, and no tile repeats before all have been sampled. */
START_TEST(test_spread)
{
    const uint64_t count = counts[_i];
    bool *seen = calloc(count, sizeof *seen);
    for (uint64_t round = 0; round < count; round++) {
        const uint64_t index = estimate_sample(round, count);
        must(index < count && !seen[index], "%llu of %llu: %llu", (unsigned long long)round,
             (unsigned long long)count, (unsigned long long)index);
        seen[index] = true;
        uint64_t gap = 0, longest = 0;
        for (uint64_t i = 0; i < count; i++) {
            gap = seen[i] ? 0 : gap + 1;
            longest = gap > longest ? gap : longest;
        }
        must((double)longest <= 8 * (double)count / (double)(round + 1),
             "%llu of %llu: a gap of %llu", (unsigned long long)round, (unsigned long long)count,
             (unsigned long long)longest);
    }
    free(seen);
    ck_assert_uint_lt(estimate_sample(UINT32_MAX, TILE_PLAN_MAX), TILE_PLAN_MAX);
}
END_TEST

/* Without time or samples to spare, each part still gets one sample. */
START_TEST(test_short_estimate)
{
    struct worlds *worlds = worlds_of(FRACTAL_WORLD);
    struct tile_box box = {
        .world = worlds->world, .layer_count = 1, .scale = 1, .zoom_max = 26, .whole = true};
    struct tile_plan *plan;
    struct estimate *estimate;
    char why[TILE_PLAN_WHY];
    ck_assert_int_eq(tile_plan_box(&plan, &box, why), 0);
    for (int row = 0; row < 2; row++) {
        ck_assert_int_eq(
            estimate_new(&estimate, plan, 2, row ? 60000 : 0, row ? 1 : 100000, NULL, NULL), 0);
        for (size_t i = 0; i < plan->part_count; i++)
            ck_assert_uint_ge(estimate->part[i].samples, 1);
        free(estimate);
    }
    tile_plan_free(plan);
    worlds_release(worlds);
}
END_TEST

/* A list with one tile in each of PARTS worlds: as many parts. */
static struct tile_plan *scattered_plan(const struct worlds *worlds, size_t parts,
                                        struct world *copies)
{
    struct tile_address *tiles = calloc(parts, sizeof *tiles);
    struct tile_plan *plan;
    for (size_t i = 0; i < parts; i++) {
        copies[i] = *worlds->world;
        snprintf(copies[i].name, sizeof copies[i].name, "w%05zu", i);
        tiles[i] = (struct tile_address){&copies[i], 0, FORMAT_PNG, 1, 5, 3, 4, false, 0, false};
    }
    ck_assert_int_eq(tile_plan_list(&plan, tiles, parts), 0);
    return plan;
}

/* The time limit holds, and parts without samples are estimated by the others. */
START_TEST(test_many_parts)
{
    enum { PARTS = 4 * ESTIMATE_PARTS };
    struct worlds *worlds = worlds_of(FRACTAL_WORLD);
    struct world *copies = calloc(PARTS, sizeof *copies);
    struct tile_plan *plan = scattered_plan(worlds, PARTS, copies);
    struct estimate *estimate;
    uint64_t samples = 0, second_half = 0;
    ck_assert_int_eq(estimate_new(&estimate, plan, 2, 300, 400, NULL, NULL), 0);
    for (size_t i = 0; i < PARTS; i++) {
        samples += estimate->part[i].samples;
        second_half += i >= PARTS / 2 ? estimate->part[i].samples : 0;
        must(estimate->part[i].ns > 0 && estimate->part[i].bytes > 0, "part %zu has no estimate",
             i);
    }
    ck_assert_msg(samples < PARTS / 2, "%" PRIu64 " samples", samples);
    ck_assert_msg(second_half > 0 && second_half < samples, "%" PRIu64 " of %" PRIu64, second_half,
                  samples);
    free(estimate);
    tile_plan_free(plan);
    free(copies);
    worlds_release(worlds);
}
END_TEST

static bool cancelled(void)
{
    return true;
}

/* Cancelled, or of a shard without tiles: all zero. */
START_TEST(test_empty_estimate)
{
    struct worlds *worlds = worlds_of(FRACTAL_WORLD);
    struct tile_box box = {.world = worlds->world, .layer_count = 1, .scale = 1, .whole = true};
    struct tile_plan *plan;
    struct estimate *estimate;
    char why[TILE_PLAN_WHY];
    ck_assert_int_eq(tile_plan_box(&plan, &box, why), 0);
    ck_assert_int_eq(estimate_new(&estimate, plan, 2, 60000, 100000, NULL, cancelled), 0);
    ck_assert_uint_eq(estimate->part[0].samples, 0);
    ck_assert(estimate->seconds == 0);
    free(estimate);
    tile_plan_shard(plan, 1, 2);
    ck_assert_int_eq(estimate_new(&estimate, plan, 2, 60000, 100000, NULL, NULL), 0);
    ck_assert(estimate->bytes == 0 && estimate->files == 0 && estimate->seconds == 0);
    free(estimate);
    tile_plan_free(plan);
    worlds_release(worlds);
}
END_TEST

static const struct {
    double bytes, files;
    const char *why; /* NULL: they fit */
} quotas[] = {
    {0, 0, NULL},
    {1 << 19, 900, NULL},
    {1 << 20, 900, "cache.disk is 1.0M, about 1.1M would be needed"},
    {1 << 19, 901, "cache.files is 1000, about 1002 would be needed"},
    {1 << 21, 1800,
     "cache.disk is 1.0M, about 2.2M would be needed; cache.files is 1000, about 2000 would be "
     "needed"},
};

START_TEST(test_quotas)
{
    char why[ESTIMATE_WHY];
    const bool fits =
        estimate_fits((struct footprint){1 << 20, 1000}, quotas[_i].bytes, quotas[_i].files, why);
    ck_assert_int_eq(fits, quotas[_i].why == NULL);
    if (!fits)
        ck_assert_str_eq(why, quotas[_i].why);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("estimate");
    TCase *tcase = suite_case(suite, "eta");
    tcase_add_loop_test(tcase, test_seconds, 0, ROWS(rows));
    tcase_add_test(tcase, test_estimate);
    tcase_add_loop_test(tcase, test_spread, 0, ROWS(counts));
    tcase_add_test(tcase, test_short_estimate);
    tcase_add_test(tcase, test_many_parts);
    tcase_add_test(tcase, test_empty_estimate);
    tcase_add_loop_test(tcase, test_quotas, 0, ROWS(quotas));
    return suite_run(suite);
}
