/* Surveys of worlds: level ones, whose measures are known; one place measured again by points; and
 * the same numbers from any number of threads. */
#include "server/describe/survey.h"

#include <math.h>

#include "tests/unit/support/fixtures.h"

static const int64_t HALF = FARLANDS_UNIT << 21;

/* The world of a configuration with this ELEVATION. */
static struct worlds *world_of(const char *elevation)
{
    char text[256];
    snprintf(text, sizeof text, "worlds: [{ name: a, elevation: %s }]\n", elevation);
    return worlds_of_text(text);
}

static struct survey *survey_of(const struct worlds *worlds, unsigned places, unsigned threads,
                                uint64_t seed)
{
    const struct survey_options options = {.world = &worlds->world[0],
                                           .least = {-HALF, -HALF},
                                           .beyond = {HALF, HALF},
                                           .seed = seed,
                                           .places = places,
                                           .threads = threads};
    struct survey *survey;
    ck_assert_int_eq(survey_run(&survey, &options), 0);
    return survey;
}

static void must_all_be(const struct quantiles *quantiles, double expected, const char *what)
{
    for (int i = 0; i < QUANTILES; i++)
        must(quantiles->value[i] == expected, "%s: %g", what, quantiles->value[i]);
}

START_TEST(test_level)
{
    struct worlds *worlds = world_of("[[-1, 42], [1, 42]]");
    struct survey *survey = survey_of(worlds, 5, 2, 0);
    ck_assert_int_eq(survey->land, SURVEY_DRAWN);
    ck_assert_int_eq(survey->places, 5);
    ck_assert_int_eq(survey->windows, 5);
    ck_assert_int_eq(survey->class_count[GROUND_PLAIN], SURVEY_DRAWN);
    must_all_be(&survey->height, 42, "height");
    must_all_be(&survey->land_height, 42, "height of land");
    must_all_be(&survey->slope, 0, "slope");
    for (int i = 0; i < RELIEF_SCALES; i++)
        must_all_be(&survey->relief[i], 0, "relief");
    for (int i = 0; i < WALK_GOALS; i++)
        must_all_be(&survey->way[i], INFINITY, "way");
    for (int i = 0; i < STEEP_ANGLES; i++)
        ck_assert_double_eq(survey->steeper[i], 0);
    for (int i = 0; i < WINDOW_STEPS; i++)
        ck_assert_double_eq(survey->sunken[i], 0);
    ck_assert_int_eq(survey->fields, 1);
    ck_assert_str_eq(survey->field[0].name, "height");
    must_all_be(&survey->field[0].values, 42, "field");
    survey_free(survey);
    worlds_release(worlds);
}
END_TEST

START_TEST(test_sea)
{
    struct worlds *worlds = world_of("[[-1, -9], [1, -9]]");
    struct survey *survey = survey_of(worlds, 5, 2, 0);
    ck_assert_int_eq(survey->land, 0);
    ck_assert_int_eq(survey->places, 0);
    ck_assert_int_eq(survey->class_count[GROUND_SEA], SURVEY_DRAWN);
    must_all_be(&survey->height, -9, "height");
    ck_assert(isnan(survey->land_height.value[0]) && isnan(survey->relief[0].value[0]));
    ck_assert(isnan(survey->steeper[0]) && isnan(survey->sunken[0]) && isnan(survey->variety[0]));
    ck_assert(survey->place[0][0] || survey->place[0][1]);
    survey_free(survey);
    worlds_release(worlds);
}
END_TEST

/* The relief in the square of SIDE blocks around PLACE, from single heights. */
static double relief(const struct farlands_terrain *terrain, const int64_t place[2], int side)
{
    const int64_t step = (int64_t)side * FARLANDS_UNIT / (SURVEY_RELIEF - 1);
    float min = INFINITY, max = -INFINITY;
    for (int64_t y = -SURVEY_RELIEF / 2; y <= SURVEY_RELIEF / 2; y++)
        for (int64_t x = -SURVEY_RELIEF / 2; x <= SURVEY_RELIEF / 2; x++) {
            const float height = terrain_height(terrain, place[0] + x * step, place[1] + y * step);
            min = fminf(min, height);
            max = fmaxf(max, height);
        }
    return (double)(max - min);
}

START_TEST(test_place)
{
    struct worlds *worlds = worlds_of(FRACTAL_WORLD);
    const struct farlands_terrain *terrain = worlds->world[0].base_terrain;
    struct survey *survey = survey_of(worlds, 1, 1, (uint64_t)_i);
    const int64_t *place = survey->place[0];
    ck_assert_int_eq(survey->places, 1);
    ck_assert(place[0] >= -HALF && place[0] < HALF && place[0] % FARLANDS_UNIT == 0);
    ck_assert(place[1] >= -HALF && place[1] < HALF && place[1] % FARLANDS_UNIT == 0);
    ck_assert(terrain_height(terrain, place[0], place[1]) > 0);
    for (int i = 0; i < RELIEF_SCALES; i++)
        must_all_be(&survey->relief[i], relief(terrain, place, relief_sides[i]), "relief");
    survey_free(survey);
    worlds_release(worlds);
}
END_TEST

/* Everything but the pointers. */
static void must_be_equal(const struct survey *a, const struct survey *b)
{
    ck_assert_mem_eq(a, b, offsetof(struct survey, place));
    ck_assert_mem_eq(a->place, b->place, (size_t)a->places * sizeof a->place[0]);
    ck_assert_mem_eq(&a->field[0].values, &b->field[0].values, sizeof a->field[0].values);
}

START_TEST(test_threads)
{
    struct worlds *worlds = worlds_of(FRACTAL_WORLD);
    struct survey *one = survey_of(worlds, 12, 1, 3), *many = survey_of(worlds, 12, 5, 3);
    struct survey *other = survey_of(worlds, 12, 2, 4);
    must_be_equal(one, many);
    ck_assert_mem_ne(one->place, other->place, 12 * sizeof one->place[0]);
    ck_assert_int_gt(one->land, SURVEY_DRAWN / 4);
    ck_assert_int_lt(abs(one->land - other->land), SURVEY_DRAWN / 20);
    survey_free(one);
    survey_free(many);
    survey_free(other);
    worlds_release(worlds);
}
END_TEST

/* The ends of the world: no coordinate overflows, and the walks leave it. */
START_TEST(test_limits)
{
    struct worlds *worlds = worlds_of(FRACTAL_WORLD);
    const struct survey_options options = {.world = &worlds->world[0],
                                           .least = {-FARLANDS_LIMIT, -FARLANDS_LIMIT},
                                           .beyond = {FARLANDS_LIMIT, FARLANDS_LIMIT},
                                           .places = 6,
                                           .threads = 2};
    struct survey_options corner = options, block = options;
    struct survey *survey;
    corner.least[0] = corner.least[1] = FARLANDS_LIMIT - FARLANDS_UNIT;
    block.beyond[0] = block.beyond[1] = 1 - FARLANDS_LIMIT;
    const struct survey_options *boxes[] = {&options, &corner, &block};
    for (int i = 0; i < ROWS(boxes); i++) {
        ck_assert_int_eq(survey_run(&survey, boxes[i]), 0);
        for (int axis = 0; axis < 2; axis++) {
            ck_assert(survey->place[0][axis] >= boxes[i]->least[axis]);
            ck_assert(survey->place[0][axis] < boxes[i]->beyond[axis]);
        }
        survey_free(survey);
    }
    worlds_release(worlds);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("survey");
    TCase *tcase = suite_case(suite, "worlds");
    tcase_add_test(tcase, test_level);
    tcase_add_test(tcase, test_sea);
    tcase_add_loop_test(tcase, test_place, 0, 2);
    tcase_add_test(tcase, test_threads);
    tcase_add_test(tcase, test_limits);
    return suite_run(suite);
}
