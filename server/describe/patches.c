#include "patches.h"

#include <math.h>

#include "server/describe/cells.h"

/* Put the members around CELL that have no size yet on STACK, and give them the size -1. Returns
 * the new COUNT. */
static int reach(const uint8_t *member, int width, int height, int *size, int cell, int *stack,
                 int count)
{
    int around[CELLS_AROUND];
    const int cells = cells_around(cell, width, height, around);
    for (int k = 0; k < cells; k++) {
        const int next = around[k];
        if (!member[next] || size[next])
            continue;
        size[next] = -1;
        stack[count++] = next;
    }
    return count;
}

void patches_measure(const uint8_t *member, int width, int height, int *size, int *stack)
{
    for (int cell = 0; cell < width * height; cell++)
        size[cell] = 0;
    for (int cell = 0; cell < width * height; cell++) {
        if (!member[cell] || size[cell])
            continue;
        int count = 1;
        stack[0] = cell;
        size[cell] = -1;
        for (int i = 0; i < count; i++)
            count = reach(member, width, height, size, stack[i], stack, count);
        for (int i = 0; i < count; i++)
            size[stack[i]] = count;
    }
}

double patches_connectivity(const int *size, int count)
{
    double members = 0, sum = 0;
    for (int i = 0; i < count; i++) {
        members += size[i] > 0;
        sum += size[i];
    }
    return members > 0 ? sum / members / sqrt(members) : (double)NAN;
}
