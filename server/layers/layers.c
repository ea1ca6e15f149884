/* The table of layers and formats. */
#include <string.h>

#include "paint.h"

enum { PNG = 1 << FORMAT_PNG, RAW = 1 << FORMAT_R16 | 1 << FORMAT_F32 };

/* What 24 bits hold, half a step less at the ends so that rounding stays inside. */
#define TERRARIUM_LOWEST (-32768.0f)
#define TERRARIUM_HIGHEST 32767.99f
#define TERRAIN_RGB_LOWEST (-10000.0f)
#define TERRAIN_RGB_HIGHEST 1667721.0f

const struct layer layers[] = {
    {"relief", PNG, false, true, PIXEL_PICTURE, NULL, 0, 0, paint_relief},
    {"hillshade", PNG, false, true, PIXEL_GRAY8, NULL, 0, 0, paint_hillshade},
    {"gray", PNG, false, false, PIXEL_GRAY8, NULL, 0, 0, paint_gray},
    {"height", PNG | RAW, true, false, PIXEL_GRAY16, NULL, 0, 0, paint_height},
    {"terrarium", PNG, true, false, PIXEL_RGB8, "terrarium", TERRARIUM_LOWEST, TERRARIUM_HIGHEST,
     paint_terrarium},
    {"terrain-rgb", PNG, true, false, PIXEL_RGB8, "mapbox", TERRAIN_RGB_LOWEST, TERRAIN_RGB_HIGHEST,
     paint_terrain_rgb},
    {"normal", PNG, false, true, PIXEL_RGB8, NULL, 0, 0, paint_normal},
    {0},
};

static const struct {
    const char *extension, *type;
} formats[FORMATS] = {
    [FORMAT_PNG] = {"png", "image/png"},
    [FORMAT_R16] = {"r16", "application/octet-stream"},
    [FORMAT_F32] = {"f32", "application/octet-stream"},
};

int layer_find(const char *name)
{
    for (int i = 0; layers[i].name; i++)
        if (strcmp(layers[i].name, name) == 0)
            return i;
    return -1;
}

size_t pixel_bytes(enum pixel pixel)
{
    return pixel == PIXEL_GRAY8 ? 1 : pixel == PIXEL_GRAY16 ? 2 : 3;
}

const char *format_extension(enum format format)
{
    return formats[format].extension;
}

const char *format_type(enum format format)
{
    return formats[format].type;
}

int format_find(const char *extension)
{
    for (int i = 0; i < FORMATS; i++)
        if (strcmp(formats[i].extension, extension) == 0)
            return i;
    return -1;
}
