/* The integer lattice: cells, fractions, and hashes of lattice corners. */
#ifndef FARLANDS_LATTICE_H
#define FARLANDS_LATTICE_H

#include <stdint.h>

/* A place on one axis, seen from the lattice: its cell and what is left, 0 <= rest < wavelength. */
struct lattice_place {
    int64_t cell;
    int64_t rest;
};

/* Floor, never truncation: C's division rounds towards zero, which mirrors the world there. */
static inline struct lattice_place lattice_place(int64_t units, int64_t wavelength)
{
    struct lattice_place p = {units / wavelength, units % wavelength};
    if (p.rest < 0) {
        p.rest += wavelength;
        p.cell--;
    }
    return p;
}

/* The place STEP further, where STEP is given as a place too: no division. */
static inline void lattice_advance(struct lattice_place *p, struct lattice_place step,
                                   int64_t wavelength)
{
    p->cell += step.cell;
    p->rest += step.rest;
    if (p->rest >= wavelength) {
        p->rest -= wavelength;
        p->cell++;
    }
}

/* A bijection of 64 bits in which every bit depends on every other: the
 * finalizer of SplitMix64 (Steele, Lea, Flood 2014; Stafford's variant 13). */
static inline uint64_t lattice_mix(uint64_t z)
{
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

/* The INDEXth 64-bit number that SEED draws: SplitMix64, from a mixed start so
 * that neighbouring seeds have nothing in common. */
static inline uint64_t lattice_draw(uint64_t seed, uint64_t index)
{
    const uint64_t golden = UINT64_C(0x9e3779b97f4a7c15);
    return lattice_mix(lattice_mix(seed + golden) + (index + 1) * golden);
}

/*
 * A corner's hash in two parts, so that columns and rows are mixed once each:
 * lattice_axis of the column and of the row, each under a key of its own, and
 * their sum folded by one 32x32-bit product (the NH construction of UMAC). The
 * product is what breaks the additive relation between the corners of a
 * rectangle. The multiplication before the xor spreads neighbouring cells.
 */
static inline uint64_t lattice_axis(int64_t cell, uint64_t key)
{
    return lattice_mix((uint64_t)cell * UINT64_C(0x9e3779b97f4a7c15) ^ key);
}

/* 8 bits for the corner. */
static inline uint32_t lattice_corner(uint64_t column, uint64_t row)
{
    uint64_t z = column + row;
    uint64_t product = (z & UINT32_MAX) * (z >> 32);
    return ((uint32_t)product ^ (uint32_t)(product >> 32)) >> 24;
}

#endif
