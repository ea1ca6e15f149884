/* The nodes of blocks as nodes that water flows between. */
#include <errno.h>

#include "noise/drainage/drainage_parts.h"
#include "noise/drainage/lakes.h"
#include "noise/drainage/powers.h"
#include "noise/exact/lattice.h"
#include "noise/farlands.h"

struct drainage_area drainage_area_of(const struct drainage *d, int level, int64_t left,
                                      int64_t right, int64_t top, int64_t bottom, int more)
{
    const int64_t x[4] = {left, right, left, right}, y[4] = {top, top, bottom, bottom};
    const struct turned_range r = turned_cover(&d->lattice[level], x, y, more);
    return (struct drainage_area){r.i, r.j, r.width, r.height, left, right, top, bottom};
}

void drainage_nearest(const struct drainage *d, int level, int64_t x, int64_t y, int64_t *i,
                      int64_t *j)
{
    const struct turned_cell cell = turned_cell(&d->lattice[level], x, y);
    *i = cell.i;
    *j = cell.j;
}

void drainage_place(const struct drainage *d, int level, int64_t i, int64_t j, double *x, double *y)
{
    const struct turned *t = &d->lattice[level];
    *x = (double)t->a * (double)i - (double)t->b * (double)j;
    *y = (double)t->b * (double)i + (double)t->a * (double)j;
}

/* A river's length, in spacings. */
static float length_of(float km2)
{
    static const float MOST = 1e6f; /* km2: rivers do not get wider */
    return 4 * powers_exp2(0.55f * powers_log2(km2 < MOST ? km2 : MOST));
}

float drainage_order(float km2)
{
    return 1 + powers_log2(length_of(km2));
}

static int32_t whole_metres(float height)
{
    static const float MOST = 32000;
    const float kept = height < -MOST ? -MOST : height > MOST ? MOST : height;
    return (int32_t)(kept * (float)COURSE_METRE);
}

/* The water's level at node AT of block B. Just above a lake it is the lake's, or the river would
 * stand above the water beside it. */
static float bed_of(const struct drainage_block *b, bool builds, int at)
{
    static const float NEAR = 1; /* metre, as river_channel has it */
    const float height = b->height[at], lake = lake_level(b->lake[at]);
    const float depth = lake_depth(b->depth[at]), bed = builds ? b->mean[at] : height;
    const float lowered = bed - (height - lake_lower(height, lake, depth));
    return depth > 0 && lowered < lake + NEAR ? lake : lowered;
}

/* Node AT of LEVEL's block B, in column I and row J. */
static struct course_node node_of(const struct drainage *d, int level,
                                  const struct drainage_block *b, int at, int64_t i, int64_t j)
{
    const struct turned *t = &d->lattice[level];
    const float bed = bed_of(b, drainage_builds(d, level), at);
    /* The sea fills valleys that lie below it. */
    const bool is_sea = b->kind[at] == NODE_SEA || b->height[at] <= NODES_DROWNED;
    const bool is_course = b->kind[at] == NODE_COURSE, flows = b->receiver[at] >= 0;
    return (struct course_node){
        .x = turned_x(t, i, j) + (turned_x(t, b->x[at], b->y[at]) >> 8),
        .y = turned_y(t, i, j) + (turned_y(t, b->x[at], b->y[at]) >> 8),
        .ground = whole_metres(bed),
        .bed = is_sea || bed <= NODES_TIDE ? 0 : whole_metres(bed),
        .length = is_course ? (int32_t)((float)COURSE_LENGTH * length_of(b->area[at])) : 0,
        .next = is_sea ? NO_RECEIVER : b->receiver[at],
        .kind = is_sea  ? COURSE_SEA
                : flows ? COURSE_FLOWS
                        : COURSE_END,
        .birth = (uint8_t)(is_course ? 0 : level)};
}

/* What stands for a node that does not matter: nobody is near it, and it leads nowhere. */
static struct course_node unknown_node(int level)
{
    static const int64_t NOWHERE = INT64_MIN / 4 * 3;
    return (struct course_node){.x = NOWHERE,
                                .y = NOWHERE,
                                .next = NO_RECEIVER,
                                .kind = COURSE_SEA,
                                .birth = (uint8_t)level};
}

int drainage_nodes(struct drainage *d, int level, const struct drainage_area *area,
                   struct course_node *out)
{
    const struct drainage_frame frame =
        drainage_frame_of(area->left, area->top, area->right - area->left, area->bottom - area->top,
                          6 * FARLANDS_UNIT * d->lattice[level].metres);
    const int64_t right = area->i + area->width, bottom = area->j + area->height;
    for (int64_t j2, j = area->j; j < bottom; j = j2) {
        const int64_t row = lattice_floor(j, BLOCK_SIDE);
        j2 = (row + 1) * BLOCK_SIDE < bottom ? (row + 1) * BLOCK_SIDE : bottom;
        for (int64_t i2, i = area->i; i < right; i = i2) {
            const int64_t column = lattice_floor(i, BLOCK_SIDE);
            const struct drainage_block *b = NULL;
            i2 = (column + 1) * BLOCK_SIDE < right ? (column + 1) * BLOCK_SIDE : right;
            const int err = drainage_block_matters(d, level, column, row, &frame)
                                ? drainage_get_block(d, level, column, row, &b)
                                : 0;
            if (err)
                return err;
            for (int64_t v = j; v < j2; v++)
                for (int64_t u = i; u < i2; u++) {
                    const int at =
                        (int)(v - row * BLOCK_SIDE) * BLOCK_SIDE + (int)(u - column * BLOCK_SIDE);
                    out[(v - area->j) * area->width + (u - area->i)] =
                        b ? node_of(d, level, b, at, u, v) : unknown_node(level);
                }
            if (b)
                shared_cache_unpin(d->cache->blocks, b);
        }
    }
    return 0;
}

int drainage_nodes_at(struct drainage *d, int level, int64_t i, int64_t j, int width, int height,
                      struct course_node *out)
{
    const struct turned *t = &d->lattice[level];
    struct drainage_area area = {i, j, width, height, INT64_MAX, INT64_MIN, INT64_MAX, INT64_MIN};
    for (int k = 0; k < 4; k++) {
        const int64_t u = i + (k & 1 ? width : 0), v = j + (k & 2 ? height : 0);
        const int64_t x = turned_x(t, u, v), y = turned_y(t, u, v);
        area.left = x < area.left ? x : area.left;
        area.right = x > area.right ? x : area.right;
        area.top = y < area.top ? y : area.top;
        area.bottom = y > area.bottom ? y : area.bottom;
    }
    return drainage_nodes(d, level, &area, out);
}
