#include "survey_draws.h"

#include <math.h>

#include "noise/farlands.h"

/* Returns number I of a random stream with 64 bits each (splitmix64). */
static uint64_t draw(uint64_t seed, uint64_t i)
{
    uint64_t z = seed + (i + 1) * UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

void survey_draw_place(const struct survey_options *options, int groups, int i, int64_t place[2])
{
    static const int64_t AROUND = 8192 * FARLANDS_UNIT;
    for (int axis = 0; axis < 2; axis++) {
        const uint64_t side = (uint64_t)options->beyond[axis] - (uint64_t)options->least[axis];
        const uint64_t first = draw(options->seed, 2 * (uint64_t)(i % groups) + (uint64_t)axis);
        int64_t beyond = (int64_t)((unsigned __int128)first * side >> 64);
        if (i >= groups) {
            const uint64_t random = draw(options->seed, 2 * (uint64_t)i + (uint64_t)axis);
            const int64_t off = (int64_t)((unsigned __int128)random * (2 * AROUND) >> 64) - AROUND;
            const int64_t last = (int64_t)(side < INT64_MAX ? side : INT64_MAX) - 1;
            beyond = off < -beyond ? 0 : off > last - beyond ? last : beyond + off;
        }
        place[axis] = options->least[axis] + beyond / FARLANDS_UNIT * FARLANDS_UNIT;
    }
}

void survey_draw_direction(uint64_t seed, int i, double direction[2])
{
    /* A random point in the disc, scaled. Sines would be shorter, but their bits depend on the C
     * library. */
    const uint64_t stream = draw(~seed, (uint64_t)i);
    double length = 0;
    for (uint64_t k = 0; !(length > 0.01 && length <= 1); k += 2) {
        for (int axis = 0; axis < 2; axis++)
            direction[axis] = (double)(int64_t)draw(stream, k + (uint64_t)axis) / 0x1p63;
        length = sqrt(direction[0] * direction[0] + direction[1] * direction[1]);
    }
    direction[0] /= length;
    direction[1] /= length;
}
