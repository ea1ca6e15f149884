/* The integer lattice: cells, fractions, corner hashes, and random numbers from a seed. Private to
 * noise/. */
#ifndef FARLANDS_LATTICE_H
#define FARLANDS_LATTICE_H

#include <stdint.h>

/* A coordinate in the lattice: the cell, and the units into the cell, 0 <= rest < wavelength. */
struct lattice_place {
    int64_t cell;
    int64_t rest;
};

/* A / B, rounded down; B is above 0. */
static inline int64_t lattice_floor(int64_t a, int64_t b)
{
    return a / b - (a % b < 0);
}

/* Floor division. C's own division rounds towards zero, which would mirror the world at 0. */
static inline struct lattice_place lattice_place(int64_t units, int64_t wavelength)
{
    struct lattice_place p = {units / wavelength, units % wavelength};
    if (p.rest < 0) {
        p.rest += wavelength;
        p.cell--;
    }
    return p;
}

/* Add STEP, another place, to *P. Needs no division. */
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

/* Random number INDEX for SEED: SplitMix64 from a mixed start, so that neighboring seeds are
 * unrelated. */
static inline uint64_t lattice_random(uint64_t seed, uint64_t index)
{
    const uint64_t golden = UINT64_C(0x9e3779b97f4a7c15);
    return lattice_mix(lattice_mix(seed + golden) + (index + 1) * golden);
}

/*
 * A corner's hash has two parts, so that columns and rows are mixed only once each: lattice_axis
 * for the column and for the row, each with its own key. The two are added, and the sum's halves
 * are multiplied (UMAC's NH construction). Without the product, the four corners of a rectangle
 * would have hashes with a fixed relation.
 *
 * Each half takes two rounds of multiply and shift, in 32 bits because vectors have no fast 64-bit
 * product. The constants are the best in Wellons's search for 32-bit mixers ("Prospecting for Hash
 * Functions", 2018). The cell's upper half is added between the rounds, so a world 2^32 cells away
 * is neither a copy nor a permutation.
 */
static inline uint32_t lattice_axis_low(uint32_t cell, uint32_t upper)
{
    cell = (cell ^ (cell >> 16)) * UINT32_C(0x7feb352d);
    cell = ((cell ^ (cell >> 15)) + upper) * UINT32_C(0x846ca68b);
    return cell ^ (cell >> 16);
}

static inline uint32_t lattice_axis_high(uint32_t cell, uint32_t upper)
{
    cell = (cell ^ (cell >> 16)) * UINT32_C(0x21f0aaad);
    cell = ((cell ^ (cell >> 15)) - upper) * UINT32_C(0xd35a2d97);
    return cell ^ (cell >> 15);
}

/* Mix the upper halves of a cell and a key. */
static inline uint32_t lattice_axis_upper(uint32_t cell, uint32_t key)
{
    cell = (cell ^ key) * UINT32_C(0x9e3779b1);
    return cell ^ (cell >> 15);
}

static inline uint64_t lattice_axis(int64_t cell, uint64_t key)
{
    const uint32_t lower = (uint32_t)cell ^ (uint32_t)key;
    const uint32_t upper =
        lattice_axis_upper((uint32_t)((uint64_t)cell >> 32), (uint32_t)(key >> 32));
    return (uint64_t)lattice_axis_high(lower, upper) << 32 | lattice_axis_low(lower, upper);
}

/* Join two axes into one, for a third. A plain sum over three axes would have fixed relations
 * again. */
static inline uint64_t lattice_join(uint64_t first, uint64_t second)
{
    return lattice_mix(first + lattice_mix(second));
}

/*
 * The corner's index, 0 .. 255: the top byte of a 32-bit product. It depends on all bits in both
 * factors, and is uniform for odd and even factors alike.
 */
static inline uint32_t lattice_corner(uint64_t column, uint64_t row)
{
    const uint32_t low = (uint32_t)column + (uint32_t)row;
    const uint32_t high = (uint32_t)(column >> 32) + (uint32_t)(row >> 32);
    return low * high >> 24;
}

#endif
