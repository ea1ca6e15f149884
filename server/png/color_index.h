/* Pictures of few colours as indices into a palette. Pure. */
#ifndef FARLANDS_PNG_COLOR_INDEX_H
#define FARLANDS_PNG_COLOR_INDEX_H

#include <stddef.h>
#include <stdint.h>

enum { PALETTE_COLOURS = 256 };

/*
 * INDEX[i] is that of pixel i of COUNT, red, green and blue a byte each. COLOURS
 * holds them in ascending order of brightness, so that neighbours have near
 * indices. Returns how many colours there are, or 0 where they are more than
 * PALETTE_COLOURS; OUT then holds nothing of use.
 */
int palette_index(uint8_t *index, uint8_t colours[PALETTE_COLOURS][3], const uint8_t *pixels,
                  size_t count);

#endif
