/* The table of layers and formats. */
#include <string.h>

#include "paint.h"

enum { PNG = 1 << FORMAT_PNG, RAW = 1 << FORMAT_R16 | 1 << FORMAT_F32 };

/* What 0 and 2^24 - 1 stand for. All four are floats, so no height between them rounds to 2^24. */
#define TERRARIUM_LOWEST (-32768.0f)
#define TERRARIUM_HIGHEST 32767.99609375f
#define TERRAIN_RGB_LOWEST (-10000.0f)
#define TERRAIN_RGB_HIGHEST 1667721.5f

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
_Static_assert(sizeof layers / sizeof layers[0] - 1 <= CONFIG_LAYERS_MAX, "one bit a layer");

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

void layers_known(struct config_layer known[CONFIG_LAYERS_MAX + 1])
{
    int count = 0;
    for (; layers[count].name; count++)
        known[count] =
            (struct config_layer){layers[count].name, layers[count].lowest, layers[count].highest};
    known[count] = (struct config_layer){0};
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
