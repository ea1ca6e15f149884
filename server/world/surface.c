#include "surface.h"

int surface_at(struct surface *out, const struct farlands_terrain *terrain,
               struct farlands_scratch *scratch, int64_t x, int64_t y)
{
    const struct farlands_grid grid = {.x = x - FARLANDS_UNIT,
                                       .y = y - FARLANDS_UNIT,
                                       .step = FARLANDS_UNIT,
                                       .width = 3,
                                       .height = 3};
    float height[3][3], ground;
    int err = terrain_heights(terrain, scratch, &grid, height[0], 3);
    if (!err)
        err = terrain_surface(terrain, scratch, x, y, height[1][1], &ground);
    if (err)
        return err;
    const struct around around = {
        .west = height[1][0], .east = height[1][2], .north = height[0][1], .south = height[2][1]};
    /* The normal points away from the rise. Negating the rise instead would give "-0" on level
     * ground. */
    const double west = ((double)around.west - (double)around.east) / 2;
    const double north = ((double)around.north - (double)around.south) / 2;
    const double length = sqrt(west * west + north * north + 1);
    *out = (struct surface){
        .height = height[1][1],
        .slope = surface_slope(around),
        .ground = ground,
        .normal = {(float)(west / length), (float)(north / length), (float)(1 / length)},
    };
    return 0;
}
