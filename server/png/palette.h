/*
 * Pictures as indices into a palette of at most 256 colors. Colors that look the same become one,
 * and a color with few pixels moves to a near color with many, no farther than needed. Pure.
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
 * Set INDEX[i] to pixel i's palette index, for COUNT pixels, 1 to PALETTE_PIXELS_MAX, with a byte
 * each for red, green and blue. PALETTE is sorted by brightness, so that similar colors have close
 * indices. Returns how many colors there are; 0 if 256 cannot stand for the picture's colors: then
 * both outputs are undefined. The same pixels give the same result on any machine.
 */
int palette_make(struct palette_maker *maker, uint8_t *index, uint8_t palette[PALETTE_COLORS][3],
                 const uint8_t *pixels, size_t count);

#endif
