/* Ken Perlin's permutation table, and shuffles of it. Private to noise/. */
#ifndef FARLANDS_PERMUTATION_H
#define FARLANDS_PERMUTATION_H

#include <stdint.h>

/* The published table if SEED is 0, or else a Fisher-Yates shuffle by SEED. */
void permutation_make(uint8_t table[256], uint64_t seed);

#endif
