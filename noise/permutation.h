/* Ken Perlin's permutation table, and shuffles of it. */
#ifndef FARLANDS_PERMUTATION_H
#define FARLANDS_PERMUTATION_H

#include <stdint.h>

/* The published table for seed 0, a Fisher-Yates shuffle of it drawn from SEED otherwise. */
void permutation_make(uint8_t table[256], uint64_t seed);

#endif
