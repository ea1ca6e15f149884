#include "ground.h"

#include <math.h>

#include "noise/farlands.h"
#include "server/world/surface.h"

const char *const ground_names[GROUND_CLASSES] = {
    [GROUND_SEA] = "sea",         [GROUND_BEACH] = "beach", [GROUND_PLAIN] = "plain",
    [GROUND_PLATEAU] = "plateau", [GROUND_HILLS] = "hills", [GROUND_MOUNTAINS] = "mountains",
};

static const float BEACH_METRES = 4, PLAIN_METRES = 500;
/* Tangents of 5 and 20 degrees. */
static const float LEVEL = 0.08748866f, STEEP = 0.36397023f;

float ground_slope(const struct ground *ground, int64_t x, int64_t y, int64_t reach, int64_t apart)
{
    const struct around around = {
        .west = ground->height(ground->context, x - reach, y, apart),
        .east = ground->height(ground->context, x + reach, y, apart),
        .north = ground->height(ground->context, x, y - reach, apart),
        .south = ground->height(ground->context, x, y + reach, apart),
    };
    return surface_slope(around) * (float)FARLANDS_UNIT / (float)reach;
}

enum ground_class ground_classify(float height, float slope)
{
    if (!(height > 0))
        return GROUND_SEA;
    if (slope >= LEVEL)
        return slope < STEEP ? GROUND_HILLS : GROUND_MOUNTAINS;
    if (height > PLAIN_METRES)
        return GROUND_PLATEAU;
    return height > BEACH_METRES ? GROUND_PLAIN : GROUND_BEACH;
}

enum ground_class ground_class_at(const struct ground *ground, int64_t x, int64_t y, int64_t apart,
                                  float height)
{
    if (!(height > 0))
        return GROUND_SEA;
    return ground_classify(height, ground_slope(ground, x, y, GROUND_REACH * FARLANDS_UNIT, apart));
}
