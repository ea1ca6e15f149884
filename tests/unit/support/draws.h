/* Random numbers for tests, the same in every run and on every machine. Uses no library. */
#ifndef FARLANDS_DRAWS_H
#define FARLANDS_DRAWS_H

#include "noise/exact/lattice.h"
#include "noise/farlands.h"

#define BLOCKS(n) ((int64_t)((n)*FARLANDS_UNIT))
#define LENGTH(array) ((int)(sizeof(array) / sizeof *(array)))

/* A sequence of random numbers. */
struct draws {
    uint64_t seed, next;
};

static inline uint64_t draw(struct draws *draws)
{
    return lattice_random(draws->seed, draws->next++);
}

/* LOW .. HIGH inclusive; the bias of the modulus does not matter here. */
static inline int64_t draw_between(struct draws *draws, int64_t low, int64_t high)
{
    return low + (int64_t)(draw(draws) % ((uint64_t)high - (uint64_t)low + 1));
}

/* True once in N draws. */
static inline bool draw_once_in(struct draws *draws, int n)
{
    return draw_between(draws, 1, n) == 1;
}

/* LOW .. HIGH in steps of a thousandth. */
static inline double draw_number(struct draws *draws, double low, double high)
{
    return low + (high - low) * (double)draw_between(draws, 0, 1000) / 1000;
}

/* One of the values of a table. */
#define DRAW_ONE(draws, table) ((table)[draw_between(draws, 0, LENGTH(table) - 1)])

/* A length of up to 2^BITS units: powers of two, three times such, and others; short ones as often
 * as long ones. */
static inline int64_t draw_length(struct draws *draws, int bits)
{
    const int64_t most = INT64_C(1) << draw_between(draws, 1, bits);
    switch (draw_between(draws, 0, 2)) {
    case 0:
        return most;
    case 1:
        return most / 4 * 3 + 1;
    default:
        return draw_between(draws, most / 2 + 1, most);
    }
}

/*
 * A grid of at most MOST_WIDE x MOST_HIGH samples: close or far apart, near the origin or far out,
 * some of them at the limit, some of them a picture's.
 */
static inline struct farlands_grid draw_grid(struct draws *draws, int most_wide, int most_high)
{
    struct farlands_grid grid = {
        .step = draw_length(draws, 52),
        .width = (int)draw_between(draws, 1, most_wide),
        .height = (int)draw_between(draws, 1, most_high),
        .band_limit = draw_once_in(draws, 3),
    };
    int64_t *const axes[] = {&grid.x, &grid.y};
    for (int i = 0; i < 2; i++) {
        const int64_t span = grid.step * ((i == 0 ? grid.width : grid.height) - 1);
        const int64_t limit = FARLANDS_LIMIT + FARLANDS_MAX_STEP, reach = limit - span;
        const int64_t far = INT64_C(1) << draw_between(draws, 0, 61);
        *axes[i] = draw_between(draws, -far, far);
        if (*axes[i] > reach || draw_once_in(draws, 12))
            *axes[i] = reach; /* the last sample is at the limit */
        else if (draw_once_in(draws, 12))
            *axes[i] = -limit;
    }
    return grid;
}

#endif
