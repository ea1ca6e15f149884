#include "resample.h"

/* Distances, in sixteenths of a sample and in fifteenths of 90 m. */
enum { NINETY = 45, NINETY_PARTS = 16, NINETY_SIDE = 273, LAST = 16, LAST_PARTS = 15 };

_Static_assert(RESAMPLE_SPACING *NINETY == 90 * NINETY_PARTS, "90 m");
_Static_assert(90 * LAST == FORM_SPACING * LAST_PARTS, "FORM_SPACING");
_Static_assert((NINETY_SIDE - 1) * NINETY / NINETY_PARTS < RESAMPLE_SIDE, "enough samples");
_Static_assert((FORM_SIDE - 1) * LAST / LAST_PARTS < NINETY_SIDE, "enough of 90 m");

static float mean3(const float *values, int i, int stride)
{
    const int last = RESAMPLE_SIDE - 1;
    return (values[(i ? i - 1 : i) * stride] + values[i * stride] +
            values[(i < last ? i + 1 : i) * stride]) /
           3;
}

/* Samples of VALUES, SIDE x SIDE, every STEP / PARTS of their distance. */
static void interpolate(const float *values, int side, int step, int parts, float *out,
                        int out_side)
{
    for (int j = 0; j < out_side; j++)
        for (int i = 0; i < out_side; i++) {
            const int x = i * step / parts, y = j * step / parts;
            const float u = (float)(i * step % parts) / (float)parts;
            const float v = (float)(j * step % parts) / (float)parts;
            const int east = x + 1 < side ? 1 : 0, south = y + 1 < side ? side : 0;
            const float *at = values + y * side + x;
            const float north = at[0] + u * (at[east] - at[0]);
            const float below = at[south] + u * (at[south + east] - at[south]);
            out[j * out_side + i] = north + v * (below - north);
        }
}

void resample(float *samples, float *memory, float out[FORM_CELLS])
{
    const int side = RESAMPLE_SIDE;
    for (int j = 0; j < side; j++)
        for (int i = 0; i < side; i++)
            memory[j * side + i] = mean3(samples + j * side, i, 1);
    for (int j = 0; j < side; j++)
        for (int i = 0; i < side; i++)
            samples[j * side + i] = mean3(memory + i, j, side);
    interpolate(samples, side, NINETY, NINETY_PARTS, memory, NINETY_SIDE);
    interpolate(memory, NINETY_SIDE, LAST, LAST_PARTS, out, FORM_SIDE);
}
