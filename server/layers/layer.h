/*
 * A layer: one way to show heights. Each is one file here and one row of the
 * table in layers.c; the rest of the server knows only the table.
 */
#ifndef FARLANDS_LAYERS_LAYER_H
#define FARLANDS_LAYERS_LAYER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "server/layers/color_table.h"

/* Version of what the layers paint: changes with any pixel, and so does every fingerprint. */
#define LAYERS_VERSION 2

enum format {
    FORMAT_PNG,
    FORMAT_R16, /* little-endian uint16 over the world's range */
    FORMAT_F32, /* little-endian float32 metres */
    FORMATS,
};

enum pixel {
    PIXEL_GRAY8,
    PIXEL_GRAY16, /* native-endian uint16 */
    PIXEL_RGB8,
    PIXEL_PICTURE, /* the same, but a palette may stand for it: only eyes read it */
};

/*
 * The heights that a layer paints from, in metres: none outside the range of the style they are
 * painted with, for what painters work out from them must fit integers and their tables.
 */
struct heights {
    const float *first; /* of sample (0, 0); with slopes, from -reach on */
    ptrdiff_t stride;   /* floats from one row to the next */
    int size;           /* samples a side, without the border */
    int reach;          /* samples from one to those that its slope is measured between */
    float spacing;      /* blocks between samples */
    float slope;        /* the world's typical slope (metres a block) at this spacing */
};

struct layer {
    const char *name;
    unsigned formats; /* bit 1 << FORMAT_... for each that it has */
    bool exact;       /* every octave, also those finer than a pixel */
    bool slopes;      /* needs samples around the tile, as far as reach */
    enum pixel pixel;
    const char *encoding; /* of heights in colours, as TileJSON names it; or NULL */
    float lowest,
        highest; /* metres that it can hold; 0, 0: any, since it goes by the world's range */
    /* Paint SIZE rows of SIZE pixels, packed, into PIXELS. Any thread. */
    void (*paint)(const struct heights *heights, const struct color_table *style, void *pixels);
};

/* The most that size and reach can be. */
enum { LAYER_MAX_SIZE = 512, LAYER_MAX_REACH = 64 };

/* The table, the first being what a viewer shows first; ends with a NULL name. */
extern const struct layer layers[];

/* The index in layers of NAME, or -1. */
int layer_find(const char *name);

/* The same table as the configuration needs it, in the same order. */
void layers_known(struct config_layer known[CONFIG_LAYERS_MAX + 1]);

size_t pixel_bytes(enum pixel pixel);

/* What the layer "height" makes of COUNT heights: 16 bits over STYLE's range. */
void height_samples(const float *heights, size_t count, const struct color_table *style,
                    uint16_t *samples);

/* "png", "r16", "f32". */
const char *format_extension(enum format format);
/* The media type. */
const char *format_type(enum format format);
/* The format with this extension, or -1. */
int format_find(const char *extension);

#endif
