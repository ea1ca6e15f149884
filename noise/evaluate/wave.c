#include "wave.h"

#include <string.h>

static const double TURN = 6.283185307179586;

/* sin(2 pi TURNS), TURNS from 0 to 1: Taylor's polynomial within a quarter of a turn, off by less
 * than 6e-8. */
static double sine(double turns)
{
    const double folded = turns < 0.25 ? turns : turns < 0.75 ? 0.5 - turns : turns - 1;
    const double x = folded * TURN, s = x * x;
    return x * (1 - s / 6 * (1 - s / 20 * (1 - s / 42 * (1 - s / 72 * (1 - s / 110)))));
}

/* How far AT, in units, is into its wave, in turns. */
static double turns_at(const struct operation *o, int64_t at)
{
    const int64_t wavelength = lattice_spacing(o);
    return (double)(at & (wavelength - 1)) / (double)wavelength;
}

/* How much a band-limited grid with samples STEP units apart shows of the wave. */
static double weight_at(const struct operation *o, int64_t step)
{
    const struct octave octave = {.inverse = 1 / (double)lattice_spacing(o)};
    return octave_band_limit(&octave, step);
}

void wave_band(const struct operation *o, const struct chunk *chunk, int64_t band_limit, int j,
               int rows, struct rows to)
{
    const int n = whole_steps(chunk->width);
    const double weight = band_limit > 0 ? weight_at(o, band_limit) : 1;
    for (int r = 0; r < rows; r++) {
        float *row = to.at + (size_t)r * to.stride;
        if (o->kind == GRAPH_WAVE_Y) {
            const double y = weight * sine(turns_at(o, coordinate_at(chunk->y, j + r)));
            for (int i = 0; i < n; i++)
                row[i] = (float)y;
        } else if (r > 0) {
            memcpy(row, to.at, (size_t)n * sizeof *row);
        } else {
            for (int i = 0; i < n; i++)
                row[i] = i < chunk->width
                             ? (float)(weight * sine(turns_at(o, coordinate_at(chunk->x, i))))
                             : 0;
        }
    }
}

struct dual wave_dual(const struct operation *o, int64_t x, int64_t y)
{
    const bool along_x = o->kind == GRAPH_WAVE_X;
    const double turns = turns_at(o, along_x ? x : y), later = turns + 0.25;
    const double per_block = TURN * FARLANDS_UNIT / (double)lattice_spacing(o);
    const double slope = per_block * sine(later < 1 ? later : later - 1);
    return (struct dual){sine(turns), along_x ? slope : 0, along_x ? 0 : slope};
}
