/* How long it will take: by the work that is left, whatever was skipped; and what samples foretell.
 */
#include "server/prerender/eta.h"

#include <inttypes.h>
#include <math.h>

#include "server/prerender/estimate.h"
#include "server/tiles/render.h"
#include "tests/unit/support/fixtures.h"

#define MS UINT64_C(1000000)

static const struct {
    const char *what;
    struct part_work work[3];
    size_t parts;
    unsigned threads;
    double seconds;
} rows[] = {
    {"nothing is known", {{100, 0, 0, 0, 0}}, 1, 1, -1},
    {"samples alone", {{1000, 2e6, 0, 0, 0}}, 1, 1, 2},
    {"by two", {{1000, 2e6, 0, 0, 0}}, 1, 2, 1},
    {"as measured, not as sampled", {{1000, 2e6, 500, 500, 500 * 4 * MS}}, 1, 1, 2},
    {"what was skipped makes nothing quicker", {{1000, 2e6, 900, 0, 0}}, 1, 1, 0.2},
    {"nor what was skipped beside renders", {{1000, 0, 900, 20, 20 * 3 * MS}}, 1, 1, 0.3},
    {"a dear part is still to come",
     {{1000, 1e6, 1000, 1000, 1000 * MS}, {1000, 8e6, 0, 0, 0}},
     2,
     1,
     8},
    {"and is slower by as much as the first was",
     {{1000, 1e6, 1000, 1000, 2000 * MS}, {1000, 8e6, 0, 0, 0}},
     2,
     1,
     16},
    {"few renders are not believed yet", {{100, 1e6, 2, 2, 2 * 2 * MS}}, 1, 1, 0.196},
    {"a part without samples costs as the others",
     {{100, 0, 100, 100, 100 * 5 * MS}, {200, 0, 0, 0, 0}},
     2,
     1,
     1},
    {"all is done", {{100, 1e6, 100, 100, 100 * MS}, {7, 1e6, 7, 0, 0}}, 2, 4, 0},
};

START_TEST(test_left)
{
    const double seconds = eta_seconds(rows[_i].work, rows[_i].parts, rows[_i].threads);
    ck_assert_msg(fabs(seconds - rows[_i].seconds) < 1e-9, "%s: %g s", rows[_i].what, seconds);
}
END_TEST

/* What all tiles of a plan take up on disk, without folders. */
static double bytes_of(const struct tile_plan *plan)
{
    struct render_scratch *scratch;
    double bytes = 0;
    ck_assert_int_eq(render_scratch_new(&scratch), 0);
    for (uint64_t i = 0; i < tile_plan_count(plan); i++) {
        struct tile tile;
        struct blob *png;
        tile_plan_get(plan, i, &tile);
        ck_assert_int_eq(render_tile(&png, scratch, &tile, NULL), 0);
        bytes += (double)footprint_of_file(png->length).bytes;
        blob_release(png);
    }
    render_scratch_free(scratch);
    return bytes;
}

/* Where all tiles are samples the estimate is exact; in shards, too. */
START_TEST(test_estimate)
{
    struct worlds *worlds = worlds_of(NULL);
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
        ck_assert_int_eq(estimate_new(&estimate, plan, 2, 60000, 100000, NULL), 0);
        uint64_t samples = 0;
        for (size_t i = 0; i < plan->part_count; i++) {
            ck_assert_uint_eq(estimate->part[i].samples, tile_plan_count_part(plan, i));
            samples += estimate->part[i].samples;
        }
        ck_assert_uint_eq(samples, tile_plan_count(plan));
        const double files = (double)(plan->folders + samples);
        const double bytes = bytes_of(plan) + (double)(plan->folders * directory.bytes);
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

/* Samples come from all over, however few there are, and each tile once before any comes again. */
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
             "%llu of %llu: none of %llu", (unsigned long long)round, (unsigned long long)count,
             (unsigned long long)longest);
    }
    free(seen);
    ck_assert_uint_lt(estimate_sample(UINT32_MAX, TILE_PLAN_MAX), TILE_PLAN_MAX);
}
END_TEST

/* Out of time or of samples, each part has one. */
START_TEST(test_short_estimate)
{
    struct worlds *worlds = worlds_of(NULL);
    struct tile_box box = {
        .world = worlds->world, .layer_count = 1, .scale = 1, .zoom_max = 26, .whole = true};
    struct tile_plan *plan;
    struct estimate *estimate;
    char why[TILE_PLAN_WHY];
    ck_assert_int_eq(tile_plan_box(&plan, &box, why), 0);
    for (int row = 0; row < 2; row++) {
        ck_assert_int_eq(estimate_new(&estimate, plan, 2, row ? 60000 : 0, row ? 1 : 100000, NULL),
                         0);
        for (size_t i = 0; i < plan->part_count; i++)
            ck_assert_uint_ge(estimate->part[i].samples, 1);
        free(estimate);
    }
    tile_plan_free(plan);
    worlds_release(worlds);
}
END_TEST

/* One tile in each of so many worlds, as a list may name them: every one a part of its own. */
static struct tile_plan *scattered_plan(const struct worlds *worlds, size_t parts,
                                        struct world *copies)
{
    struct tile *tiles = calloc(parts, sizeof *tiles);
    struct tile_plan *plan;
    for (size_t i = 0; i < parts; i++) {
        copies[i] = *worlds->world;
        snprintf(copies[i].config.name, sizeof copies[i].config.name, "w%05zu", i);
        tiles[i] = (struct tile){&copies[i], 0, FORMAT_PNG, 1, 5, 3, 4};
    }
    ck_assert_int_eq(tile_plan_list(&plan, tiles, parts), 0);
    return plan;
}

/* Time bounds it, and what has no sample is as the others are. */
START_TEST(test_estimate_of_many)
{
    enum { PARTS = 4 * ESTIMATE_PARTS };
    struct worlds *worlds = worlds_of(NULL);
    struct world *copies = calloc(PARTS, sizeof *copies);
    struct tile_plan *plan = scattered_plan(worlds, PARTS, copies);
    struct estimate *estimate;
    uint64_t samples = 0, behind = 0;
    ck_assert_int_eq(estimate_new(&estimate, plan, 2, 300, 400, NULL), 0);
    for (size_t i = 0; i < PARTS; i++) {
        samples += estimate->part[i].samples;
        behind += i >= PARTS / 2 ? estimate->part[i].samples : 0;
        must(estimate->part[i].ns > 0 && estimate->part[i].bytes > 0, "part %zu is nothing", i);
    }
    ck_assert_msg(samples < PARTS / 2, "%" PRIu64 " samples", samples);
    ck_assert_msg(behind > 0 && behind < samples, "%" PRIu64 " of %" PRIu64, behind, samples);
    free(estimate);
    tile_plan_free(plan);
    free(copies);
    worlds_release(worlds);
}
END_TEST

static bool stops(void)
{
    return false;
}

/* Stopped, and of a shard without tiles, it is nothing. */
START_TEST(test_estimate_of_nothing)
{
    struct worlds *worlds = worlds_of(NULL);
    struct tile_box box = {.world = worlds->world, .layer_count = 1, .scale = 1, .whole = true};
    struct tile_plan *plan;
    struct estimate *estimate;
    char why[TILE_PLAN_WHY];
    ck_assert_int_eq(tile_plan_box(&plan, &box, why), 0);
    ck_assert_int_eq(estimate_new(&estimate, plan, 2, 60000, 100000, stops), 0);
    ck_assert_uint_eq(estimate->part[0].samples, 0);
    ck_assert(estimate->seconds == 0);
    free(estimate);
    tile_plan_shard(plan, 1, 2);
    ck_assert_int_eq(estimate_new(&estimate, plan, 2, 60000, 100000, NULL), 0);
    ck_assert(estimate->bytes == 0 && estimate->files == 0 && estimate->seconds == 0);
    free(estimate);
    tile_plan_free(plan);
    worlds_release(worlds);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("workload");
    TCase *tcase = suite_case(suite, "workload");
    tcase_add_loop_test(tcase, test_left, 0, ROWS(rows));
    tcase_add_test(tcase, test_estimate);
    tcase_add_loop_test(tcase, test_spread, 0, ROWS(counts));
    tcase_add_test(tcase, test_short_estimate);
    tcase_add_test(tcase, test_estimate_of_many);
    tcase_add_test(tcase, test_estimate_of_nothing);
    return suite_run(suite);
}
