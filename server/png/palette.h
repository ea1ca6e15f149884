/*
 * Pictures as indices into a palette of at most 256 colors. Colors that look the same become one,
 * and colors of few pixels take that of a near one of many, by no more than is needed. Pure.
 */
#ifndef FARLANDS_PNG_PALETTE_H
#define FARLANDS_PNG_PALETTE_H

#include <stddef.h>
#include <stdint.h>

enum { PALETTE_COLORS = 256, PALETTE_PIXELS_MAX = 513 * 513 };

/* Working memory for one picture at a time. */
struct palette_maker;
struct palette_maker *palette_maker_new(void); /* NULL if out of memory */
void palette_maker_free(struct palette_maker *maker);

/*
 * Set INDEX[i] to the palette index of pixel i of COUNT, 1 to PALETTE_PIXELS_MAX, each a byte of
 * red, green and blue. PALETTE is sorted by brightness, so that similar colors have close indices.
 * Returns the number of colors; 0 if the picture has so many that 256 cannot stand for them, and
 * both outputs are undefined then. The same pixels give the same result on any machine.
 */
int palette_make(struct palette_maker *maker, uint8_t *index, uint8_t palette[PALETTE_COLORS][3],
                 const uint8_t *pixels, size_t count);

#endif
