/* Indexed color: pictures of few colors as indices into a palette. Pure. */
#ifndef FARLANDS_PNG_COLOR_INDEX_H
#define FARLANDS_PNG_COLOR_INDEX_H

#include <stddef.h>
#include <stdint.h>

enum { COLOR_INDEX_MAX = 256 };

/*
 * Set INDEX[i] to the palette index of pixel i of COUNT, each a byte of red, green and blue.
 * PALETTE is sorted by brightness, so that similar colors have close indices. Returns the number
 * of colors, or 0 if there are more than COLOR_INDEX_MAX; both outputs are then undefined.
 */
int color_index(uint8_t *index, uint8_t palette[COLOR_INDEX_MAX][3], const uint8_t *pixels,
                size_t count);

#endif
