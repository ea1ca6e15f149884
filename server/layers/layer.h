/* A layer: one way to show heights. Each is one file and one row in layers.def; the rest of the
 * server knows only the table. CONTRIBUTING.md says how to add one. */
#ifndef FARLANDS_LAYERS_LAYER_H
#define FARLANDS_LAYERS_LAYER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "config/fields/biomes.h"
#include "server/layers/color_table.h"
#include "server/layers/scale.h"

enum format {
    FORMAT_PNG,
    FORMAT_WEBP,
    FORMAT_R16, /* little-endian uint16 over a range */
    FORMAT_F32, /* little-endian float32 */
    FORMAT_U8,  /* bytes over a range */
    FORMATS,
};

/* True if FORMAT has pixels; other formats have samples. */
static inline bool format_is_picture(enum format format)
{
    return format <= FORMAT_WEBP;
}

enum pixel {
    PIXEL_GRAY8,
    PIXEL_GRAY16, /* native-endian uint16 */
    PIXEL_RGB8,
    PIXEL_PICTURE, /* RGB8 that may be stored as indexed color: only eyes read it */
    PIXEL_INDEX8,  /* a byte, the index of a color in the layer's palette */
};

/* The colors for PIXEL_INDEX8: red, green and blue of each index, and how opaque it is. Indices are
 * less than COLORS. */
struct image_palette {
    uint8_t color[256][3];
    int colors;         /* 1 to 256 */
    bool is_clear;      /* ALPHA counts: tRNS is written */
    uint8_t alpha[256]; /* 255: opaque */
};

/* Fill OUT, which has one color, black, for a world with COLORS and BIOMES; BIOMES is NULL if the
 * world has none. Any thread. */
typedef void layer_palette(struct image_palette *out, const struct color_table *colors,
                           const struct biome_table *biomes);

enum { LAYER_MAX_SIZE = 513, LAYER_MAX_REACH = 64 };

/* The values that 0 and the greatest integer stand for in a pixel or sample. MIN < MAX, and the
 * difference is finite. */
struct value_range {
    float min, max;
};

/* How rivers are drawn, by order (inland_water.h). */
struct river_scale {
    float shown; /* the least order that is drawn in full */
    float wide;  /* from this order on, rivers are wider than the least line */
    float near;  /* `bank` is in metres if samples are this far apart: the spacing, at most 128 */
};

/* A layer's input: heights in metres, none outside the color table's range. */
struct heights {
    const float *first; /* sample (0, 0); with slopes, samples from -reach on are there */
    /* Degrees C and 0 to 1, as first, if the color table has climate colors. */
    const float *temperature, *humidity;
    /* As first: level in metres; order; metres from the nearest river's edge. NULL if the world has
     * no rivers, or the layer does not show them. */
    const float *water, *river, *bank;
    const float *canopy; /* as first: metres above the ground; NULL if no plants are shown */
    struct river_scale rivers;
    ptrdiff_t stride;         /* floats from one row to the next */
    int size;                 /* samples per row without the border, up to LAYER_MAX_SIZE */
    int rows;                 /* without the border */
    int reach;                /* a slope is measured over so many samples to either side */
    float spacing;            /* blocks between samples */
    float exaggeration;       /* for shading, at least 0 */
    struct value_range range; /* for gray pixels; heights beyond it become black or white */
};

/* Paint ROWS rows of SIZE pixels, packed, into PIXELS. Any thread. */
typedef void layer_paint(const struct heights *heights, const struct color_table *colors,
                         void *pixels);

struct layer {
    const char *name;
    unsigned formats; /* a bit 1 << FORMAT_... each */
    enum pixel pixel;
    layer_palette *palette; /* for PIXEL_INDEX8; otherwise NULL */
    bool exact;             /* pictures have every octave, also those finer than a pixel */
    bool slopes;            /* needs a border of reach samples */
    bool climate;           /* needs temperature and humidity if the color table does */
    bool canopy;            /* shades plants on the ground if the world has a canopy */
    bool water;             /* needs water, river and bank if the world has them */
    bool fields;            /* is one layer for each field, called {name}.{field} */
    bool biomes;            /* shows a world's biomes; only worlds that have some serve it */
    bool rivers;            /* only worlds that have rivers serve it */
    const char *encoding;   /* TileJSON's name for the encoding of heights as colors, or NULL */
    float lowest, highest;  /* metres that the layer can hold; 0, 0: any range */
    const struct scale_stop *scale; /* colors by degrees (scale.h), or NULL */
    int stops;
    int version;    /* increase this if a pixel changes: part of the layer's fingerprint */
    unsigned parts; /* bits 1 << WORLD_...: what pixels depend on besides heights and grid */
    layer_paint *paint;
};

/* The table; ends with a NULL name. */
extern const struct layer layers[];

/* True if LAYER's samples in FORMAT have every octave, also those finer than a pixel. */
static inline bool format_is_exact(int layer, enum format format)
{
    return !format_is_picture(format) || layers[layer].exact;
}

/* True if LAYER shows numbers; then it has raw formats, too. */
static inline bool layer_has_numbers(int layer)
{
    return layers[layer].pixel == PIXEL_GRAY16;
}

/* NAME's index in layers, or -1. Any field is accepted in {name}.{field}. */
int layer_find(const char *name);

/* The table as the configuration needs it, in the same order. */
void layers_known(struct config_layer known[CONFIG_LAYERS_MAX + 1]);

size_t pixel_bytes(enum pixel pixel);

/* COUNT values as native-endian uint16, or as bytes, over RANGE; values beyond it are clamped. */
void samples_16(const float *values, size_t count, struct value_range range, uint16_t *out);
void samples_8(const float *values, size_t count, struct value_range range, uint8_t *out);

/* Bytes per sample, if FORMAT is no picture. */
unsigned format_sample_bytes(enum format format);

const char *format_extension(enum format format); /* "png", "webp", "r16", "f32", "u8" */
const char *format_type(enum format format);      /* the media type */
int format_find(const char *extension);           /* the format, or -1 */

#endif
