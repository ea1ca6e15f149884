#include "surface.h"

struct surface surface_at(const struct farlands_terrain *terrain, int64_t x, int64_t y)
{
    const struct around around = {
        .west = terrain_height(terrain, x - FARLANDS_UNIT, y),
        .east = terrain_height(terrain, x + FARLANDS_UNIT, y),
        .north = terrain_height(terrain, x, y - FARLANDS_UNIT),
        .south = terrain_height(terrain, x, y + FARLANDS_UNIT),
    };
    /* The normal points away from the rise. Negating the rise instead would give "-0" on level
     * ground. */
    const double west = ((double)around.west - (double)around.east) / 2;
    const double north = ((double)around.north - (double)around.south) / 2;
    const double length = sqrt(west * west + north * north + 1);
    return (struct surface){
        .height = terrain_height(terrain, x, y),
        .slope = surface_slope(around),
        .normal = {(float)(west / length), (float)(north / length), (float)(1 / length)},
    };
}
