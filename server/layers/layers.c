/* The table of layers and formats. */
#include <string.h>

#include "paint.h"

enum { PNG = 1 << FORMAT_PNG, RAW = 1 << FORMAT_R16 | 1 << FORMAT_F32 };

const struct layer layers[] = {
    {"relief", PNG, false, true, PIXEL_RGB8, paint_relief},
    {"gray", PNG, false, false, PIXEL_GRAY8, paint_gray},
    {"height", PNG | RAW, true, false, PIXEL_GRAY16, paint_height},
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
