/* Voxels agree with heights: in 60 boxes of four worlds no piece of the ground floats, and nearly
 * all surfaces are heights; spawns stand on blocks, in the air. Elsewhere a block on steep ground
 * or a rock in a cave floats, a known fault: see tests/http/29-volumes. */
#include <stdlib.h>

#include "noise/graph/rivers_params.h"
#include "server/world/spawn_search.h"
#include "server/world/worlds.h"
#include "tests/unit/support/draws.h"
#include "tests/unit/support/fixtures.h"
#include "tests/unit/support/reference_params.h"

enum {
    BOXES = 15,      /* of each world, a third of them on steep ground */
    PLACES = 2000,   /* of each world */
    SIDE = 48,       /* blocks */
    DEEP = 80,       /* below the lowest height */
    GROWTH = 64,     /* on each side, until it is decided whether a piece floats */
    SPAWNS = 25,     /* in each world */
    SPAN = 1 << 21,  /* boxes are within so many blocks of the origin */
    NEAR = 4000,     /* some follow another within so many blocks, where drained ground is known */
    WITH_RIVERS = 3, /* of the worlds, the first */
};

/* Those that are built in, and the example of config/README.md. */
static const char *const names[] = {"default", "archipelago", "alps", "isles"};

static const char isles[] =
    "worlds:\n"
    "  - { name: default, like: default }\n"
    "  - { name: archipelago, like: archipelago }\n"
    "  - { name: alps, like: alps }\n"
    "  - name: isles\n"
    "    fields:\n"
    "      coast: { noise: { wavelength: 16384, octaves: 9, persistence: 0.45 } }\n"
    "      base: { spline: { of: coast, knots: [[-0.3, -500], [0, 0], [0.3, 250]] }, unit: m }\n"
    "      land: { step: { of: coast, from: 0, to: 0.1 } }\n"
    "      bumps: { noise: { wavelength: 3000, octaves: 4, persistence: 0.45 } }\n"
    "      hills: { multiply: [land, 700, { add: [bumps, 0.2] }], unit: m }\n"
    "      ground: { add: [base, hills], unit: m }\n"
    "      height: { erode: { of: ground, wavelength: 800, mask: land }, unit: m }\n";

static struct worlds *worlds;
static struct farlands_scratch *scratch;

static void set_up(void)
{
    worlds = worlds_of_text(isles);
    scratch = reference_scratch();
}

static void tear_down(void)
{
    farlands_scratch_free(scratch);
    worlds_release(worlds);
}

/* --- Boxes --- */

/* Densities, SIDE x SIDE x DEPTH blocks. */
struct box {
    int64_t x, y, z; /* the first block */
    int side, depth;
    float *height, *density;
    bool *reached; /* by a search from the bottom, or of a piece */
    int *stack;
};

static const struct farlands_terrain *terrain_named(const char *name)
{
    return worlds_find(worlds, name)->base_terrain;
}

static int volume_of(const struct box *box)
{
    return box->side * box->side * box->depth;
}

/* The box of SIDE columns from (X, Y) on, from DEEP blocks below the lowest height to the air. */
static struct box box_new(const struct farlands_terrain *terrain, int64_t x, int64_t y, int side)
{
    struct box box = {.x = x, .y = y, .side = side};
    const struct farlands_grid grid = farlands_chunk(x, y, side, side);
    float lowest = INFINITY, highest = -INFINITY;

    box.height = malloc((size_t)(side * side) * sizeof *box.height);
    must(terrain_heights(terrain, scratch, &grid, box.height, (size_t)side) == 0, "heights");
    for (int i = 0; i < side * side; i++) {
        lowest = fminf(lowest, box.height[i]);
        highest = fmaxf(highest, box.height[i]);
    }
    box.z = (int64_t)floorf(lowest) - DEEP;
    box.depth = (int)((int64_t)ceilf(highest) - box.z) + 50;
    const size_t volume = (size_t)volume_of(&box);
    const struct farlands_box samples = {
        farlands_units(x), farlands_units(y), farlands_units(box.z), FARLANDS_UNIT, side, side,
        box.depth};
    box.density = malloc(volume * sizeof *box.density);
    box.reached = calloc(volume, sizeof *box.reached);
    box.stack = malloc(volume * sizeof *box.stack);
    must(terrain_density(terrain, scratch, &samples, box.density) == 0, "density");
    return box;
}

static void box_free(struct box *box)
{
    free(box->height);
    free(box->density);
    free(box->reached);
    free(box->stack);
}

static void reach(struct box *box, int at, int *count)
{
    if (box->density[at] <= 0 || box->reached[at])
        return;
    box->reached[at] = true;
    box->stack[(*count)++] = at;
}

/* Reach all blocks that are connected by faces to the COUNT on the stack. Returns true if any is on
 * a side of the box. */
static bool flood(struct box *box, int count)
{
    const int side = box->side, slice = side * side;
    bool outside = false;

    while (count > 0) {
        const int at = box->stack[--count], i = at % side, j = at / side % side, k = at / slice;
        outside |= i == 0 || j == 0 || i == side - 1 || j == side - 1;
        if (i > 0)
            reach(box, at - 1, &count);
        if (i < side - 1)
            reach(box, at + 1, &count);
        if (j > 0)
            reach(box, at - side, &count);
        if (j < side - 1)
            reach(box, at + side, &count);
        if (k > 0)
            reach(box, at - slice, &count);
        if (k < box->depth - 1)
            reach(box, at + slice, &count);
    }
    return outside;
}

static void flood_from_bottom(struct box *box)
{
    int count = 0;
    for (int i = 0; i < box->side * box->side; i++)
        reach(box, i, &count);
    flood(box, count);
}

/* True if the block at (X, Y, Z) is connected to the bottom of a box of SIDE columns around it. */
static bool is_connected(const struct farlands_terrain *terrain, const struct box *small, int at)
{
    const int margin = GROWTH, side = small->side + 2 * margin;
    struct box box = box_new(terrain, small->x - margin, small->y - margin, side);
    const int i = at % small->side + margin, j = at / small->side % small->side + margin;
    const int64_t k = at / (small->side * small->side) + small->z - box.z;
    flood_from_bottom(&box);
    const bool connected = box.reached[(k * side + j) * side + i];
    box_free(&box);
    return connected;
}

/* Pieces that are connected neither to the bottom nor to anything outside of the box. */
static void assert_none_floats(const struct farlands_terrain *terrain, struct box *box,
                               const char *name)
{
    flood_from_bottom(box);
    for (int at = 0; at < volume_of(box); at++) {
        int count = 0;
        reach(box, at, &count);
        if (count == 0)
            continue;
        const bool floats = !flood(box, count) || !is_connected(terrain, box, at);
        REQUIRE(!floats, "%s: a piece floats at (%" PRId64 ", %" PRId64 ", %" PRId64 ")", name,
                box->x + at % box->side, box->y + at / box->side % box->side,
                box->z + at / (box->side * box->side));
    }
}

/* --- Surfaces --- */

static float highest_block(const struct box *box, int column)
{
    int k = box->depth - 1;
    while (box->density[k * box->side * box->side + column] <= 0)
        k--;
    return (float)(box->z + k);
}

static void assert_surfaces_are_blocks(const struct farlands_terrain *terrain,
                                       const struct box *box)
{
    for (int column = 0; column < box->side * box->side; column += 5) {
        const int64_t x = farlands_units(box->x + column % box->side);
        const int64_t y = farlands_units(box->y + column / box->side);
        float surface;
        must(terrain_surface(terrain, scratch, x, y, box->height[column], &surface) == 0,
             "surface");
        REQUIRE(ceilf(surface) == highest_block(box, column) + 1,
                "(%" PRId64 ", %" PRId64 "): surface %.9g, highest block %.9g", x, y,
                (double)surface, (double)highest_block(box, column));
    }
}

/* Columns, and those whose surface is more than 2 blocks from the height. */
struct tally {
    int columns, off;
};

static void count(struct tally *tally, bool off)
{
    tally->columns++;
    tally->off += off;
}

/* Count all columns of a patch of ground; those that rise by less than a block in two; and those
 * that rise by more than a block in one. */
static void compare_surfaces(const struct farlands_terrain *terrain, int64_t x, int64_t y,
                             struct tally *any, struct tally *gentle, struct tally *steep)
{
    enum { WIDTH = 8, COUNT = WIDTH * WIDTH };
    const struct farlands_grid grid = farlands_chunk(x, y, WIDTH, WIDTH);
    float height[COUNT], surface[COUNT];

    must(terrain_heights(terrain, scratch, &grid, height, WIDTH) == 0, "heights");
    must(terrain_surfaces(terrain, scratch, &grid, surface, WIDTH) == 0, "surfaces");
    for (int i = 0; i < COUNT; i++) {
        const int east = i % WIDTH < WIDTH - 1 ? 1 : -1, south = i < COUNT - WIDTH ? WIDTH : -WIDTH;
        const float rise = hypotf(height[i + east] - height[i], height[i + south] - height[i]);
        const bool off = fabsf(surface[i] - height[i]) > 2;
        count(any, off);
        if (rise < 0.5f)
            count(gentle, off);
        else if (rise > 1)
            count(steep, off);
    }
}

static float height_at(const struct farlands_terrain *terrain, int64_t x, int64_t y)
{
    return terrain_field_at(terrain, scratch, terrain_height_field(terrain), farlands_units(x),
                            farlands_units(y));
}

/* Draw number N, where COUNT in a row are near each other. */
static void draw_near(struct draws *draws, int n, int count, int64_t *x, int64_t *y)
{
    const int64_t span = n % count == 0 ? SPAN : NEAR;
    const int64_t from_x = n % count == 0 ? 0 : *x, from_y = n % count == 0 ? 0 : *y;
    *x = from_x + draw_between(draws, -span, span);
    *y = from_y + draw_between(draws, -span, span);
}

/* A block on land; on steep ground if there is some. */
static void draw_land(struct draws *draws, const struct farlands_terrain *terrain, bool steep,
                      int64_t *x, int64_t *y)
{
    enum { APART = 16, IN_A_ROW = 20 };
    float height = -1, rise = 0;
    for (int tries = 0; height < 1 || (steep && rise < APART && tries < 300); tries++) {
        draw_near(draws, tries, IN_A_ROW, x, y);
        height = height_at(terrain, *x, *y);
        if (steep && height >= 1)
            rise = fabsf(height_at(terrain, *x + APART, *y) - height);
    }
}

START_TEST(no_piece_floats_and_surfaces_are_blocks)
{
    const struct farlands_terrain *terrain = terrain_named(names[_i]);
    struct draws draws = {2020 + (uint64_t)_i, 0};

    for (int n = 0; n < BOXES; n++) {
        int64_t x, y;
        draw_land(&draws, terrain, n % 3 == 0, &x, &y);
        struct box box = box_new(terrain, x, y, SIDE);
        assert_none_floats(terrain, &box, names[_i]);
        assert_surfaces_are_blocks(terrain, &box);
        box_free(&box);
    }
}
END_TEST

/* Neighbours are off together, under the same ledge, so there are many places; more where steep
 * ground is rare. */
START_TEST(surfaces_are_heights)
{
    enum { IN_A_ROW = 40, STEEP = 500, MOST = 8 * PLACES };
    const struct farlands_terrain *terrain = terrain_named(names[_i]);
    struct draws draws = {2400 + (uint64_t)_i, 0};
    struct tally any = {0}, gentle = {0}, steep = {0};
    int64_t x = 0, y = 0;

    for (int n = 0; n < PLACES || (steep.columns <= STEEP && n < MOST); n++) {
        draw_near(&draws, n, IN_A_ROW, &x, &y);
        if (height_at(terrain, x, y) >= 1)
            compare_surfaces(terrain, x, y, &any, &gentle, &steep);
    }
    printf("%s: surfaces off by more than 2 blocks: %d of %d columns, %d of %d on gentle ground, "
           "%d of %d where it is steep\n",
           names[_i], any.off, any.columns, gentle.off, gentle.columns, steep.off, steep.columns);
    REQUIRE(any.off <= any.columns / 50, "%s: %d of %d", names[_i], any.off, any.columns);
    REQUIRE(gentle.columns > 5000 && gentle.off <= gentle.columns / 200, "%s, gentle: %d of %d",
            names[_i], gentle.off, gentle.columns);
    REQUIRE(steep.columns > STEEP && steep.off <= steep.columns / 10, "%s, steep: %d of %d",
            names[_i], steep.off, steep.columns);
}
END_TEST

/* Rivers and lakes do not run off into caves: hardly any block below water is missing. */
START_TEST(water_lies_on_ground)
{
    enum { WINDOWS = 400, IN_A_ROW = 8, APART = 32 };
    const struct world *world = worlds_find(worlds, names[_i]);
    struct draws draws = {2300 + (uint64_t)_i, 0};
    int64_t x = 0, y = 0;
    int wet = 0, open = 0;

    for (int n = 0; n < WINDOWS; n++) {
        static float level[SIDE * SIDE], height[SIDE * SIDE], ground[SIDE * SIDE];
        const int field[] = {world_water(world)->water, terrain_height_field(world->base_terrain)};
        float *const out[] = {level, height};
        draw_near(&draws, n, IN_A_ROW, &x, &y);
        struct farlands_grid grid = farlands_chunk(x, y, SIDE, SIDE);
        grid.step = farlands_units(APART);
        must(terrain_fields(world->base_terrain, scratch, &grid, field, 1, out, SIDE) == 0,
             "water");
        int at = 0;
        while (at < SIDE * SIDE && level[at] == RIVERS_DRY)
            at++;
        if (at == SIDE * SIDE)
            continue;
        grid.x += farlands_units(at % SIDE * APART - SIDE / 2);
        grid.y += farlands_units(at / SIDE * APART - SIDE / 2);
        grid.step = FARLANDS_UNIT;
        must(terrain_fields(world->base_terrain, scratch, &grid, field, 2, out, SIDE) == 0,
             "fields");
        must(terrain_surfaces(world->base_terrain, scratch, &grid, ground, SIDE) == 0, "surfaces");
        for (int i = 0; i < SIDE * SIDE; i++) {
            wet += level[i] > RIVERS_DRY;
            open += level[i] > RIVERS_DRY && ceilf(ground[i]) < ceilf(height[i]);
        }
    }
    printf("%s: %d of %d blocks under water are missing\n", names[_i], open, wet);
    REQUIRE(wet > 2000 && open <= wet / 2000, "%s: %d of %d", names[_i], open, wet);
}
END_TEST

/* There is something to see: ledges with air below them, and caves. */
START_TEST(ledges_and_caves_exist)
{
    const struct farlands_terrain *terrain = terrain_named("alps");
    struct draws draws = {2100, 0};
    int ledges = 0, caves = 0;

    for (int n = 0; n < 8; n++) {
        int64_t x, y;
        draw_land(&draws, terrain, true, &x, &y);
        struct box box = box_new(terrain, x, y, SIDE);
        const int slice = SIDE * SIDE;
        for (int at = slice; at < volume_of(&box); at++) {
            const float z = (float)(box.z + at / slice), height = box.height[at % slice];
            const bool solid = box.density[at] > 0;
            ledges += solid && z > height && box.density[at - slice] <= 0;
            caves += !solid && z < height;
        }
        box_free(&box);
    }
    REQUIRE(ledges > 100 && caves > 1000, "%d columns under ledges, %d blocks of caves", ledges,
            caves);
}
END_TEST

/* The block below FEET is solid, and those above are air. */
static bool stands(const struct farlands_terrain *terrain, const struct spawn_place *place,
                   float feet)
{
    enum { ABOVE = 40 };
    float density[1 + ABOVE];
    const struct farlands_box column = {
        place->x, place->y, ((int64_t)feet - 1) * FARLANDS_UNIT, FARLANDS_UNIT, 1, 1, 1 + ABOVE};
    must(terrain_density(terrain, scratch, &column, density) == 0, "density");
    bool is_air = true;
    for (int k = 1; k <= ABOVE; k++)
        is_air &= density[k] <= 0;
    return density[0] > 0 && is_air;
}

START_TEST(spawns_stand_on_blocks_in_the_air)
{
    const struct farlands_terrain *terrain = terrain_named(names[_i]);
    struct draws draws = {2200 + (uint64_t)_i, 0};

    for (int n = 0; n < SPAWNS; n++) {
        struct spawn_query query = {.min = 1, .max = 3000, .slope = 3};
        struct spawn_search *search;
        draw_land(&draws, terrain, false, &query.x, &query.y);
        query.x = farlands_units(query.x + draw_between(&draws, -2000, 2000));
        query.y = farlands_units(query.y);
        int count;
        ck_assert_int_eq(
            spawn_search_new(&search, terrain, &(struct spawn_fields){-1, -1, -1}, &query), 0);
        while (spawn_search_run(search, scratch, 100000) == SPAWN_NOT_YET)
            ;
        ck_assert_int_eq(spawn_search_run(search, scratch, 1), SPAWN_FOUND);
        const struct spawn_place *place = spawn_search_places(search, &count);
        REQUIRE(stands(terrain, place, ceilf(place->surface.ground)),
                "%s: (%" PRId64 ", %" PRId64 ") at %.9g", names[_i], place->x, place->y,
                (double)place->surface.ground);
        spawn_search_free(search);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("voxels");
    TCase *tcase = suite_case(suite, "worlds");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_loop_test(tcase, no_piece_floats_and_surfaces_are_blocks, 0, ROWS(names));
    tcase_add_loop_test(tcase, surfaces_are_heights, 0, ROWS(names));
    tcase_add_loop_test(tcase, water_lies_on_ground, 0, WITH_RIVERS);
    tcase_add_test(tcase, ledges_and_caves_exist);
    tcase_add_loop_test(tcase, spawns_stand_on_blocks_in_the_air, 0, ROWS(names));
    return suite_run(suite);
}
