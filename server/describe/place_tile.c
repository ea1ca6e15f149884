#include "server/describe/place_tile.h"

#include <errno.h>

int place_tile_find(struct tile_address *address, const int64_t place[2])
{
    struct farlands_grid grid;
    int64_t from[2];
    address->x = address->y = 0;
    int err = tile_grid(address, &grid, NULL); /* only for the step */
    if (err)
        return err;
    const int64_t side = TILE_SIZE * grid.step;
    for (int axis = 0; axis < 2; axis++)
        if (__builtin_sub_overflow(place[axis], address->world->config->origin[axis], &from[axis]))
            return -ERANGE;
    address->x = from[0] / side - (from[0] % side < 0);
    address->y = from[1] / side - (from[1] % side < 0);
    return 0;
}
