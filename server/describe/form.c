#include "form.h"

#include <math.h>
#include <stdbool.h>

#include "server/describe/cells.h"
#include "server/describe/channels.h"
#include "server/describe/curvature.h"
#include "server/describe/depressions.h"
#include "server/describe/geomorphons.h"
#include "server/describe/patches.h"

enum { DRY_LEAST = 4000, LAKE_LEAST = 9, VALLEY_LEAST = 31 };

/* Metres: heights that differ by less are level. */
static const float LEVEL = 0.2f;
static const float HOLLOW = 1;       /* metres */
static const float VALLEY_KM2 = 10;  /* above a valley that must have a river */
static const float NEAR_RIVER = 200; /* metres */

/* True if the heights in and around cell I hardly differ. */
static bool is_level(const float *heights, int i)
{
    float low = heights[i], high = heights[i];
    int around[CELLS_AROUND];
    const int cells = cells_around(i, FORM_SIDE, FORM_SIDE, around);
    for (int k = 0; k < cells; k++) {
        low = fminf(low, heights[around[k]]);
        high = fmaxf(high, heights[around[k]]);
    }
    return high - low < LEVEL;
}

/* Mark the cells around I, which is in a level patch, as wet. */
static void flood(uint8_t *dry, int i)
{
    int around[CELLS_AROUND];
    const int cells = cells_around(i, FORM_SIDE, FORM_SIDE, around);
    for (int k = 0; k < cells; k++)
        dry[around[k]] = 0;
}

/* Set memory->dry to 1 on land without lakes. Returns the number of such cells. */
static int find_dry(const float *heights, struct form_memory *memory)
{
    int count = 0;
    for (int i = 0; i < FORM_CELLS; i++) {
        memory->member[i] = is_level(heights, i);
        memory->dry[i] = heights[i] > 0;
    }
    patches_measure(memory->member, FORM_SIDE, FORM_SIDE, memory->size, memory->stack);
    for (int i = 0; i < FORM_CELLS; i++)
        if (memory->size[i] >= LAKE_LEAST)
            flood(memory->dry, i);
    for (int i = 0; i < FORM_CELLS; i++)
        count += memory->dry[i];
    return count;
}

static double ridges(const float *heights, struct form_memory *memory)
{
    geomorphons_find_ridges(heights, FORM_SIDE, FORM_SIDE, FORM_SPACING, memory->member);
    for (int i = 0; i < FORM_CELLS; i++)
        memory->member[i] &= memory->dry[i];
    patches_measure(memory->member, FORM_SIDE, FORM_SIDE, memory->size, memory->stack);
    return patches_connectivity(memory->size, FORM_CELLS);
}

static double curvature(const float *heights, struct form_memory *memory)
{
    curvature_find(heights, FORM_SIDE, FORM_SIDE, memory->curvature, memory->floats);
    return curvature_skewness(memory->curvature, memory->dry, FORM_CELLS);
}

/* The share of great valleys that have a river. */
static double valleys(const float *heights, const float *bank, const struct form_memory *memory)
{
    int count = 0, near = 0;
    for (int i = 0; bank && i < FORM_CELLS; i++)
        if (memory->area[i] >= VALLEY_KM2 && memory->receiver[i] >= 0 && heights[i] > 0) {
            count++;
            near += bank[i] < NEAR_RIVER;
        }
    return count >= VALLEY_LEAST ? (double)near / count : (double)NAN;
}

void form_measure(const float heights[FORM_CELLS], const float *bank, struct form_memory *memory,
                  double measure[FORM_MEASURES])
{
    const struct channels_ground ground = {FORM_SIDE,      FORM_SIDE,     FORM_SPACING,
                                           memory->levels, memory->order, memory->from};
    for (int i = 0; i < FORM_MEASURES; i++)
        measure[i] = (double)NAN;
    if (find_dry(heights, memory) < DRY_LEAST)
        return;
    measure[FORM_RIDGES] = ridges(heights, memory);
    measure[FORM_CURVATURE] = curvature(heights, memory);
    depressions_drain(heights, FORM_SIDE, FORM_SIDE, memory->levels, memory->heap, memory->order,
                      memory->from);
    const struct depressions sunk = depressions_count(heights, memory->levels, FORM_CELLS, HOLLOW);
    measure[FORM_SUNK] = (double)sunk.sunken / sunk.land;
    channels_find(&ground, memory->receiver, memory->area);
    measure[FORM_CONCAVITY] =
        channels_concavity(&ground, heights, memory->receiver, memory->area, memory->floats);
    measure[FORM_VALLEYS] = valleys(heights, bank, memory);
}
