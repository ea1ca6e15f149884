#include "surface.h"

struct surface surface_at(const struct farlands_terrain *terrain, int64_t x, int64_t y)
{
    const struct around around = {
        .west = farlands_height(terrain, x - FARLANDS_UNIT, y),
        .east = farlands_height(terrain, x + FARLANDS_UNIT, y),
        .north = farlands_height(terrain, x, y - FARLANDS_UNIT),
        .south = farlands_height(terrain, x, y + FARLANDS_UNIT),
    };
    /* The ground rises by these in a block east and south, and so it faces the other way. The
     * other way round, 0 - 0 is 0 where -0 would be told as "-0". */
    const double west = ((double)around.west - (double)around.east) / 2;
    const double north = ((double)around.north - (double)around.south) / 2;
    const double length = sqrt(west * west + north * north + 1);
    return (struct surface){
        .height = farlands_height(terrain, x, y),
        .slope = surface_slope(around),
        .normal = {(float)(west / length), (float)(north / length), (float)(1 / length)},
    };
}
