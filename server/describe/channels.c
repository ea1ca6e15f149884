#include "channels.h"

#include <math.h>
#include <stdbool.h>

#include "server/describe/quantiles.h"

enum { CLASSES = 13, CLASS_LEAST = 25, CLASSES_LEAST = 4, STEPS = 5 };

static const double DECADES = 0.2; /* per class */
static const float SLOPE_LEAST = 3e-4f;

/* Metres between neighbors A and B. */
static float length_of(const struct channels_ground *ground, int a, int b)
{
    const bool diagonal =
        a % ground->width != b % ground->width && a / ground->width != b / ground->width;
    return ground->spacing * (diagonal ? (float)M_SQRT2 : 1);
}

/* Steps to the east in eight directions, from the east on clockwise. Those to the south are the
 * same a quarter turn on. */
static const int east[] = {1, 1, 0, -1, -1, -1, 0, 1};

/* The neighbor with the steepest fall; the first among equals. */
static int steepest(const struct channels_ground *ground, int cell)
{
    const int x = cell % ground->width, y = cell / ground->width;
    if (x == 0 || y == 0 || x == ground->width - 1 || y == ground->height - 1)
        return -1;
    int found = ground->from[cell];
    float most = 0;
    for (int direction = 0; direction < 8; direction++) {
        const int next = (y + east[(direction + 6) % 8]) * ground->width + x + east[direction];
        const float fall =
            (ground->levels[cell] - ground->levels[next]) / length_of(ground, cell, next);
        if (fall > most) {
            most = fall;
            found = next;
        }
    }
    return found;
}

void channels_find(const struct channels_ground *ground, int *receiver, float *area)
{
    const int count = ground->width * ground->height;
    for (int i = 0; i < count; i++) {
        receiver[i] = steepest(ground, i);
        area[i] = 1;
    }
    /* A receiver comes before its donors in ORDER. Numbers of cells are exact in a float. */
    for (int i = count - 1; i >= 0; i--) {
        const int cell = ground->order[i];
        if (receiver[cell] >= 0)
            area[receiver[cell]] += area[cell];
    }
    for (int i = 0; i < count; i++)
        area[i] *= ground->spacing * ground->spacing / 1e6f;
}

/* The slope over STEPS cells downstream; NAN if the water is at its end sooner. */
static float slope_from(const struct channels_ground *ground, const int *receiver, int cell)
{
    int to = cell;
    float way = 0;
    for (int k = 0; k < STEPS && receiver[to] >= 0; k++) {
        way += length_of(ground, to, receiver[to]);
        to = receiver[to];
    }
    const bool enough = way > 3 * ground->spacing;
    return enough ? (ground->levels[cell] - ground->levels[to]) / way : NAN;
}

/* The slope of the line of least squares through COUNT points. */
static double fit(const double *x, const double *y, int count)
{
    double mean_x = 0, mean_y = 0, across = 0, along = 0;
    for (int i = 0; i < count; i++) {
        mean_x += x[i] / count;
        mean_y += y[i] / count;
    }
    for (int i = 0; i < count; i++) {
        across += (x[i] - mean_x) * (y[i] - mean_y);
        along += (x[i] - mean_x) * (x[i] - mean_x);
    }
    return across / along;
}

double channels_concavity(const struct channels_ground *ground, const float *heights,
                          const int *receiver, const float *area, float *memory)
{
    const int count = ground->width * ground->height;
    float *const slope = memory, *const some = memory + count;
    double x[CLASSES], y[CLASSES];
    int classes = 0;

    for (int i = 0; i < count; i++)
        slope[i] = area[i] >= CHANNEL_KM2 && heights[i] > 0 ? slope_from(ground, receiver, i) : NAN;
    for (int k = 0; k < CLASSES; k++) {
        const double from = DECADES * k, middle = from + DECADES / 2;
        const float least = CHANNEL_KM2 * (float)pow(10, from);
        const float beyond = CHANNEL_KM2 * (float)pow(10, from + DECADES);
        int cells = 0;
        for (int i = 0; i < count; i++)
            if (area[i] >= least && area[i] < beyond && !isnan(slope[i]))
                some[cells++] = slope[i];
        if (cells < CLASS_LEAST)
            continue;
        x[classes] = middle;
        y[classes++] = log10(fmax(quantile_of(some, cells, 0.5), (double)SLOPE_LEAST));
    }
    return classes >= CLASSES_LEAST ? -fit(x, y, classes) : (double)NAN;
}
