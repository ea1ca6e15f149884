/* The search finds the same block as a look at every block, anywhere and in any slices. */
#include "server/world/spawn_search.h"

#include "tests/unit/support/fixtures.h"
#include "tests/unit/support/reference_params.h"

static struct farlands_scratch *scratch;
/* A query for one place, for its ground alone. */
#define GROUND(at_x, at_y, least, most, steepest)                                    \
    {                                                                                \
        .x = (at_x), .y = (at_y), .min = (least), .max = (most), .slope = (steepest) \
    }
static const struct spawn_fields no_fields = {-1, -1, -1};

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
    ck_assert_int_eq(spawn_search_new(&search, terrain, &no_fields, query), 0);
    while ((state = spawn_search_run(search, scratch, samples)) == SPAWN_NOT_YET)
        ;
    must(spawn_search_run(search, scratch, samples) == state, "another answer at the end");
    int count = 0;
    if (state == SPAWN_FOUND)
        *place = *spawn_search_places(search, &count);
    ck_assert_int_eq(count, state == SPAWN_FOUND);
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
    struct spawn_query query = GROUND(points[_i][0], points[_i][1], -INFINITY, INFINITY, INFINITY);
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
    const struct spawn_query queries[] = {
        GROUND(nearest[_i].x, nearest[_i].y, -INFINITY, INFINITY, INFINITY),
        GROUND(nearest[_i].x, nearest[_i].y, 5, 5, 0), /* bounds are inclusive */
    };
    for (int i = 0; i < ROWS(queries); i++) {
        struct spawn_place place;
        ck_assert_int_eq(search_all(terrain, &queries[i], 1, &place), SPAWN_FOUND);
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
        const struct spawn_query query = GROUND(x + ways[k][0] * half, y + ways[k][1] * half,
                                                region.height[highest], INFINITY, INFINITY);
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
        const struct spawn_query corner =
            GROUND(east * FARLANDS_LIMIT, south * FARLANDS_LIMIT, 0, 0, 0);
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
    GROUND(0, 0, 5.000001f, INFINITY, INFINITY),
    GROUND(0, 0, -INFINITY, 4.999999f, INFINITY),
    GROUND(0, 0, 6, 4, INFINITY),
    GROUND(0, 0, -INFINITY, INFINITY, -1e-30f),
    GROUND(0, 0, -INFINITY, INFINITY, NAN),
    GROUND(0, 0, NAN, INFINITY, 1),
    GROUND(0, 0, -INFINITY, NAN, 1),
};

START_TEST(test_hopeless)
{
    struct farlands_terrain *terrain = flat_terrain(5);
    struct spawn_search *search;
    ck_assert_int_eq(spawn_search_new(&search, terrain, &no_fields, &hopeless[_i]), 0);
    ck_assert_int_eq(spawn_search_run(search, NULL, 1), SPAWN_NONE);
    spawn_search_free(search);
    spawn_search_free(NULL);
    terrain_free(terrain);
}
END_TEST

/* The reference: whether a place of the lattice below 0 m is within DISTANCE blocks of a block. */
static bool sea_near(const struct region *region, int64_t x, int64_t y, int distance)
{
    int spacing = 1;
    while (spacing * 16 < distance)
        spacing *= 2;
    for (int64_t at_y = (y - distance) & -spacing; at_y <= y + distance; at_y += spacing)
        for (int64_t at_x = (x - distance) & -spacing; at_x <= x + distance; at_x += spacing)
            if (square(at_x - x) + square(at_y - y) <= square(distance) &&
                region->height[(at_y - region->y) * region->side + at_x - region->x] < 0)
                return true;
    return false;
}

static const int distances[] = {1, 2, 15, 16, 17, 33, 60};

/* The nearest block with the sea nearby, from places on land. */
START_TEST(test_near_sea)
{
    enum { FROM = 60, TIMES = 40 };
    const int distance = distances[_i];
    static const struct ground islands = {"islands", FARLANDS_PERLIN, BLOCKS(400), 4, 0,
                                          0,         {-1, -30},       {1, 30}};
    struct farlands_terrain *terrain = terrain_of(&islands);
    struct draws draws = {.seed = 44};
    struct region region;
    int found = 0;

    region_new(&region, terrain, -REGION / 2, 700 - REGION / 2, REGION);
    for (int n = 0; n < TIMES; n++) {
        const int64_t x = draw_between(&draws, -FROM, FROM),
                      y = 700 + draw_between(&draws, -FROM, FROM);
        const struct spawn_query query = {BLOCKS(x) + 5, BLOCKS(y) + 7, 0,
                                          INFINITY,      INFINITY,      .near_water = distance};
        const int64_t seen = REGION / 2 - FROM - 60 - 1;
        int64_t closest = square(BLOCKS(seen)), at_x = INT64_MAX, at_y = 0;
        for (int64_t j = y - seen; j <= y + seen; j++)
            for (int64_t i = x - seen; i <= x + seen; i++) {
                const int64_t away = square(BLOCKS(i) - query.x) + square(BLOCKS(j) - query.y);
                if (away < closest && region.height[(j - region.y) * REGION + i - region.x] >= 0 &&
                    sea_near(&region, i, j, distance)) {
                    closest = away;
                    at_x = i;
                    at_y = j;
                }
            }
        struct spawn_place place = {0};
        const enum spawn_state state = search_all(terrain, &query, 100000, &place);
        ck_assert_int_eq(state, SPAWN_FOUND);
        if (at_x == INT64_MAX)
            must(place.distance >= (double)seen, "%" PRId64 ", %" PRId64 " is nearer", place.x,
                 place.y);
        else
            must(place.x == BLOCKS(at_x) && place.y == BLOCKS(at_y),
                 "%d from %" PRId64 ", %" PRId64 ": %" PRId64 ", %" PRId64 ", not %" PRId64
                 ", %" PRId64,
                 distance, x, y, place.x >> 10, place.y >> 10, at_x, at_y);
        found += at_x != INT64_MAX && at_x != x;
    }
    ck_assert_int_ge(found, 3);
    region_free(&region);
    terrain_free(terrain);
}
END_TEST

/* Without a sea or rivers there is no water: that costs no samples. */
START_TEST(test_no_sea)
{
    struct farlands_terrain *terrain = flat_terrain(5);
    struct spawn_query query = GROUND(0, 0, -INFINITY, INFINITY, INFINITY);
    struct spawn_search *search;
    query.near_water = SPAWN_WATER_MAX;
    ck_assert_int_eq(spawn_search_new(&search, terrain, &no_fields, &query), 0);
    ck_assert_int_eq(spawn_search_run(search, NULL, 1), SPAWN_NONE);
    spawn_search_free(search);
    terrain_free(terrain);
}
END_TEST

/* The places that SEARCH finds, SAMPLES at a time. */
static int all_places(const struct farlands_terrain *terrain, const struct spawn_query *query,
                      int64_t samples, struct spawn_place places[SPAWN_PLACES_MAX])
{
    struct spawn_search *search;
    enum spawn_state state;
    int count;
    ck_assert_int_eq(spawn_search_new(&search, terrain, &no_fields, query), 0);
    while ((state = spawn_search_run(search, scratch, samples)) == SPAWN_NOT_YET)
        ;
    ck_assert_int_eq(state, SPAWN_FOUND);
    const struct spawn_place *found = spawn_search_places(search, &count);
    memcpy(places, found, (size_t)count * sizeof *found);
    spawn_search_free(search);
    return count;
}

static const struct {
    int ground;
    float min, max, slope;
    int count;
} groups[] = {
    {0, -INFINITY, INFINITY, INFINITY, 64},
    {0, 0, 3, 0.2f, 20},
    {0, 120, INFINITY, 0.2f, 64},
    {1, 8, 8.5f, INFINITY, 64},
    {2, 2, INFINITY, 0.5f, 2},
    {3, 30, 50, INFINITY, 9},
    {0, 120, INFINITY, 0.05f, 64},
};

/* Several places: the first is that of a search for one, none is beside another, each will do. */
START_TEST(test_places)
{
    static struct spawn_place places[SPAWN_PLACES_MAX], again[SPAWN_PLACES_MAX];
    struct farlands_terrain *terrain = terrain_of(&grounds[groups[_i].ground]);
    struct spawn_query query = GROUND(BLOCKS(-77) + 3, BLOCKS(4000) + 1000, groups[_i].min,
                                      groups[_i].max, groups[_i].slope);
    struct spawn_place first;
    ck_assert_int_eq(search_all(terrain, &query, 100000, &first), SPAWN_FOUND);
    query.count = groups[_i].count;
    const int count = all_places(terrain, &query, 1, places);
    must(memcmp(&places[0], &first, sizeof first) == 0, "another first place");
    must(count == query.count || (_i == ROWS(groups) - 1 && count > 1), "%d places", count);
    for (int i = 0; i < count; i++) {
        const struct spawn_place *place = &places[i];
        must_be_surface(terrain, place, &query, "place");
        ck_assert(place->surface.height >= query.min && place->surface.height <= query.max);
        ck_assert(place->surface.slope <= query.slope);
        ck_assert(square(place->x - first.x) + square(place->y - first.y) <=
                  square(BLOCKS(SPAWN_RADIUS)));
        for (int k = 0; k < i; k++)
            must(square(place->x - places[k].x) + square(place->y - places[k].y) >=
                     square(BLOCKS(SPAWN_APART)),
                 "places %d and %d are beside each other", k, i);
    }
    ck_assert_int_eq(all_places(terrain, &query, INT64_MAX, again), count);
    must(memcmp(places, again, (size_t)count * sizeof *places) == 0, "slices change places");
    terrain_free(terrain);
}
END_TEST

/* A slice evaluates at least its samples, and the result does not depend on slices. */
START_TEST(test_slices)
{
    static const int64_t slices[] = {1, 17000, 40000, 1000000, INT64_MAX};
    const int64_t most = INT64_C(6000000);
    struct farlands_terrain *terrain = terrain_of(&grounds[0]);
    const struct spawn_query query = GROUND(3, 4, 190, INFINITY, 0.1f);
    struct spawn_place first = {0};

    for (int i = 0; i < ROWS(slices); i++) {
        struct spawn_search *search;
        int64_t count = 1;
        enum spawn_state state;
        ck_assert_int_eq(spawn_search_new(&search, terrain, &no_fields, &query), 0);
        ck_assert_int_eq(spawn_search_run(search, scratch, 0), SPAWN_NOT_YET);
        for (; (state = spawn_search_run(search, scratch, slices[i])) == SPAWN_NOT_YET; count++)
            must(count <= most / slices[i], "%" PRId64 " slices of %" PRId64, count, slices[i]);
        ck_assert_int_eq(state, SPAWN_FOUND);
        int places;
        const struct spawn_place *place = spawn_search_places(search, &places);
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

/* --- Bounds --- */

/* The result of a search in one run, which may take what a search may, and how far it looked. */
static enum spawn_state search_once(const struct farlands_terrain *terrain,
                                    const struct spawn_query *query, int *count, int *radius)
{
    struct spawn_search *search;
    ck_assert_int_eq(spawn_search_new(&search, terrain, &no_fields, query), 0);
    const enum spawn_state state = spawn_search_run(search, scratch, SPAWN_SAMPLES);
    must(state != SPAWN_NOT_YET, "not done after %d samples", SPAWN_SAMPLES);
    *radius = spawn_search_radius(search);
    if (state == SPAWN_FOUND)
        spawn_search_places(search, count);
    spawn_search_free(search);
    return state;
}

/* Searches that evaluate much and find nothing. */
static const struct {
    float min, max, slope;
    int near_water;
    bool all; /* looks at all that a search may */
} dear[] = {
    {150, 151, 0, 0, true},
    {-INFINITY, INFINITY, 0, 0, true},
    {0, INFINITY, 0, 16, true}, /* 16: the finest lattice of the sea */
    {20, INFINITY, INFINITY, 16, false},
};

/* No search evaluates more than it may. Most get to the last lattice; one does not that looks for
 * the sea in nearly all squares, on slopes so gentle that it is always too far. */
START_TEST(test_bound)
{
    static const struct ground gentle = {"gentle", FARLANDS_PERLIN, BLOCKS(500), 1, 0,
                                         0,        {-1, -60},       {1, 180}};
    struct farlands_terrain *terrain = terrain_of(dear[_i].all ? &grounds[0] : &gentle);
    struct spawn_query query =
        GROUND(BLOCKS(17) + 9, BLOCKS(-900), dear[_i].min, dear[_i].max, dear[_i].slope);
    int count, radius;
    query.near_water = dear[_i].near_water;
    ck_assert_int_eq(search_once(terrain, &query, &count, &radius), SPAWN_NONE);
    must(radius > SPAWN_RADIUS && (radius == SPAWN_FAR) == dear[_i].all, "%d blocks", radius);
    terrain_free(terrain);
}
END_TEST

/* Level ground over caverns that break through it. */
static struct farlands_terrain *hollow_terrain(int64_t wavelength)
{
    struct farlands_params params = reference_params();
    params.octaves = 2;
    params.knots = 2;
    params.elevation[0] = (struct farlands_knot){-1, 5};
    params.elevation[1] = (struct farlands_knot){1, 5};
    params.volume.caverns.size = 1;
    params.volume.caverns.noise = (struct farlands_space_noise){wavelength, 1, 0.5, 2, 1};
    return reference_terrain(&params);
}

/* Whether a player stands on the ground of the block (X, Y), all of whose ground is level. */
static bool stands(const struct farlands_terrain *terrain, int64_t x, int64_t y)
{
    struct surface surface;
    ck_assert_int_eq(surface_at(&surface, terrain, scratch, BLOCKS(x), BLOCKS(y)), 0);
    return surface_is_ground(surface.height, surface.ground);
}

/* Where 4096 blocks have no ground to stand on, the search ends, and says how far it looked: every
 * block that is nearer was tested, so the radius is that of a circle with so many blocks. */
START_TEST(test_radius)
{
    enum { MORE = 64 };
    struct farlands_terrain *terrain = hollow_terrain(BLOCKS(2000));
    int count, radius, hollow = 0;

    for (int64_t x = 0; x < 40000 && hollow == 0; x += 500) {
        hollow = 1;
        for (int64_t j = -MORE; j <= MORE && hollow; j++)
            for (int64_t i = -MORE; i <= MORE && hollow; i++)
                hollow = !stands(terrain, x + i, j);
        if (!hollow)
            continue;
        const struct spawn_query query = GROUND(BLOCKS(x), 0, -INFINITY, INFINITY, INFINITY);
        ck_assert_int_eq(search_once(terrain, &query, &count, &radius), SPAWN_NONE);
        must(radius * radius * 3.1416 > 3800 && radius * radius * 3.1416 < 4300, "%d", radius);
    }
    ck_assert(hollow);
    terrain_free(terrain);
}
END_TEST

/* If the others around the first place run out of tests, the list is shorter. */
START_TEST(test_shorter_list)
{
    struct farlands_terrain *terrain = hollow_terrain(BLOCKS(64));
    struct spawn_query query = GROUND(0, 0, -INFINITY, INFINITY, INFINITY);
    int count, radius;

    query.count = SPAWN_PLACES_MAX;
    ck_assert_int_eq(search_once(terrain, &query, &count, &radius), SPAWN_FOUND);
    must(count > 1 && count < SPAWN_PLACES_MAX, "%d places", count);
    must(radius > 30 && radius < SPAWN_RADIUS, "within %d blocks", radius);
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
    tcase_add_loop_test(tcase, test_near_sea, 0, ROWS(distances));
    tcase_add_test(tcase, test_no_sea);
    tcase_add_loop_test(tcase, test_places, 0, ROWS(groups));
    tcase_add_test(tcase, test_slices);
    tcase_add_loop_test(tcase, test_bound, 0, ROWS(dear));
    tcase_add_test(tcase, test_radius);
    tcase_add_test(tcase, test_shorter_list);
    return suite_run(suite);
}
