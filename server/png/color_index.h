/* Pictures of few colours as indices into a palette. Pure. */
#ifndef FARLANDS_PNG_COLOR_INDEX_H
#define FARLANDS_PNG_COLOR_INDEX_H

#include <stddef.h>
#include <stdint.h>

enum { COLOR_INDEX_MAX = 256 };

/*
 * INDEX[i] is that of pixel i of COUNT, red, green and blue a byte each. COLOURS
 * holds them in ascending order of brightness, so that neighbours have near
 * indices. Returns how many colours there are, or 0 where they are more than
 * COLOR_INDEX_MAX; OUT then holds nothing of use.
 */
int color_index(uint8_t *index, uint8_t colours[COLOR_INDEX_MAX][3], const uint8_t *pixels,
                size_t count);

#endif
