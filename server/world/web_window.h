/* The window that web maps show, tiles 0 <= x, y < 2^z, is the square of Web Mercator (EPSG:3857).
 */
#ifndef FARLANDS_WORLD_WEB_WINDOW_H
#define FARLANDS_WORLD_WEB_WINDOW_H

#include <math.h>
#include <stdint.h>

#include "noise/farlands.h"
#include "server/world/tile.h"

/* PLACE's position in the window along one axis, 0 to 1. The window begins at ORIGIN. Both are in
 * units. */
static inline double web_window_position(int64_t place, int64_t origin, int native_zoom)
{
    return (double)((__int128)place - origin) / ldexp(TILE_SIZE * FARLANDS_UNIT, native_zoom);
}

/* Degrees at a position in the window. */
static inline double web_longitude(double position)
{
    return 360 * position - 180;
}

static inline double web_latitude(double position)
{
    return atan(sinh(M_PI * (1 - 2 * position))) * 180 / M_PI;
}

#endif
