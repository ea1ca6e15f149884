/* Walks and classes of ground on landforms with known answers. */
#include "server/describe/walk.h"

#include <math.h>

#include "noise/farlands.h"
#include "tests/unit/support/fixtures.h"

#define NEVER INFINITY

/* Heights by the place in blocks. */
struct landform {
    float (*height)(double x, double y);
};

static float height_at(void *context, int64_t x, int64_t y, int64_t apart)
{
    (void)apart;
    const struct landform *landform = context;
    return landform->height((double)x / FARLANDS_UNIT, (double)y / FARLANDS_UNIT);
}

static float level(double x, double y)
{
    (void)x, (void)y;
    return 20;
}

static float submerged(double x, double y)
{
    (void)x, (void)y;
    return -20;
}

/* Rises by 1 in 100 to the east, from 200 m. */
static float ramp(double x, double y)
{
    (void)y;
    return (float)(200 + x / 100);
}

/* A mountain, 3000 m high, that falls by 1 in 2 to all sides. */
static float cone(double x, double y)
{
    return (float)(3000 - hypot(x, y) / 2);
}

/* A basin that rises by 1 in 5. */
static float bowl(double x, double y)
{
    return (float)(100 + hypot(x, y) / 5);
}

/* Level ground 30 m high that ends at a wall, 150 m high, 5000 blocks to the east. */
static float step(double x, double y)
{
    (void)y;
    return x < 5000 ? 30 : 180;
}

/* The same at 900 km. */
static float far_step(double x, double y)
{
    (void)y;
    return x < 900000 ? 30 : 180;
}

/* A trench, narrower than a step of the walker but for a short way, at 1000 blocks. */
static float ditch(double x, double y)
{
    (void)y;
    return x >= 1000 && x < 1017 ? -1 : 30;
}

static const struct {
    const char *name;
    struct landform landform;
    double direction[2];
    float way[WALK_GOALS]; /* climb, sea, class */
} rows[] = {
    {"level", {level}, {1, 0}, {NEVER, NEVER, NEVER}},
    {"in the sea", {submerged}, {0, 1}, {NEVER, WALK_STEP, NEVER}},
    {"up the ramp", {ramp}, {1, 0}, {10000, NEVER, 30000}},
    {"down the ramp", {ramp}, {-1, 0}, {10000, 20000, 19600}},
    {"along the ramp", {ramp}, {0, -1}, {NEVER, NEVER, NEVER}},
    {"askew", {ramp}, {0.6, 0.8}, {10000 / 0.6F, NEVER, 30000 / 0.6F}},
    {"off the cone", {cone}, {0, 1}, {200, 6000, 16}},
    {"out of the bowl", {bowl}, {-0.6, 0.8}, {500, NEVER, 16}},
    {"to a wall", {step}, {1, 0}, {5000, NEVER, 4976}},
    {"to a far wall", {far_step}, {1, 0}, {900000, NEVER, NEVER}},
    {"into a ditch", {ditch}, {1, 0}, {NEVER, 1008, 976}},
};

/* FOUND is EXPECTED, to a look after it. */
static bool is_way(float found, float expected)
{
    if (isinf(expected) || isinf(found))
        return isinf(found) && isinf(expected);
    return found >= expected * 0.9999F && found <= expected * (1 + 1.F / WALK_PART) + WALK_STEP;
}

START_TEST(test_walks)
{
    struct landform landform = rows[_i].landform;
    const struct ground ground = {height_at, &landform};
    const struct walk walk = walk_from(&ground, 0, 0, rows[_i].direction);
    for (int goal = 0; goal < WALK_GOALS; goal++) {
        must(is_way(walk.way[goal], rows[_i].way[goal]), "%s: goal %d: %g blocks, not %g",
             rows[_i].name, goal, (double)walk.way[goal], (double)rows[_i].way[goal]);
    }
}
END_TEST

/* A walk does not depend on where it is, but for the place itself. */
START_TEST(test_far_out)
{
    struct landform landform = {step};
    const struct ground ground = {height_at, &landform};
    const double east[] = {1, 0};
    const int64_t out = -(INT64_C(1) << 30);
    const struct walk walk = walk_from(&ground, 4000 * FARLANDS_UNIT, out * FARLANDS_UNIT, east);
    ck_assert(is_way(walk.way[WALK_CLIMB], 1000));
}
END_TEST

static const struct {
    float height, degrees;
    enum ground_class expected;
} classes[] = {
    {-1, 0, GROUND_SEA},          {0, 60, GROUND_SEA},       {0.01F, 0, GROUND_BEACH},
    {4, 4.9F, GROUND_BEACH},      {4, 5.1F, GROUND_HILLS},   {4.01F, 4.9F, GROUND_PLAIN},
    {500, 0, GROUND_PLAIN},       {501, 0, GROUND_PLATEAU},  {501, 19.9F, GROUND_HILLS},
    {5, 20.1F, GROUND_MOUNTAINS}, {1, 89, GROUND_MOUNTAINS},
};

START_TEST(test_classes)
{
    const float slope = tanf(classes[_i].degrees * (float)M_PI / 180);
    const enum ground_class class = ground_classify(classes[_i].height, slope);
    must(class == classes[_i].expected, "%g m, %g degrees: %s", (double)classes[_i].height,
         (double)classes[_i].degrees, ground_names[class]);
}
END_TEST

static const struct {
    struct landform landform;
    int64_t x, y, reach; /* blocks */
    float expected;
} slopes[] = {
    {{level}, 5, 5, 1, 0},       {{ramp}, -70, 3, 1, 0.01F},  {{ramp}, 70, 3, 32, 0.01F},
    {{cone}, 300, 400, 1, 0.5F}, {{bowl}, 0, -900, 32, 0.2F}, {{cone}, 0, 0, 8, 0},
    {{step}, 5000, 0, 1, 75},    {{step}, 5000, 0, 50, 1.5F},
};

START_TEST(test_slopes)
{
    struct landform landform = slopes[_i].landform;
    const struct ground ground = {height_at, &landform};
    const float slope =
        ground_slope(&ground, slopes[_i].x * FARLANDS_UNIT, slopes[_i].y * FARLANDS_UNIT,
                     slopes[_i].reach * FARLANDS_UNIT, 0);
    ck_assert_float_eq_tol(slope, slopes[_i].expected, 2e-3F * slopes[_i].expected + 1e-6F);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("walk");
    TCase *tcase = suite_case(suite, "landforms");
    tcase_add_loop_test(tcase, test_walks, 0, ROWS(rows));
    tcase_add_test(tcase, test_far_out);
    tcase_add_loop_test(tcase, test_classes, 0, ROWS(classes));
    tcase_add_loop_test(tcase, test_slopes, 0, ROWS(slopes));
    return suite_run(suite);
}
