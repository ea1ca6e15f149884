#include "river_network.h"

#include "noise/exact/arithmetic.h"
#include "noise/exact/lattice.h"
#include "noise/farlands.h"

struct river_network_rows river_network_rows(const struct river_network *n, int wide)
{
    return n->drain ? (struct river_network_rows){drain_neighbor, DRAIN_NEIGHBORS, wide}
                    : (struct river_network_rows){drainage_neighbor, DRAINAGE_NEIGHBORS, wide};
}

float river_network_length(const struct river_network *n, int level)
{
    /* A drain counts in spacings of each level, a drainage in those of the last. */
    const int64_t last = rivers_spacing(&n->params, n->params.levels - 1);
    const int64_t whole = n->drain ? rivers_spacing(&n->params, level) / last : 1;
    return (float)whole / (float)COURSE_LENGTH;
}

int river_network_level(const struct river_network *n, int64_t band_limit)
{
    enum { SAMPLES = 8, FEW_SAMPLES = 4 };
    int level = n->params.levels - 1;
    if (n->drainage) {
        /* The level whose ground is shown, unless that has no valleys. */
        level = drainage_level(n->drainage, band_limit);
        while (level > 0 && !drainage_builds(n->drainage, level) &&
               rivers_spacing(&n->params, level) < FEW_SAMPLES * band_limit)
            level--;
        return level;
    }
    while (level > 0 && rivers_spacing(&n->params, level) < SAMPLES * band_limit)
        level--;
    return level;
}

float river_network_from(const struct river_network *n, int64_t band_limit)
{
    const float from = (float)n->params.from;
    if (n->drain || band_limit <= 0)
        return from;
    /* A river drains so many pixels, or a picture would be full of rivers. A drain's levels are too
     * broad for that. */
    static const float PIXELS = 100;
    const float apart = (float)((double)band_limit / FARLANDS_UNIT) * 1e-3f;
    const float seen = drainage_order(PIXELS * apart * apart);
    return seen > from ? seen : from;
}

struct river_network_reach river_network_reach(const struct river_network *n)
{
    return n->drain ? (struct river_network_reach){5, 7} : (struct river_network_reach){8, 11};
}

struct river_network_area river_network_area_of(const struct river_network *n, int level,
                                                int64_t left, int64_t right, int64_t top,
                                                int64_t bottom, int more)
{
    if (n->drainage)
        return (struct river_network_area){
            drainage_area_of(n->drainage, level, left, right, top, bottom, more), more};
    const int64_t s = rivers_spacing(&n->params, level);
    const int64_t j = lattice_floor(top, s), j2 = lattice_floor(bottom, s) + 1;
    const int64_t first = lattice_floor(left - s / 2 * j2, s);
    const int64_t last = lattice_floor(right - s / 2 * j, s) + 1;
    return (struct river_network_area){{first - more, j - more, (int)(last - first) + 1 + 2 * more,
                                        (int)(j2 - j) + 1 + 2 * more, left, right, top, bottom},
                                       more};
}

void river_network_columns(const struct river_network *n, int level,
                           const struct river_network_area *area, int64_t j, int64_t *i,
                           int64_t *i2)
{
    const struct drainage_area *nodes = &area->nodes;
    const int64_t s = rivers_spacing(&n->params, level);
    *i = nodes->i + area->more;
    *i2 = nodes->i + nodes->width - area->more;
    if (n->drain) {
        *i = lattice_floor(nodes->left - s / 2 * j, s);
        *i2 = lattice_floor(nodes->right - s / 2 * j, s) + 2;
    }
}

int river_network_nodes(const struct river_network *n, int level,
                        const struct river_network_area *area, struct course_node *out)
{
    const struct drainage_area *nodes = &area->nodes;
    return n->drain
               ? drain_nodes(n->drain, level, nodes->i, nodes->j, nodes->width, nodes->height, out)
               : drainage_nodes(n->drainage, level, nodes, out);
}

int river_network_around(const struct river_network *n, int64_t i, int64_t j, int around,
                         struct course_node *out)
{
    const int level = n->params.levels - 1, wide = 2 * around + 1;
    return n->drain
               ? drain_nodes(n->drain, level, i - around, j - around, wide, wide, out)
               : drainage_nodes_at(n->drainage, level, i - around, j - around, wide, wide, out);
}

void river_network_nearest(const struct river_network *n, int64_t x, int64_t y, int64_t *i,
                           int64_t *j)
{
    const int level = n->params.levels - 1;
    if (n->drain)
        drain_nearest(n->drain, level, x, y, i, j);
    else
        drainage_nearest(n->drainage, level, x, y, i, j);
}

void river_network_place(const struct river_network *n, int64_t i, int64_t j, double *x, double *y)
{
    const double s = (double)rivers_spacing(&n->params, n->params.levels - 1);
    *x = s * ((double)i + 0.5 * (double)j);
    *y = s * (double)j;
    if (n->drainage)
        drainage_place(n->drainage, n->params.levels - 1, i, j, x, y);
}
