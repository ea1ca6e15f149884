/* A deterministic pseudorandom generator. */
#ifndef LOAD_RANDOM_H
#define LOAD_RANDOM_H

#include <stdint.h>

/* SplitMix64 (Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators, 2014). */
static inline uint64_t random_next(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

/* Uniform in [0, 1). */
static inline double random_unit(uint64_t *state)
{
    return (double)(random_next(state) >> 11) * 0x1p-53;
}

/* Uniform in 0 to COUNT - 1. */
static inline uint64_t random_below(uint64_t *state, uint64_t count)
{
    return (uint64_t)(((unsigned __int128)random_next(state) * count) >> 64);
}

#endif
