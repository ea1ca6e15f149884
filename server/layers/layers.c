#include <string.h>

#include "paint.h"

enum {
    PNG = 1 << FORMAT_PNG,
    WEBP = 1 << FORMAT_WEBP,
    R16 = 1 << FORMAT_R16,
    F32 = 1 << FORMAT_F32,
    U8 = 1 << FORMAT_U8,
};
enum {
    COLORS = 1 << WORLD_COLORS,
    SHADING = 1 << WORLD_SHADING,
    DENSITY = 1 << WORLD_DENSITY,
};

const struct layer layers[] = {
#define LAYER(id, text, bits, ...) \
    {.name = text, .formats = bits, .paint = paint_##id, __VA_ARGS__},
#include "layers.def"
#undef LAYER
    {.name = "field",
     .formats = PNG | R16 | F32 | U8,
     .pixel = PIXEL_GRAY16,
     .fields = true,
     .version = 1,
     .parts = DENSITY, /* for the surface */
     .paint = paint_height},
    /* The field's range is that of ids, so grays are ids. */
    {.name = "biome",
     .formats = PNG,
     .pixel = PIXEL_INDEX8,
     .palette = palette_biomes,
     .biomes = true,
     .parts = COLORS,
     .paint = paint_gray},
    {.name = NULL},
};
_Static_assert(sizeof layers / sizeof layers[0] - 1 <= CONFIG_LAYERS_MAX, "one bit per layer");

static const struct {
    const char *extension, *type;
} formats[FORMATS] = {
    [FORMAT_PNG] = {"png", "image/png"},
    [FORMAT_WEBP] = {"webp", "image/webp"},
    [FORMAT_R16] = {"r16", "application/octet-stream"},
    [FORMAT_F32] = {"f32", "application/octet-stream"},
    [FORMAT_U8] = {"u8", "application/octet-stream"},
};

int layer_find(const char *name)
{
    for (int i = 0; layers[i].name; i++) {
        const size_t length = layers[i].fields ? strlen(layers[i].name) : strlen(name);
        if (strncmp(layers[i].name, name, length) == 0 && layers[i].name[length] == '\0' &&
            (!layers[i].fields || (name[length] == '.' && name[length + 1])))
            return i;
    }
    return -1;
}

void layers_known(struct config_layer known[CONFIG_LAYERS_MAX + 1])
{
    int count = 0;
    for (; layers[count].name; count++)
        known[count] =
            (struct config_layer){layers[count].name, layers[count].lowest, layers[count].highest,
                                  layers[count].biomes, layers[count].rivers};
    known[count] = (struct config_layer){0};
}

size_t pixel_bytes(enum pixel pixel)
{
    return pixel == PIXEL_GRAY8 || pixel == PIXEL_INDEX8 ? 1 : pixel == PIXEL_GRAY16 ? 2 : 3;
}

unsigned format_sample_bytes(enum format format)
{
    return format == FORMAT_F32 ? 4 : format == FORMAT_R16 ? 2 : 1;
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
