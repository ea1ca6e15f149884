/* Patches, and the cubic B-spline over their nodes. */
#include "patch.h"

#include <string.h>

/* The least number of nodes along a patch's side if chunks follow each other closely, so that one
 * patch serves several: KERNEL_POINTS in all. */
enum { LEAST_SIDE = 8 };

/* Write the nodes that N coordinates lie between, 2^BITS units apart, into NODE. Returns how many.
 */
static int nodes_around(struct coordinates along, int n, int bits, int64_t *node)
{
    int count = 0;
    for (int i = 0; i < n; i++) {
        const int64_t cell = coordinate_at(along, i) >> bits;
        int64_t next = cell - 1;
        if (count > 0 && node[count - 1] >= next)
            next = node[count - 1] + 1;
        while (next <= cell + 2)
            node[count++] = next++;
    }
    return count;
}

static bool are_neighbors(const int64_t *node, int count)
{
    return node[count - 1] - node[0] == count - 1;
}

/* Extend COUNT nodes, which are neighbors, to at least LEAST_SIDE. */
static void widen(int64_t *node, int *count)
{
    const int64_t first = node[0] - (LEAST_SIDE - *count) / 2;
    for (int i = 0; *count < LEAST_SIDE && i < LEAST_SIDE; i++)
        node[i] = first + i;
    *count = *count < LEAST_SIDE ? LEAST_SIDE : *count;
}

/* Convert nodes to units, in whole KERNEL_STEPs. Returns the greatest distance between neighbors.
 */
static int64_t to_units(int64_t *node, int count, int bits)
{
    int64_t widest = INT64_C(1) << bits;
    for (int i = 0; i < whole_steps(count); i++) {
        node[i] = i < count ? node[i] * (INT64_C(1) << bits) : node[count - 1];
        if (i > 0 && node[i] - node[i - 1] > widest)
            widest = node[i] - node[i - 1];
    }
    return widest;
}

static bool covers(const int64_t *units, int count, struct coordinates along, int n, int bits)
{
    const int64_t spacing = INT64_C(1) << bits;
    const int64_t first = coordinate_at(along, 0) >> bits,
                  last = coordinate_at(along, n - 1) >> bits;
    return units[0] <= (first - 1) * spacing && units[count - 1] >= (last + 2) * spacing;
}

bool patch_covers(const struct patch *patch, int bits, int64_t band_limit,
                  const struct chunk *chunk)
{
    return patch->columns > 0 && patch->regular && patch->bits == bits &&
           patch->band_limit == band_limit &&
           covers(patch->x, patch->columns, chunk->x, chunk->width, bits) &&
           covers(patch->y, patch->rows, chunk->y, chunk->height, bits);
}

/* True if the cells around N coordinates touch those between COUNT nodes. */
static bool touches(const int64_t *units, int count, struct coordinates along, int n, int bits)
{
    const int64_t spacing = INT64_C(1) << bits;
    return coordinate_at(along, 0) <= units[count - 1] + spacing &&
           coordinate_at(along, n - 1) >= units[0] - spacing;
}

struct chunk patch_place(struct patch *patch, int bits, int64_t band_limit,
                         const struct chunk *chunk)
{
    const bool close = patch->columns > 0 && patch->bits == bits &&
                       touches(patch->x, patch->columns, chunk->x, chunk->width, bits) &&
                       touches(patch->y, patch->rows, chunk->y, chunk->height, bits);
    int columns = nodes_around(chunk->x, chunk->width, bits, patch->x);
    int rows = nodes_around(chunk->y, chunk->height, bits, patch->y);
    patch->regular = are_neighbors(patch->x, columns) && are_neighbors(patch->y, rows);
    if (patch->regular && close) {
        widen(patch->x, &columns);
        widen(patch->y, &rows);
    }
    const int64_t wide = to_units(patch->x, columns, bits), high = to_units(patch->y, rows, bits);
    const int64_t step = wide > high ? wide : high;
    struct chunk nodes = {
        {patch->x[0], step, patch->x}, {patch->y[0], step, patch->y}, columns, rows};
    if (patch->regular)
        nodes.x.at = nodes.y.at = NULL;
    patch->bits = bits;
    patch->band_limit = band_limit;
    patch->columns = 0;
    patch->rows = rows;
    return nodes;
}

/* The weights of the four nodes around a place, T into its cell, for the uniform cubic B-spline
 * (ORDER 0) or for a derivative per cell (ORDER 1 or 2). */
static void spline_weights(double t, int order, double weight[TAPS])
{
    const double u = 1 - t;
    if (order == 0) {
        weight[0] = u * u * u / 6;
        weight[1] = (t * t * (3 * t - 6) + 4) / 6;
        weight[2] = (u * u * (3 * u - 6) + 4) / 6;
        weight[3] = t * t * t / 6;
    } else if (order == 1) {
        weight[0] = -u * u / 2;
        weight[1] = t * (3 * t - 4) / 2;
        weight[2] = -u * (3 * u - 4) / 2;
        weight[3] = t * t / 2;
    } else {
        weight[0] = u;
        weight[1] = 3 * t - 2;
        weight[2] = 3 * u - 2;
        weight[3] = t;
    }
}

/* How far AT, in units, is into its cell, 0 .. 1. */
static double into_cell(int64_t at, int bits)
{
    const int64_t spacing = INT64_C(1) << bits;
    return (double)(at & (spacing - 1)) / (double)spacing;
}

static double cells_per_block(int bits)
{
    return FARLANDS_UNIT / (double)(INT64_C(1) << bits);
}

/* AT's weights and their derivatives, per block. */
static void float_weights(int64_t at, int bits, float weight[TAPS], float slope[TAPS])
{
    double w[TAPS], s[TAPS];
    spline_weights(into_cell(at, bits), 0, w);
    spline_weights(into_cell(at, bits), 1, s);
    for (int k = 0; k < TAPS; k++) {
        weight[k] = (float)w[k];
        slope[k] = (float)(s[k] * cells_per_block(bits));
    }
}

/* Which of the NODES is the first around UNITS, from FROM on. */
static int first_node(const int64_t *nodes, int from, int64_t units, int bits)
{
    const int64_t first = ((units >> bits) - 1) * (INT64_C(1) << bits);
    while (nodes[from] < first)
        from++;
    return from;
}

void patch_place_columns(struct patch *patch, const struct chunk *chunk)
{
    const int bits = patch->bits;
    struct patch_columns *samples = &patch->samples;
    float weight[TAPS] = {0}, slope[TAPS] = {0};
    int first = 0;
    for (int i = 0; i < whole_steps(chunk->width); i++) {
        if (i < chunk->width) { /* after that the last one again */
            const int64_t x = coordinate_at(chunk->x, i);
            first = first_node(patch->x, first, x, bits);
            float_weights(x, bits, weight, slope);
        }
        samples->first[i] = (uint32_t)first;
        for (int k = 0; k < TAPS; k++) {
            samples->weight[k][i] = weight[k];
            samples->slope[k][i] = slope[k];
        }
    }
}

bool patch_is_zero(const struct patch *patch, const struct chunk *chunk, int j, int rows)
{
    const int bits = patch->bits;
    const int first = first_node(patch->y, 0, coordinate_at(chunk->y, j), bits);
    const int last = first_node(patch->y, first, coordinate_at(chunk->y, j + rows - 1), bits);
    bool zero = true;
    for (int r = first; r < last + TAPS && zero; r++)
        zero = patch->zero[r];
    return zero;
}

void patch_interpolate(const struct patch *patch, const struct kernel *kernel, enum graph_kind kind,
                       const struct chunk *chunk, int j, int rows, struct rows out)
{
    const int bits = patch->bits;
    const struct patch_columns *samples = &patch->samples;
    const float *column = kind == GRAPH_SLOPE_X ? samples->slope[0] : samples->weight[0];
    int first = 0;
    for (int r = 0; r < rows; r++) {
        const int64_t y = coordinate_at(chunk->y, j + r);
        const float *line[TAPS];
        float weight[TAPS], slope[TAPS];
        first = first_node(patch->y, first, y, bits);
        for (int k = 0; k < TAPS; k++)
            line[k] = patch->value[first + k];
        float_weights(y, bits, weight, slope);
        kernel->interpolate(samples->first, column, line, kind == GRAPH_SLOPE_Y ? slope : weight,
                            patch->columns, whole_steps(chunk->width),
                            out.at + (size_t)r * out.stride);
    }
}

double patch_derivative(const struct patch *patch, int64_t x, int64_t y, int along_x, int along_y)
{
    const int bits = patch->bits;
    const int i = first_node(patch->x, 0, x, bits), j = first_node(patch->y, 0, y, bits);
    double wx[TAPS], wy[TAPS], sum = 0;
    spline_weights(into_cell(x, bits), along_x, wx);
    spline_weights(into_cell(y, bits), along_y, wy);
    for (int r = 0; r < TAPS; r++)
        for (int c = 0; c < TAPS; c++)
            sum += wx[c] * wy[r] * (double)patch->value[j + r][i + c];
    for (int order = 0; order < along_x + along_y; order++)
        sum *= cells_per_block(bits);
    return sum;
}
