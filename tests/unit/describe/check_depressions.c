/* Priority-Flood: landforms whose levels are known, and random ground against a slow method. */
#include "server/describe/depressions.h"

#include <math.h>

#include "tests/unit/support/fixtures.h"

enum { SIDE = 41, CELLS = SIDE * SIDE, MIDDLE = SIDE / 2, ROUNDS = 40 };

static uint64_t heap[CELLS];

/* The distance from the middle, in cells. */
static float radius(int x, int y)
{
    return hypotf((float)(x - MIDDLE), (float)(y - MIDDLE));
}

static float plane(int x, int y)
{
    return (float)(100 + x + 2 * y);
}

static float cone(int x, int y)
{
    return 100 - radius(x, y);
}

/* Deepest in the middle; highest, 20 above that, at a distance of 15. */
static float bowl(int x, int y)
{
    const float r = radius(x, y);
    return 100 + (r < 15 ? r / 15 * 20 : 20 - (r - 15));
}

/* The same with a notch in its rim, 12 above its middle, on the way to the west. */
static float notched(int x, int y)
{
    return y == MIDDLE && x < MIDDLE ? fminf(bowl(x, y), 112) : bowl(x, y);
}

/* The same with a notch that cells touch at corners only. */
static float diagonal(int x, int y)
{
    return x == y && x < MIDDLE ? fminf(bowl(x, y), 112) : bowl(x, y);
}

/* The same with its middle below the sea, so that it is no depression. */
static float lagoon(int x, int y)
{
    return bowl(x, y) - 105;
}

/* Level steps, each lower than the one before it, to the east. */
static float steps(int x, int y)
{
    (void)y;
    return (float)(200 - x / 8 * 10);
}

/* A trench of 10 x 10 cells, 3 deep, in level ground. */
static float pit(int x, int y)
{
    return x >= 10 && x < 20 && y >= 5 && y < 15 ? 47 : 50;
}

static float sea(int x, int y)
{
    (void)x, (void)y;
    return -5;
}

static const struct {
    const char *name;
    float (*height)(int x, int y);
    float level;     /* up to which cells within the distance REACH are filled; 0: none is */
    float reach;     /* cells */
    float tolerance; /* metres */
    int land, sunken;
} rows[] = {
    {"plane", plane, 0, 0, 0, CELLS, 0},
    {"cone", cone, 0, 0, 0, CELLS, 0},
    {"steps", steps, 0, 0, 0, CELLS, 0},
    {"pit", pit, 0, 0, 2.9f, CELLS, 100},
    {"pit, tolerated", pit, 0, 0, 3, CELLS, 0},
    {"bowl", bowl, 120, 15, 0, CELLS, -1},
    {"notched bowl", notched, 112, 9, 0, CELLS, -1},
    {"bowl with a diagonal notch", diagonal, 112, 9, 0, CELLS, -1},
    {"lagoon", lagoon, 0, 0, 0, -1, 0},
    {"sea", sea, 0, 0, 0, 0, 0},
};

START_TEST(test_landforms)
{
    float heights[CELLS], levels[CELLS];
    int within = 0;

    for (int i = 0; i < CELLS; i++)
        heights[i] = rows[_i].height(i % SIDE, i / SIDE);
    depressions_fill(heights, SIDE, SIDE, levels, heap);
    for (int i = 0; i < CELLS; i++) {
        const bool inside =
            radius(i % SIDE, i / SIDE) < rows[_i].reach && heights[i] < rows[_i].level;
        within += inside;
        if (rows[_i].level > 0)
            must(inside ? fabsf(levels[i] - rows[_i].level) <= 1.01F : levels[i] >= heights[i],
                 "%s: cell %d: level %g", rows[_i].name, i, (double)levels[i]);
    }
    const struct depressions found = depressions_count(heights, levels, CELLS, rows[_i].tolerance);
    if (rows[_i].land >= 0)
        ck_assert_int_eq(found.land, rows[_i].land);
    if (rows[_i].sunken >= 0)
        must(found.sunken == rows[_i].sunken, "%s: %d sunken", rows[_i].name, found.sunken);
    else
        must(abs(found.sunken - within) <= within / 10, "%s: %d sunken, %d within", rows[_i].name,
             found.sunken, within);
}
END_TEST

/* Lower levels until none can be: level = max(height, least level of the neighbors). */
static void fill_slowly(const float *heights, int width, int height, float *levels)
{
    for (int i = 0; i < width * height; i++) {
        const int x = i % width, y = i / width;
        const bool edge = x == 0 || y == 0 || x == width - 1 || y == height - 1;
        levels[i] = edge || heights[i] <= 0 ? heights[i] : INFINITY;
    }
    for (bool changed = true; changed;) {
        changed = false;
        for (int y = 1; y < height - 1; y++)
            for (int x = 1; x < width - 1; x++) {
                float *level = &levels[y * width + x];
                for (int k = 0; k < 9; k++) {
                    const float next = fmaxf(heights[y * width + x],
                                             levels[(y + k / 3 - 1) * width + x + k % 3 - 1]);
                    changed = changed || next < *level;
                    *level = fminf(*level, next);
                }
            }
    }
}

START_TEST(test_random)
{
    struct guarded guarded;
    uint64_t state = 16;
    float expected[CELLS], levels[CELLS];

    guarded_new(&guarded, sizeof levels);
    for (int round = 0; round < ROUNDS; round++) {
        const int width = 1 + chance_below(&state, SIDE), height = 1 + chance_below(&state, SIDE);
        const int range =
            2 + chance_below(&state, 1000); /* of heights: some equal, or hardly any */
        const size_t count = (size_t)width * (size_t)height;
        float *heights = guarded_end(&guarded, count * sizeof heights[0]);
        for (size_t i = 0; i < count; i++)
            heights[i] = (float)(chance_below(&state, range) - range / 8);
        depressions_fill(heights, width, height, levels, heap);
        fill_slowly(heights, width, height, expected);
        must(memcmp(levels, expected, count * sizeof levels[0]) == 0, "%d x %d, range %d", width,
             height, range);
    }
    guarded_free(&guarded);
}
END_TEST

/* Each cell runs off over a neighbor that is not higher and comes before it, or is an outlet. */
START_TEST(test_drain)
{
    float heights[CELLS], levels[CELLS], filled[CELLS];
    int order[CELLS], from[CELLS], number[CELLS];
    uint64_t state = 17;
    for (int i = 0; i < CELLS; i++)
        heights[i] = (float)(chance_below(&state, 40) - 3);
    depressions_fill(heights, SIDE, SIDE, filled, heap);
    depressions_drain(heights, SIDE, SIDE, levels, heap, order, from);
    ck_assert_mem_eq(levels, filled, sizeof levels);
    for (int i = 0; i < CELLS; i++)
        number[order[i]] = i;
    for (int i = 0; i < CELLS; i++) {
        const int x = i % SIDE, y = i / SIDE, to = from[i];
        const bool edge = x == 0 || y == 0 || x == SIDE - 1 || y == SIDE - 1;
        must(order[number[i]] == i, "cell %d is missing", i);
        must((to < 0) == (edge || heights[i] <= 0), "cell %d: from %d", i, to);
        must(to < 0 || (abs(to % SIDE - x) <= 1 && abs(to / SIDE - y) <= 1 &&
                        number[to] < number[i] && levels[to] <= levels[i]),
             "cell %d: from %d", i, to);
    }
}
END_TEST

/* Two bowls, one of them with a lake in its lowest cell; land and sea around them stay. */
START_TEST(test_lakes)
{
    enum { WIDE = 9, HIGH = 6 };
    static const char *const map[HIGH] = {"999999999", "934597239", "942497419",
                                          "933399339", "999999999", "-99999999"};
    float heights[WIDE * HIGH], levels[WIDE * HIGH], water[WIDE * HIGH];
    uint64_t stack[WIDE * HIGH];
    for (int i = 0; i < WIDE * HIGH; i++) {
        const char c = map[i / WIDE][i % WIDE];
        heights[i] = c == '-' ? -2 : (float)(c - '0');
        water[i] = -32768;
    }
    water[2 * WIDE + 2] = 3.5F;  /* the lowest cell of the left one */
    water[2 * WIDE + 5] = -0.5F; /* not above the ground */
    depressions_fill(heights, WIDE, HIGH, levels, stack);
    const struct depressions before = depressions_count(heights, levels, WIDE * HIGH, 0.1F);
    depressions_leave_lakes(heights, water, WIDE, HIGH, levels, stack);
    const struct depressions after = depressions_count(heights, levels, WIDE * HIGH, 0.1F);
    ck_assert_int_eq(before.land, after.land);
    ck_assert_int_eq(before.sunken - after.sunken, 9);
    ck_assert_int_eq(after.sunken, 8);
    for (int i = 0; i < WIDE * HIGH; i++)
        must(levels[i] >= heights[i], "cell %d: level %g", i, (double)levels[i]);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("depressions");
    TCase *tcase = suite_case(suite, "levels");
    tcase_add_loop_test(tcase, test_landforms, 0, ROWS(rows));
    tcase_add_test(tcase, test_random);
    tcase_add_test(tcase, test_drain);
    tcase_add_test(tcase, test_lakes);
    return suite_run(suite);
}
