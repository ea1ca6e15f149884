#include "server/api/place_order.h"

#include <stdbool.h>
#include <stdlib.h>

#include "noise/farlands.h"

/* Whether the highest bit that is set in A is lower than in B. */
static bool is_shorter(uint64_t a, uint64_t b)
{
    return a < b && a < (a ^ b);
}

/* Compares two places on the curve: by the axis in whose binary digits they differ first. */
static int compare_places(const void *a, const void *b)
{
    const int64_t *first = *(const int64_t *const *)a, *second = *(const int64_t *const *)b;
    const bool by_y = is_shorter((uint64_t)first[0] ^ (uint64_t)second[0],
                                 (uint64_t)first[1] ^ (uint64_t)second[1]);
    /* Numbers below 0 have the highest digit, but come first. */
    return (first[by_y] > second[by_y]) - (first[by_y] < second[by_y]);
}

static bool is_far(int64_t a, int64_t b)
{
    static const uint64_t FAR = UINT64_C(100) * FARLANDS_UNIT;
    return (a > b ? (uint64_t)a - (uint64_t)b : (uint64_t)b - (uint64_t)a) > FAR;
}

size_t place_order(const int64_t (*place)[2], size_t count, const int64_t **order)
{
    size_t far = 0;
    for (size_t k = 0; k < count; k++)
        order[k] = place[k];
    qsort(order, count, sizeof *order, compare_places);
    for (size_t k = 0; k < count; k++)
        far +=
            k == 0 || is_far(order[k][0], order[k - 1][0]) || is_far(order[k][1], order[k - 1][1]);
    return far;
}
