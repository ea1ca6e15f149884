/* Hashes of random graphs of fields, the same on every machine. */
#ifndef FARLANDS_GRAPH_BITS_H
#define FARLANDS_GRAPH_BITS_H

#include <stdint.h>

enum { GRAPH_BITS = 4000 }; /* graphs that bits.c prints */

/* A hash of fields of random graph NUMBER over two grids, and at a point; 0 on error. */
uint64_t graph_bits(int number);

/* Graph NUMBER in words. Static text, overwritten by the next call. */
const char *graph_bits_text(int number);

#endif
