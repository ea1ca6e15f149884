/* The layers' painters; see struct layer. */
#ifndef FARLANDS_PAINT_H
#define FARLANDS_PAINT_H

#include "layer.h"

void paint_gray(const struct heights *heights, const struct style *style, void *pixels);
void paint_height(const struct heights *heights, const struct style *style, void *pixels);
void paint_relief(const struct heights *heights, const struct style *style, void *pixels);

#endif
