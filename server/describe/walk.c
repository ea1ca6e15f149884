#include "walk.h"

#include <math.h>
#include <stdbool.h>

#include "noise/farlands.h"

struct start {
    float height;
    enum ground_class class;
};

static bool is_reached(const struct ground *ground, enum walk_goal goal, const struct start *start,
                       int64_t x, int64_t y, int64_t apart, float height)
{
    switch (goal) {
    case WALK_CLIMB:
        return fabsf(height - start->height) >= WALK_RISE;
    case WALK_SEA:
        return !(height > 0);
    default:
        return ground_class_at(ground, x, y, apart, height) != start->class;
    }
}

struct walk walk_from(const struct ground *ground, int64_t x, int64_t y, const double direction[2])
{
    const float height = ground->height(ground->context, x, y, 0);
    const struct start start = {height, ground_class_at(ground, x, y, 0, height)};
    struct walk walk;
    int left = WALK_GOALS;

    for (int goal = 0; goal < WALK_GOALS; goal++)
        walk.way[goal] = INFINITY;
    double step = WALK_STEP;
    for (double way = step; left > 0 && way <= WALK_LIMIT; way += step) {
        const int64_t apart = (int64_t)(step * FARLANDS_UNIT);
        step = fmax(WALK_STEP, way / WALK_PART);
        const int64_t there[] = {x + llround(way * direction[0]) * FARLANDS_UNIT,
                                 y + llround(way * direction[1]) * FARLANDS_UNIT};
        const float now = ground->height(ground->context, there[0], there[1], apart);
        for (int goal = 0; goal < WALK_GOALS; goal++)
            if (isinf(walk.way[goal]) &&
                is_reached(ground, goal, &start, there[0], there[1], apart, now)) {
                walk.way[goal] = (float)way;
                left--;
            }
    }
    return walk;
}
