/* The search finds the same block as a look at every block, anywhere and in any slices. */
#include "server/world/spawn_search.h"

#include "tests/unit/support/fixtures.h"
#include "tests/unit/support/reference_params.h"

static struct farlands_scratch *scratch;

static void set_up(void)
{
    scratch = reference_scratch();
}

static void tear_down(void)
{
    farlands_scratch_free(scratch);
}

static const struct ground {
    const char *name;
    enum farlands_basis basis;
    int64_t wavelength;
    int octaves;
    int64_t warp_amplitude, warp_wavelength;
    struct farlands_knot low, high;
} grounds[] = {
    {"hills", FARLANDS_PERLIN, BLOCKS(512), 7, 0, 0, {-1, -400}, {1, 400}},
    {"plateaus", FARLANDS_PERLIN, BLOCKS(60), 3, 0, 0, {-0.05f, 7}, {0.05f, 9}}, /* many ties */
    {"noise", FARLANDS_VALUE, 1000, 2, 0, 0, {-1, -10}, {1, 10}},
    {"bent", FARLANDS_CELLULAR, BLOCKS(100), 3, BLOCKS(50), BLOCKS(300), {-1, 0}, {1, 90}},
};

static struct farlands_terrain *terrain_of(const struct ground *ground)
{
    struct farlands_params params = reference_params();
    params.basis = ground->basis;
    params.wavelength = ground->wavelength;
    params.octaves = ground->octaves;
    params.warp.amplitude = ground->warp_amplitude;
    params.warp.wavelength = ground->warp_wavelength;
    params.knots = 2;
    params.elevation[0] = ground->low;
    params.elevation[1] = ground->high;
    return reference_terrain(&params);
}

static struct farlands_terrain *flat_terrain(float height)
{
    const struct ground flat = {"flat", FARLANDS_PERLIN, BLOCKS(100), 2, 0,
                                0,      {-1, height},    {1, height}};
    return terrain_of(&flat);
}

/* Run the whole search, SAMPLES at a time. Sets *PLACE if there is one. */
static enum spawn_state search_all(const struct farlands_terrain *terrain,
                                   const struct spawn_query *query, int64_t samples,
                                   struct spawn_place *place)
{
    struct spawn_search *search;
    enum spawn_state state;
    ck_assert_int_eq(spawn_search_new(&search, terrain, -1, query), 0);
    while ((state = spawn_search_run(search, scratch, samples)) == SPAWN_NOT_YET)
        ;
    must(spawn_search_run(search, scratch, samples) == state, "another answer at the end");
    if (state == SPAWN_FOUND)
        *place = *spawn_search_place(search);
    spawn_search_free(search);
    return state;
}

/* Heights and slopes of a square of blocks. */
struct region {
    int64_t x, y; /* the first block */
    int side;
    float *height, *slope;
};

static void region_new(struct region *region, const struct farlands_terrain *terrain, int64_t x,
                       int64_t y, int side)
{
    const size_t bordered = (size_t)side + 2;
    const struct farlands_grid grid = {
        BLOCKS(x - 1), BLOCKS(y - 1), FARLANDS_UNIT, side + 2, side + 2, false,
    };
    float *heights = malloc(bordered * bordered * sizeof *heights);
    *region = (struct region){.x = x, .y = y, .side = side};
    region->height = malloc((size_t)side * (size_t)side * sizeof *region->height);
    region->slope = malloc((size_t)side * (size_t)side * sizeof *region->slope);
    ck_assert_int_eq(terrain_heights(terrain, scratch, &grid, heights, bordered), 0);
    for (int j = 0; j < side; j++)
        for (int i = 0; i < side; i++) {
            const float *at = heights + (size_t)(j + 1) * bordered + (size_t)i + 1;
            region->height[j * side + i] = *at;
            region->slope[j * side + i] = surface_slope(
                (struct around){at[-1], at[1], at[-(ptrdiff_t)bordered], at[bordered]});
        }
    free(heights);
}

static void region_free(struct region *region)
{
    free(region->height);
    free(region->slope);
}

static int64_t square(int64_t a)
{
    return a * a;
}

/* The reference: look at every block of the region within RADIUS units of the point. */
static bool look(const struct region *region, const struct spawn_query *query, int64_t radius,
                 int64_t *x, int64_t *y)
{
    int64_t nearest = radius * radius;
    bool found = false;
    /* By y, then by x, so that the first one of equally near blocks counts. */
    for (int j = 0; j < region->side; j++)
        for (int i = 0; i < region->side; i++) {
            const float height = region->height[j * region->side + i];
            const int64_t at_x = BLOCKS(region->x + i), at_y = BLOCKS(region->y + j);
            const int64_t distance = square(at_x - query->x) + square(at_y - query->y);
            if (!(height >= query->min && height <= query->max) ||
                !(region->slope[j * region->side + i] <= query->slope) || distance > nearest ||
                (found && distance == nearest) || llabs(at_x) > FARLANDS_LIMIT ||
                llabs(at_y) > FARLANDS_LIMIT)
                continue;
            nearest = distance;
            found = true;
            *x = at_x;
            *y = at_y;
        }
    return found;
}

static float highest_within(const struct region *region, const struct spawn_query *query,
                            int64_t radius)
{
    float highest = -INFINITY;
    for (int j = 0; j < region->side; j++)
        for (int i = 0; i < region->side; i++) {
            const int64_t x = BLOCKS(region->x + i), y = BLOCKS(region->y + j);
            if (square(x - query->x) + square(y - query->y) <= square(radius) &&
                llabs(x) <= FARLANDS_LIMIT && llabs(y) <= FARLANDS_LIMIT)
                highest = fmaxf(highest, region->height[j * region->side + i]);
        }
    return highest;
}

static char *query_text(const struct spawn_query *query, const char *ground)
{
    static char text[256];
    snprintf(text, sizeof text,
             "%s: x %" PRId64 " + %" PRId64 "/1024, y %" PRId64 " + %" PRId64
             "/1024, %a to %a, slope %a",
             ground, query->x >> 10, query->x & 1023, query->y >> 10, query->y & 1023,
             (double)query->min, (double)query->max, (double)query->slope);
    return text;
}

static void must_be_surface(const struct farlands_terrain *terrain, const struct spawn_place *place,
                            const struct spawn_query *query, const char *text)
{
    struct surface surface;
    ck_assert_int_eq(surface_at(&surface, terrain, scratch, place->x, place->y), 0);
    must(memcmp(&surface, &place->surface, sizeof surface) == 0, "%s: another surface", text);
    must(place->x % FARLANDS_UNIT == 0 && place->y % FARLANDS_UNIT == 0, "%s: no block", text);
    const double distance =
        hypot((double)(place->x - query->x), (double)(place->y - query->y)) / FARLANDS_UNIT;
    must(fabs(place->distance - distance) <= 1e-15 * distance, "%s: distance %a, not %a", text,
         place->distance, distance);
}

enum { REGION = 400, MARGIN = 150 };

/* A point in the middle of the region, on a block or not, and bounds taken from its blocks. */
static struct spawn_query any_query(struct draws *draws, const struct region *region)
{
    struct spawn_query query = {.min = -INFINITY, .max = INFINITY, .slope = INFINITY};
    static const int64_t parts[] = {FARLANDS_UNIT, FARLANDS_UNIT / 2, 1};
    const int64_t part = parts[draw_between(draws, 0, 2)], last = REGION - MARGIN;
    query.x =
        draw_between(draws, BLOCKS(region->x + MARGIN) / part, BLOCKS(region->x + last) / part) *
        part;
    query.y =
        draw_between(draws, BLOCKS(region->y + MARGIN) / part, BLOCKS(region->y + last) / part) *
        part;
    /* Bounds that some block just meets, with hardly any room or quite some. */
    const int64_t block = draw_between(draws, 0, REGION * REGION - 1);
    static const float rooms[] = {0, 1e-6f, 0.01f, 3};
    const float height = region->height[block];
    if (draw_between(draws, 0, 2) > 0)
        query.min = height - rooms[draw_between(draws, 0, 3)];
    if (draw_between(draws, 0, 2) > 0)
        query.max = height + rooms[draw_between(draws, 0, 3)];
    if (draw_between(draws, 0, 2) > 0)
        query.slope = region->slope[block];
    return query;
}

START_TEST(test_every_block)
{
    enum { WISHES = 700, FAR = 2 };
    static const int64_t corners[][2] = {
        {-200, -200}, {INT64_C(1) << 44, -(INT64_C(1) << 51)}, {-123456, 7654321}};
    const struct ground *ground = &grounds[_i];
    struct farlands_terrain *terrain = terrain_of(ground);
    struct draws draws = {.seed = 41 + (uint64_t)_i};
    int within = 0;

    for (int k = 0; k < ROWS(corners); k++) {
        struct region region;
        region_new(&region, terrain, corners[k][0], corners[k][1], REGION);
        for (int n = 0, far = 0; n < WISHES; n++) {
            const struct spawn_query query = any_query(&draws, &region);
            const char *text = query_text(&query, ground->name);
            int64_t x = 0, y = 0;
            const int64_t seen = BLOCKS(MARGIN - 1);
            const bool found = look(&region, &query, seen, &x, &y);
            if (!found && far++ >= FAR) /* such searches take long */
                continue;
            struct spawn_place place = {0};
            const enum spawn_state state = search_all(terrain, &query, 100000, &place);
            if (state == SPAWN_FOUND)
                must_be_surface(terrain, &place, &query, text);
            if (found)
                must(state == SPAWN_FOUND && place.x == x && place.y == y,
                     "%s: %d, %" PRId64 ", %" PRId64 ", not %" PRId64 ", %" PRId64, text, state,
                     place.x >> 10, place.y >> 10, x >> 10, y >> 10);
            else
                must(state == SPAWN_NONE || place.distance > MARGIN - 1,
                     "%s: found at %" PRId64 ", %" PRId64, text, place.x >> 10, place.y >> 10);
            within += found;
        }
        region_free(&region);
    }
    ck_assert_int_ge(within, 1000);
    terrain_free(terrain);
}
END_TEST

/* The whole disc is searched: its highest block is found, and no higher one beyond it. */
START_TEST(test_whole_disc)
{
    static const int64_t points[][2] = {
        {0, 0}, {BLOCKS(12345) + 1, BLOCKS(-77777) + 1023}, {FARLANDS_LIMIT - BLOCKS(100), 512}};
    struct ground ground = grounds[0];
    ground.wavelength = BLOCKS(100000);
    struct farlands_terrain *terrain = terrain_of(&ground);
    struct spawn_query query = {points[_i][0], points[_i][1], -INFINITY, INFINITY, INFINITY};
    enum { SIDE = 2 * SPAWN_RADIUS + 3 };
    struct region region;
    region_new(&region, terrain, (query.x >> 10) - SPAWN_RADIUS - 1,
               (query.y >> 10) - SPAWN_RADIUS - 1, SIDE);
    query.min = highest_within(&region, &query, BLOCKS(SPAWN_RADIUS));
    int64_t x = 0, y = 0;
    struct spawn_place place;
    ck_assert(look(&region, &query, BLOCKS(SPAWN_RADIUS), &x, &y));
    ck_assert_int_eq(search_all(terrain, &query, 1000000, &place), SPAWN_FOUND);
    ck_assert_int_eq(place.x, x);
    ck_assert_int_eq(place.y, y);
    ck_assert_double_gt(place.distance, SPAWN_RADIUS / 4);
    query.min = nextafterf(query.min, INFINITY);
    if (search_all(terrain, &query, 1000000, &place) == SPAWN_FOUND)
        ck_assert_double_gt(place.distance, SPAWN_RADIUS);
    region_free(&region);
    terrain_free(terrain);
}
END_TEST

/* If all blocks are within the bounds: the nearest to the point, the least y first, then x. */
static const struct {
    int64_t x, y, found_x, found_y; /* units; blocks */
    double distance;                /* squared, in units */
} nearest[] = {
    {0, 0, 0, 0, 0},
    {BLOCKS(5), BLOCKS(-7), 5, -7, 0},
    {511, 513, 0, 1, 511 * 511 * 2},
    {-511, -513, 0, -1, 511 * 511 * 2},
    {512, 0, 0, 0, 512 * 512},
    {-512, 0, -1, 0, 512 * 512},
    {0, 512, 0, 0, 512 * 512},
    {BLOCKS(-3) - 512, BLOCKS(8) + 512, -4, 8, 512 * 512 * 2},
    {FARLANDS_LIMIT, FARLANDS_LIMIT, FARLANDS_LIMIT_BLOCKS, FARLANDS_LIMIT_BLOCKS, 0},
    {-FARLANDS_LIMIT, -FARLANDS_LIMIT, -FARLANDS_LIMIT_BLOCKS, -FARLANDS_LIMIT_BLOCKS, 0},
    {FARLANDS_LIMIT - 1, 1 - FARLANDS_LIMIT, FARLANDS_LIMIT_BLOCKS, -FARLANDS_LIMIT_BLOCKS, 2},
    {512 - FARLANDS_LIMIT, FARLANDS_LIMIT - 512, -FARLANDS_LIMIT_BLOCKS, FARLANDS_LIMIT_BLOCKS - 1,
     512 * 512 * 2},
};

START_TEST(test_nearest_block)
{
    struct farlands_terrain *terrain = flat_terrain(5);
    const struct spawn_query queryes[] = {
        {nearest[_i].x, nearest[_i].y, -INFINITY, INFINITY, INFINITY},
        {nearest[_i].x, nearest[_i].y, 5, 5, 0}, /* bounds are inclusive */
    };
    for (int i = 0; i < ROWS(queryes); i++) {
        struct spawn_place place;
        ck_assert_int_eq(search_all(terrain, &queryes[i], 1, &place), SPAWN_FOUND);
        ck_assert_int_eq(place.x, BLOCKS(nearest[_i].found_x));
        ck_assert_int_eq(place.y, BLOCKS(nearest[_i].found_y));
        ck_assert_double_eq(place.distance, sqrt(nearest[_i].distance) / 1024);
    }
    terrain_free(terrain);
}
END_TEST

/* In a world that repeats, so does the highest block: half way between copies of it, in different
 * squares, several are equally near. */
static const int periods[] = {126, 128, 130, 200, 256, 300, 512, 1000, 1200};

START_TEST(test_ties)
{
    static const int ways[][2] = {{1, 1}, {1, 0}, {0, 1}};
    const int period = periods[_i];
    struct farlands_params params = reference_params();
    params.wavelength = params.period = BLOCKS(period);
    params.octaves = 3;
    struct farlands_terrain *terrain = reference_terrain(&params);
    struct region region;
    region_new(&region, terrain, -period / 2, 100, period);
    int highest = 0;
    for (int i = 1; i < period * period; i++)
        if (region.height[i] > region.height[highest])
            highest = i;
    const int64_t x = BLOCKS(region.x + highest % period), y = BLOCKS(region.y + highest / period);
    for (int k = 0; k < ROWS(ways); k++) {
        const int64_t half = BLOCKS(period) / 2;
        const struct spawn_query query = {x + ways[k][0] * half, y + ways[k][1] * half,
                                          region.height[highest], INFINITY, INFINITY};
        struct spawn_place place;
        ck_assert_int_eq(search_all(terrain, &query, 1, &place), SPAWN_FOUND);
        ck_assert_int_eq(place.x, x);
        ck_assert_int_eq(place.y, y);
    }
    region_free(&region);
    terrain_free(terrain);
}
END_TEST

/* Blocks beyond the limit are not found, though they have heights. */
START_TEST(test_limit)
{
    enum { SIDE = 300 };
    struct farlands_terrain *terrain = terrain_of(&grounds[_i]);
    struct draws draws = {.seed = 43};
    for (int k = 0; k < 4; k++) {
        const int64_t east = k & 1 ? 1 : -1, south = k & 2 ? 1 : -1;
        const struct spawn_query corner = {east * FARLANDS_LIMIT, south * FARLANDS_LIMIT, 0, 0, 0};
        struct region region;
        region_new(&region, terrain, (corner.x >> 10) - SIDE / 2, (corner.y >> 10) - SIDE / 2,
                   SIDE);
        for (int n = 0; n < 100; n++) {
            struct spawn_query query = corner;
            struct spawn_place place;
            int64_t x, y;
            const int64_t block = draw_between(&draws, 0, SIDE * SIDE - 1);
            query.x -= east * draw_between(&draws, 0, BLOCKS(30));
            query.y -= south * draw_between(&draws, 0, BLOCKS(30));
            query.min = region.height[block] - 0.01f;
            query.max = region.height[block] + 0.01f;
            query.slope = region.slope[block] * 2;
            if (!look(&region, &query, BLOCKS(SIDE / 2 - 32), &x, &y))
                continue;
            const char *text = query_text(&query, grounds[_i].name);
            must(search_all(terrain, &query, 1, &place) == SPAWN_FOUND, "%s: nothing", text);
            must(place.x == x && place.y == y, "%s: %" PRId64 ", %" PRId64, text, place.x >> 10,
                 place.y >> 10);
            must_be_surface(terrain, &place, &query, text);
        }
        region_free(&region);
    }
    terrain_free(terrain);
}
END_TEST

/* Bounds that no block can meet cost no samples. */
static const struct spawn_query hopeless[] = {
    {0, 0, 5.000001f, INFINITY, INFINITY},
    {0, 0, -INFINITY, 4.999999f, INFINITY},
    {0, 0, 6, 4, INFINITY},
    {0, 0, -INFINITY, INFINITY, -1e-30f},
    {0, 0, -INFINITY, INFINITY, NAN},
    {0, 0, NAN, INFINITY, 1},
    {0, 0, -INFINITY, NAN, 1},
};

START_TEST(test_hopeless)
{
    struct farlands_terrain *terrain = flat_terrain(5);
    struct spawn_search *search;
    ck_assert_int_eq(spawn_search_new(&search, terrain, -1, &hopeless[_i]), 0);
    ck_assert_int_eq(spawn_search_run(search, NULL, 1), SPAWN_NONE);
    spawn_search_free(search);
    spawn_search_free(NULL);
    terrain_free(terrain);
}
END_TEST

/* A slice evaluates at least its samples, and the result does not depend on slices. */
START_TEST(test_slices)
{
    static const int64_t slices[] = {1, 17000, 40000, 1000000, INT64_MAX};
    const int64_t most = INT64_C(6000000);
    struct farlands_terrain *terrain = terrain_of(&grounds[0]);
    const struct spawn_query query = {3, 4, 190, INFINITY, 0.1f};
    struct spawn_place first = {0};

    for (int i = 0; i < ROWS(slices); i++) {
        struct spawn_search *search;
        int64_t count = 1;
        enum spawn_state state;
        ck_assert_int_eq(spawn_search_new(&search, terrain, -1, &query), 0);
        ck_assert_int_eq(spawn_search_run(search, scratch, 0), SPAWN_NOT_YET);
        for (; (state = spawn_search_run(search, scratch, slices[i])) == SPAWN_NOT_YET; count++)
            must(count <= most / slices[i], "%" PRId64 " slices of %" PRId64, count, slices[i]);
        ck_assert_int_eq(state, SPAWN_FOUND);
        const struct spawn_place *place = spawn_search_place(search);
        if (i == 0)
            first = *place;
        ck_assert_int_eq(place->x, first.x);
        ck_assert_int_eq(place->y, first.y);
        ck_assert_int_eq(count == 1, slices[i] == INT64_MAX);
        spawn_search_free(search);
    }
    terrain_free(terrain);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("spawn search");
    TCase *tcase = suite_case(suite, "nearest block");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_loop_test(tcase, test_every_block, 0, ROWS(grounds));
    tcase_add_loop_test(tcase, test_whole_disc, 0, 3);
    tcase_add_loop_test(tcase, test_nearest_block, 0, ROWS(nearest));
    tcase_add_loop_test(tcase, test_ties, 0, ROWS(periods));
    tcase_add_loop_test(tcase, test_limit, 0, ROWS(grounds));
    tcase_add_loop_test(tcase, test_hopeless, 0, ROWS(hopeless));
    tcase_add_test(tcase, test_slices);
    return suite_run(suite);
}
