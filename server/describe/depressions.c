#include "depressions.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "server/describe/cells.h"

/* A heap of cells, the lowest first; among equal heights the first cell. */
struct heap {
    uint64_t *element;
    int count;
};

/* Encode LEVEL and CELL as a number that sorts by LEVEL, then by CELL. */
static uint64_t element_of(float level, int cell)
{
    uint32_t bits;
    memcpy(&bits, &level, sizeof bits);
    bits = bits >> 31 ? ~bits : bits | UINT32_C(1) << 31;
    return (uint64_t)bits << 32 | (uint32_t)cell;
}

static void push(struct heap *heap, uint64_t element)
{
    int at = heap->count++;
    for (; at > 0 && heap->element[(at - 1) / 2] > element; at = (at - 1) / 2)
        heap->element[at] = heap->element[(at - 1) / 2];
    heap->element[at] = element;
}

/* Remove and return the lowest cell in HEAP, which is not empty. */
static int pop(struct heap *heap)
{
    const uint64_t lowest = heap->element[0], last = heap->element[--heap->count];
    int at = 0;
    for (int child; (child = 2 * at + 1) < heap->count; at = child) {
        if (child + 1 < heap->count && heap->element[child + 1] < heap->element[child])
            child++;
        if (heap->element[child] >= last)
            break;
        heap->element[at] = heap->element[child];
    }
    heap->element[at] = last;
    return (int)(lowest & UINT32_MAX);
}

void depressions_drain(const float *heights, int width, int height, float *levels, uint64_t *heap,
                       int *order, int *from)
{
    struct heap cells = {.element = heap};
    int popped = 0;

    for (int cell = 0; cell < width * height; cell++) {
        const int x = cell % width, y = cell / width;
        const bool outlet =
            x == 0 || y == 0 || x == width - 1 || y == height - 1 || !(heights[cell] > 0);
        levels[cell] = outlet ? heights[cell] : INFINITY;
        if (from)
            from[cell] = -1;
        if (outlet)
            push(&cells, element_of(levels[cell], cell));
    }
    while (cells.count > 0) {
        const int cell = pop(&cells);
        if (order)
            order[popped++] = cell;
        int around[CELLS_AROUND];
        const int near = cells_around(cell, width, height, around);
        for (int k = 0; k < near; k++) {
            const int next = around[k];
            if (!isinf(levels[next]))
                continue;
            levels[next] = fmaxf(heights[next], levels[cell]);
            if (from)
                from[next] = cell;
            push(&cells, element_of(levels[next], next));
        }
    }
}

void depressions_fill(const float *heights, int width, int height, float *levels, uint64_t *heap)
{
    depressions_drain(heights, width, height, levels, heap, NULL, NULL);
}

/* Put all cells of CELL's depression on STACK, and mark each by negating its level. Returns how
 * many there are. */
static int collect(int cell, const float *heights, int width, int height, float *levels,
                   uint64_t *stack)
{
    int count = 1;
    stack[0] = (uint64_t)cell;
    levels[cell] = -levels[cell];
    for (int i = 0; i < count; i++) {
        int around[CELLS_AROUND];
        const int near = cells_around((int)stack[i], width, height, around);
        for (int k = 0; k < near; k++) {
            const int next = around[k];
            if (!(levels[next] > heights[next]))
                continue;
            levels[next] = -levels[next];
            stack[count++] = (uint64_t)next;
        }
    }
    return count;
}

void depressions_leave_lakes(const float *heights, const float *water, int width, int height,
                             float *levels, uint64_t *stack)
{
    for (int cell = 0; cell < width * height; cell++) {
        /* A depression's cells and levels are above 0, so a negative level is a mark. */
        if (!(levels[cell] > heights[cell]))
            continue;
        const int count = collect(cell, heights, width, height, levels, stack);
        int lowest = cell;
        for (int i = 0; i < count; i++)
            lowest = heights[stack[i]] < heights[lowest] ? (int)stack[i] : lowest;
        for (int i = 0; i < count && water[lowest] > heights[lowest]; i++)
            levels[stack[i]] = heights[stack[i]];
    }
    for (int cell = 0; cell < width * height; cell++)
        if (heights[cell] > 0)
            levels[cell] = fabsf(levels[cell]);
}

struct depressions depressions_count(const float *heights, const float *levels, int count,
                                     float tolerance)
{
    struct depressions depressions = {0};
    for (int i = 0; i < count; i++) {
        depressions.land += heights[i] > 0;
        depressions.sunken += heights[i] > 0 && levels[i] - heights[i] > tolerance;
    }
    return depressions;
}
