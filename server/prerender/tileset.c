#include "tileset.h"

#include <math.h>

#include "server/world/web_window.h"

void tileset_set_bounds(struct tileset *tileset, int z, int64_t x0, int64_t y0, int64_t x1,
                        int64_t y1)
{
    tileset->west = web_longitude(ldexp((double)x0, -z));
    tileset->east = web_longitude(ldexp((double)x1, -z));
    tileset->north = web_latitude(ldexp((double)y0, -z));
    tileset->south = web_latitude(ldexp((double)y1, -z));
}

bool tileset_is_valid(const struct tileset *tileset)
{
    return tileset->name && tileset->format && tileset->zoom_min >= 0 &&
           tileset->zoom_min <= tileset->zoom_max && tileset->zoom_max <= TILESET_ZOOM_MAX &&
           tileset->west >= -180 && tileset->west < tileset->east && tileset->east <= 180 &&
           tileset->south > -90 && tileset->south < tileset->north && tileset->north < 90;
}

bool tileset_has(const struct tileset *tileset, int z, int64_t x, int64_t y)
{
    return z >= tileset->zoom_min && z <= tileset->zoom_max && x >= 0 && y >= 0 && !(x >> z) &&
           !(y >> z);
}

struct tileset_center tileset_center(const struct tileset *tileset)
{
    const double middle =
        (asinh(tan(tileset->south * M_PI / 180)) + asinh(tan(tileset->north * M_PI / 180))) / 2;
    const double fit = floor(log2(4 * 360 / (tileset->east - tileset->west)));
    return (struct tileset_center){
        .longitude = (tileset->west + tileset->east) / 2,
        .latitude = atan(sinh(middle)) * 180 / M_PI,
        .zoom = (int)fmin(fmax(fit, tileset->zoom_min), tileset->zoom_max),
    };
}
