#include "point_documents.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/exact_numbers.h"

/* Formatted by hand, unlike documents.c: up to 2000 numbers per document, some of them with more
 * digits than a double, which is all that cJSON has. */

enum { SURFACE_TEXT = 2 * BLOCKS_TEXT + 5 * REAL_TEXT + 64 };

/* The document about a place, without its closing brace. Returns its length. */
static int surface_format(char text[SURFACE_TEXT], int64_t x, int64_t y,
                          const struct surface *surface)
{
    char place_x[BLOCKS_TEXT], place_y[BLOCKS_TEXT], metres[REAL_TEXT], slope[REAL_TEXT];
    char normal[3][REAL_TEXT];

    return snprintf(
        text, SURFACE_TEXT, "{\"x\":%s,\"y\":%s,\"height\":%s,\"slope\":%s,\"normal\":[%s,%s,%s]",
        blocks_format(x, place_x), blocks_format(y, place_y), float_format(surface->height, metres),
        float_format(surface->slope, slope), float_format(surface->normal[0], normal[0]),
        float_format(surface->normal[1], normal[1]), float_format(surface->normal[2], normal[2]));
}

struct blob *document_height(int64_t x, int64_t y, const struct surface *surface)
{
    char text[SURFACE_TEXT + 2];
    size_t length = (size_t)surface_format(text, x, y, surface);
    memcpy(text + length, "}\n", 2);
    return blob_copy(text, length + 2);
}

struct blob *document_heights(const float *heights, size_t count)
{
    static const char begin[] = "{\"heights\":[", end[] = "]}\n";
    char *text = malloc(sizeof begin + count * REAL_TEXT + sizeof end);
    if (!text)
        return NULL;
    char *at = stpcpy(text, begin);
    for (size_t i = 0; i < count; i++) {
        if (i > 0)
            *at++ = ',';
        float_format(heights[i], at); /* 15 characters at most */
        at += strlen(at);
    }
    at = stpcpy(at, end);
    struct blob *blob = blob_copy(text, (size_t)(at - text));
    free(text);
    return blob;
}

struct blob *document_spawn(const struct spawn_place *place)
{
    char text[SURFACE_TEXT + REAL_TEXT + 16], distance[REAL_TEXT];
    int length = surface_format(text, place->x, place->y, &place->surface);
    length += snprintf(text + length, sizeof text - (size_t)length, ",\"distance\":%s}\n",
                       real_format(place->distance, distance));
    return blob_copy(text, (size_t)length);
}
