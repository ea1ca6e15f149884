/* The surface at a place, exact to the last bit. */
#include "server/world/surface.h"

#include "tests/unit/support/fixtures.h"
#include "tests/unit/support/reference_params.h"

enum { PLACES = 3000 };

static struct farlands_scratch *scratch;

static void set_up(void)
{
    scratch = reference_scratch();
}

static void tear_down(void)
{
    farlands_scratch_free(scratch);
}

/* Heights of thousands of metres, of 1e6, of nearly 0; steep, level and warped. */
static const struct ground {
    const char *name;
    int64_t wavelength;
    int octaves;
    enum farlands_fractal fractal;
    int64_t warp_amplitude, warp_wavelength;
    struct farlands_knot low, high;
} grounds[] = {
    {"hills", BLOCKS(65536), 14, FARLANDS_FBM, 0, 0, {-1, -4000}, {1, 4000}},
    {"spikes", BLOCKS(3), 5, FARLANDS_FBM, 0, 0, {-0.5, -1e6}, {0.5, 1e6}},
    {"finer than a block", 700, 3, FARLANDS_FBM, 0, 0, {-1, -10}, {1, 10}},
    {"next to nothing", BLOCKS(100), 4, FARLANDS_FBM, 0, 0, {-1, -1e-30f}, {1, 1e-30f}},
    {"bent", BLOCKS(400), 9, FARLANDS_RIDGED, BLOCKS(100), BLOCKS(1000), {0, -500}, {1, 500}},
    {"plateaus", BLOCKS(40), 4, FARLANDS_FBM, 0, 0, {-0.05f, 7}, {0.05f, 9}},
    {"flat", BLOCKS(400), 3, FARLANDS_FBM, 0, 0, {-1, 42}, {1, 42}},
};

static struct farlands_terrain *terrain_of(const struct ground *ground)
{
    struct farlands_params params = reference_params();
    params.wavelength = ground->wavelength;
    params.octaves = ground->octaves;
    params.fractal = ground->fractal;
    params.warp.amplitude = ground->warp_amplitude;
    params.warp.wavelength = ground->warp_wavelength;
    params.knots = 2;
    params.elevation[0] = ground->low;
    params.elevation[1] = ground->high;
    return reference_terrain(&params);
}

/* A coordinate near the origin, far out, or at the limit. */
static int64_t any_place(struct draws *draws)
{
    switch (draw_between(draws, 0, 3)) {
    case 0:
        return draw_between(draws, -BLOCKS(1000), BLOCKS(1000));
    case 1:
        return FARLANDS_LIMIT - draw_between(draws, 0, FARLANDS_UNIT);
    case 2:
        return draw_between(draws, 0, FARLANDS_UNIT) - FARLANDS_LIMIT;
    default:
        return draw_between(draws, -FARLANDS_LIMIT, FARLANDS_LIMIT);
    }
}

/* Whether VALUE is the float nearest to EXACT, up to the error of long double. */
static bool is_nearest(float value, long double exact)
{
    const long double up = nextafterf(value, INFINITY) - (long double)value;
    const long double down = value - (long double)nextafterf(value, -INFINITY);
    return exact - value <= up * 0.500001L && value - exact <= down * 0.500001L;
}

static struct surface surface(const struct farlands_terrain *terrain, int64_t x, int64_t y)
{
    struct surface surface;
    ck_assert_int_eq(surface_at(&surface, terrain, scratch, x, y), 0);
    return surface;
}

START_TEST(test_places)
{
    const struct ground *ground = &grounds[_i];
    struct farlands_terrain *terrain = terrain_of(ground);
    struct draws draws = {.seed = 31};

    for (int i = 0; i < PLACES; i++) {
        const int64_t x = any_place(&draws), y = any_place(&draws), block = FARLANDS_UNIT;
        const struct surface here = surface(terrain, x, y);
        const long double east = ((long double)terrain_height(terrain, x + block, y) -
                                  (long double)terrain_height(terrain, x - block, y)) /
                                 2;
        const long double south = ((long double)terrain_height(terrain, x, y + block) -
                                   (long double)terrain_height(terrain, x, y - block)) /
                                  2;
        const long double square = east * east + south * south, length = sqrtl(square + 1);
        must(float_bits(here.height) == float_bits(terrain_height(terrain, x, y)),
             "%s at %" PRId64 ", %" PRId64 ": height %a", ground->name, x, y, (double)here.height);
        must(is_nearest(here.slope, sqrtl(square)) && !signbit(here.slope),
             "%s at %" PRId64 ", %" PRId64 ": slope %a, not %La", ground->name, x, y,
             (double)here.slope, sqrtl(square));
        const long double normal[3] = {-east / length, -south / length, 1 / length};
        for (int axis = 0; axis < 3; axis++)
            must(is_nearest(here.normal[axis], normal[axis]) &&
                     (here.normal[axis] != 0 || !signbit(here.normal[axis])),
                 "%s at %" PRId64 ", %" PRId64 ": normal[%d] %a, not %La", ground->name, x, y, axis,
                 (double)here.normal[axis], normal[axis]);
    }
    terrain_free(terrain);
}
END_TEST

/* The slope from a grid's heights equals the slope at the place. */
START_TEST(test_grids)
{
    enum { SIDE = 40 };
    struct farlands_terrain *terrain = terrain_of(&grounds[_i]);
    struct draws draws = {.seed = 32};
    static float heights[SIDE][SIDE];

    for (int k = 0; k < 10; k++) {
        const struct farlands_grid grid = {
            any_place(&draws), any_place(&draws), FARLANDS_UNIT, SIDE, SIDE, false};
        ck_assert_int_eq(terrain_heights(terrain, scratch, &grid, heights[0], SIDE), 0);
        for (int j = 1; j < SIDE - 1; j += 3)
            for (int i = 1; i < SIDE - 1; i++) {
                const int64_t x = grid.x + i * grid.step, y = grid.y + j * grid.step;
                const float slope = surface_slope((struct around){
                    heights[j][i - 1], heights[j][i + 1], heights[j - 1][i], heights[j + 1][i]});
                must(float_bits(slope) == float_bits(surface(terrain, x, y).slope),
                     "%s at %" PRId64 ", %" PRId64 ": %a", grounds[_i].name, x, y, (double)slope);
            }
    }
    terrain_free(terrain);
}
END_TEST

/* A plane that rises by 3 metres per block to the east and falls by 4 to the south. */
START_TEST(test_directions)
{
    const struct around around = {.west = -3, .east = 3, .north = 4, .south = -4};
    ck_assert_float_eq(surface_slope(around), 5);

    struct farlands_params params = reference_single(FARLANDS_MIX64, BLOCKS(4096));
    params.fade = FARLANDS_LINEAR;
    params.basis = FARLANDS_VALUE;
    params.elevation[0] = (struct farlands_knot){-1, -1e5f};
    params.elevation[1] = (struct farlands_knot){1, 1e5f};
    params.knots = 2;
    struct farlands_terrain *terrain = reference_terrain(&params);
    for (int i = 0; i < 100; i++) {
        const int64_t x = BLOCKS(1000) * i, y = -BLOCKS(777) * i;
        const struct surface here = surface(terrain, x, y);
        const bool rises_east = terrain_height(terrain, x + BLOCKS(1), y) > here.height;
        const bool rises_south = terrain_height(terrain, x, y + BLOCKS(1)) > here.height;
        ck_assert(rises_east == (here.normal[0] < 0));
        ck_assert(rises_south == (here.normal[1] < 0));
        ck_assert(here.normal[2] > 0 && here.normal[2] < 1);
    }
    terrain_free(terrain);
}
END_TEST

START_TEST(test_flat)
{
    struct farlands_terrain *terrain = terrain_of(&grounds[ROWS(grounds) - 1]);
    const struct surface here = surface(terrain, 12345, -6789);
    const float level[] = {42, 42, 0, 0, 0, 1}; /* the surface is the height; without -0 */
    ck_assert_mem_eq(&here, level, sizeof here);
    terrain_free(terrain);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("surface");
    TCase *tcase = suite_case(suite, "places");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_loop_test(tcase, test_places, 0, ROWS(grounds));
    tcase_add_loop_test(tcase, test_grids, 0, ROWS(grounds));
    tcase_add_test(tcase, test_directions);
    tcase_add_test(tcase, test_flat);
    return suite_run(suite);
}
