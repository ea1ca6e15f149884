#include "noise/drainage/hydraulics.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "noise/drainage/powers.h"
#include "noise/drainage/routes.h"
#include "noise/exact/cloned.h"

const int drainage_neighbor[DRAINAGE_NEIGHBORS][2] = {{1, 0},  {1, 1},   {0, 1},  {-1, 1},
                                                      {-1, 0}, {-1, -1}, {0, -1}, {1, -1}};
const int neighbor_step[NEIGHBORS] = {1,  NODES_STRIDE + 1,  NODES_STRIDE,  NODES_STRIDE - 1,
                                      -1, -NODES_STRIDE - 1, -NODES_STRIDE, -NODES_STRIDE + 1};

CLONED
void hydraulics_measure(struct nodes *n)
{
    static const float SHORTEST = 0.2f; /* courses move nodes close to each other */
    for (int k = 0; k < NEIGHBORS / 2; k++) {
        const float column = (float)drainage_neighbor[k][0], row = (float)drainage_neighbor[k][1];
        const float *restrict x = n->x, *restrict y = n->y;
        const float *restrict x2 = n->x + neighbor_step[k], *restrict y2 = n->y + neighbor_step[k];
        float *restrict edge = n->edge[k];
        for (int p = 0; p < NODES_END; p++) {
            const float along = column + x2[p] - x[p], across = row + y2[p] - y[p];
            const float length = sqrtf(along * along + across * across);
            edge[p] = length < SHORTEST ? SHORTEST : length;
        }
    }
}

/* Water crosses neither the nodes beside the block nor the sea. */
static void close_border(struct nodes *n)
{
    for (int p = NODES_FIRST; p < NODES_END; p++)
        n->slope[p] = n->kind[p] == NODE_SEA ? NODES_HIGH : n->slope[p];
    for (int row = 0; row < NODES_SIDE; row++)
        for (int k = 1; k <= NODES_PAD; k++) {
            n->slope[node_at(-k, row)] = NODES_HIGH;
            n->slope[node_at(NODES_SIDE - 1 + k, row)] = NODES_HIGH;
        }
}

/* Whether nodes, CELL metres apart, are so far apart that of two courses beside each other the
 * higher one would fall into the other. There courses have banks: beds are as gentle as their
 * rivers along the course alone. On finer levels a valley's floor lies between, and beds that may
 * not follow it down would stand on dykes. */
static bool is_coarse(float cell)
{
    static const float COARSE = 500;
    return cell > COARSE;
}

/* By how much P's slope becomes that of a glacier's wall: the share of its cell that lies in one.
 * AREA: what P drains, as a logarithm to base 2: rivers that drain as much as a glacier's have cut
 * through. */
static float wall_share(const struct nodes *n, int p, float area)
{
    const float half = n->wall_half[p], off = n->off_wall[p] * half;
    const float inner = off - 0.5f > half ? off - 0.5f : half;
    const float outer =
        off + 0.5f < NODES_FLOOR_REACH * half ? off + 0.5f : NODES_FLOOR_REACH * half;
    const float cut = NODES_GLACIER + 1 - area;
    const float hangs = cut < 0 ? 0 : cut > 1 ? 1 : cut;
    return outer > inner ? (outer - inner) * hangs * n->ice[p] : 0;
}

static void raise_walls(struct nodes *n, float cell)
{
    for (int p = NODES_FIRST; p < NODES_END; p++) {
        const float share = wall_share(n, p, powers_log2(n->area[p]));
        n->bed_slope[p] += share * (n->side[p] * cell - n->bed_slope[p]);
    }
}

CLONED
void hydraulics_slopes(struct nodes *n, float concavity, float cell)
{
    static const float FLOOR = 0.4f; /* in half widths: where slopes begin */
    static const float BANK = 0.25f; /* as steep as banks are at least, in plains, too */
    for (int p = NODES_FIRST; p < NODES_END; p++) {
        /* A floor is as gentle as its river. */
        float t = (sqrtf(n->off_floor[p]) - FLOOR) / (NODES_FLOOR_REACH - FLOOR);
        t = t < 0 ? 0 : t;
        t = t > 1 ? 1 : t;
        t = t * t * (3 - 2 * t);
        const float own = powers_log2(n->area[p]), floor = n->floor_area[p];
        const float between = floor + t * (own - floor), area = own < floor ? between : own;
        const float bed = n->steepness[p] * powers_exp2(-concavity * area);
        /* The lesser of the river's slope and of the hillside's; where they are about equal, they
         * are joined smoothly. */
        const float r = bed / n->side[p], r2 = r * r;
        n->bed_slope[p] = bed / sqrtf(sqrtf(1 + r2 * r2)) * n->gain[p] * cell;
    }
    if (n->has_ice)
        raise_walls(n, cell);
    for (int p = NODES_FIRST; p < NODES_END; p++) {
        const float bank = (n->side[p] > BANK ? n->side[p] : BANK) * cell;
        n->slope[p] = n->kind[p] == NODE_COURSE && is_coarse(cell) ? bank : n->bed_slope[p];
    }
    close_border(n);
}

/* A step of the first equation, from HEIGHT to NEXT. */
CLONED
static void climb(const struct nodes *n, const float *restrict height, float *restrict next)
{
    const float *restrict slope = n->slope;
    EDGES(n);
    for (int p = NODES_FIRST; p < NODES_END; p++) {
        const float s = slope[p];
        float least = height[p];
#define TRY(k, to, edge)                            \
    do {                                            \
        const float over = height[to] + s * (edge); \
        least = over < least ? over : least;        \
    } while (0)
        EACH_EDGE(TRY)
#undef TRY
        next[p] = least;
    }
}

/* The same along courses, whose beds may be gentler than their banks. */
static void climb_courses(const struct nodes *n, const float *restrict height, float *restrict next)
{
    for (int p = NODES_FIRST; p < NODES_END; p++) {
        if (n->kind[p] != NODE_COURSE || n->way[p] == NO_RECEIVER)
            continue;
        const int k = (int)n->way[p], q = p + neighbor_step[k];
        const float edge = k < 4 ? n->edge[k][p] : n->edge[k - 4][q];
        const float over = height[q] + n->bed_slope[p] * edge;
        next[p] = over < next[p] ? over : next[p];
    }
}

void hydraulics_climb(struct nodes *n, float cell)
{
    /* As far as a way from a course to a crest. */
    enum { STEPS = 8 };
    _Static_assert(STEPS % 2 == 0, "the last step writes HEIGHT");
    float *height = n->height, *next = n->next;
    memcpy(height, n->upper, sizeof n->height);
    for (int s = 0; s < STEPS; s++) {
        climb(n, height, next);
        if (is_coarse(cell))
            climb_courses(n, height, next);
        float *before = height;
        height = next;
        next = before;
    }
}

/* Weights of the neighbors in the height that the plane through them (least squares) has at P. */
static void plane_weights(const struct nodes *n, int p, float weight[NEIGHBORS])
{
    float sx = 0, sy = 0, xx = 0, xy = 0, yy = 0, x[NEIGHBORS], y[NEIGHBORS];
    for (int k = 0; k < NEIGHBORS; k++) {
        const int q = p + neighbor_step[k];
        x[k] = (float)drainage_neighbor[k][0] + n->x[q] - n->x[p];
        y[k] = (float)drainage_neighbor[k][1] + n->y[q] - n->y[p];
        sx += x[k];
        sy += y[k];
        xx += x[k] * x[k];
        xy += x[k] * y[k];
        yy += y[k] * y[k];
    }
    /* The first row of the inverse of [8 sx sy; sx xx xy; sy xy yy]. */
    const float a = xx * yy - xy * xy, b = sy * xy - sx * yy, c = sx * xy - sy * xx;
    const float scale = 1 / (8 * a + sx * b + sy * c);
    for (int k = 0; k < NEIGHBORS; k++)
        weight[k] = (a + b * x[k] + c * y[k]) * scale;
}

CLONED
void hydraulics_creep(struct nodes *n)
{
    /* The part of the way to the plane through the neighbors that a node moves in a step. */
    static const float FILL = 0.3f, WEAR = 0.1f;
    enum { STEPS = 2, LAST = NODES_SIDE - 1 };
    float *const weight[NEIGHBORS] = {n->edge[0], n->edge[1], n->edge[2], n->edge[3],
                                      n->slope,   n->sum[0],  n->sum[1],  n->target};
    for (int row = 1; row < LAST; row++)
        for (int column = 1; column < LAST; column++) {
            const int p = node_at(column, row);
            float here[NEIGHBORS];
            plane_weights(n, p, here);
            for (int k = 0; k < NEIGHBORS; k++)
                weight[k][p] = here[k];
        }
    for (int s = 0; s < STEPS; s++) {
        for (int row = 1; row < LAST; row++)
            for (int p = node_at(1, row), end = node_at(LAST, row); p < end; p++) {
                float plane = 0;
                for (int k = 0; k < NEIGHBORS; k++)
                    plane += weight[k][p] * n->height[p + neighbor_step[k]];
                const float off = plane - n->height[p];
                const float moved = n->height[p] + off * (off > 0 ? FILL : WEAR);
                n->next[p] = n->kind[p] == NODE_SEA || n->height[p] <= 0 ? n->height[p] : moved;
            }
        for (int row = 1; row < LAST; row++)
            memcpy(&n->height[node_at(1, row)], &n->next[node_at(1, row)],
                   (LAST - 1) * sizeof(float));
    }
    /* Soil does not fill beds in lakes, or beds downstream might be above their level. */
    for (int p = NODES_FIRST; p < NODES_END; p++)
        if (n->kind[p] == NODE_COURSE && n->course_depth[p] > 0 && n->height[p] > n->upper[p])
            n->height[p] = n->upper[p];
    routes_cut_through(n); /* where soil has filled a bed */
}
