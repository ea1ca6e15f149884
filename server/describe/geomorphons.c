#include "geomorphons.h"

#include <math.h>

/* The tangent of a degree. */
static const float LEVEL = 0.017455065f;

struct ground {
    const float *heights;
    int width, height;
    float spacing;
};

static int clamped(int value, int most)
{
    return value < 0 ? 0 : value > most ? most : value;
}

/*
 * Returns 1, 0 or -1: the sum of the angles with tangents A and B is above a degree, within a
 * degree of 0, or below. By tan (a + b) = (tan a + tan b) / (1 - tan a tan b), without an
 * arctangent, whose last bit depends on the C library. If the divisor is negative the sum is beyond
 * 90 degrees.
 */
static int sense(float a, float b)
{
    const float sum = a + b, divisor = 1 - a * b;
    if (divisor <= 0)
        return sum > 0 ? 1 : -1;
    return (sum > LEVEL * divisor) - (sum < -LEVEL * divisor);
}

/* The sense in which the ground goes from (X, Y) in a direction. */
static int look(const struct ground *ground, int x, int y, int dx, int dy)
{
    const float length = ground->spacing * (dx && dy ? (float)M_SQRT2 : 1);
    const int steps = dx && dy ? (int)((double)GEOMORPHON_REACH / M_SQRT2) : (int)GEOMORPHON_REACH;
    const float here = ground->heights[y * ground->width + x];
    float up = -INFINITY, down = INFINITY;
    for (int k = 1; k <= steps; k++) {
        const int to_x = clamped(x + k * dx, ground->width - 1);
        const int to_y = clamped(y + k * dy, ground->height - 1);
        const float rise = ground->heights[to_y * ground->width + to_x] - here;
        const float tangent = rise / ((float)k * length);
        up = fmaxf(up, tangent);
        down = fminf(down, tangent);
    }
    return sense(up, down);
}

static uint8_t is_ridge(const struct ground *ground, int x, int y)
{
    int higher = 0, lower = 0;
    for (int direction = 0; direction < 9; direction++) {
        if (direction == 4)
            continue;
        const int found = look(ground, x, y, direction % 3 - 1, direction / 3 - 1);
        higher += found > 0;
        lower += found < 0;
    }
    return lower >= 6 || (lower == 5 && higher <= 1);
}

void geomorphons_find_ridges(const float *heights, int width, int height, float spacing,
                             uint8_t *ridge)
{
    const struct ground ground = {heights, width, height, spacing};
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++)
            ridge[y * width + x] = is_ridge(&ground, x, y);
}
