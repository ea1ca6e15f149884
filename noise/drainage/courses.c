/* Courses of one level, laid onto the nodes of the next. */
#include <math.h>
#include <string.h>

#include "noise/drainage/drainage_parts.h"
#include "noise/drainage/lakes.h"
#include "noise/drainage/powers.h"
#include "noise/exact/lattice.h"

/* A swing is so many cells of this level wide, 2.7 of the one before. */
static const double WAVE = 5.4;
enum {
    OUTSIDE = PATCH_AROUND, /* courses matter so many cells outside the block */
    AROUND = OUTSIDE + 8,   /* and so far their nodes lie */
    SWINGS = (NODES_SIDE + 2 * AROUND) / 5 + 2,
};

/* A point of a course: the place in the block's cells, height, area; a lake's level, its depth, and
 * whether the course is below that level: 1 or 0. */
struct point {
    float x, y, height, area, lake, depth, wet;
};

/* Where courses are laid. */
struct bed {
    struct nodes *nodes;
    node_values *taken;             /* the area of the course that leads through a node */
    node_values *left_by, *left_at; /* the area and the height of the course that WAY follows */
    double left, top;               /* the block's first node, in cells */
    double bend;                    /* in cells */
    /* How far courses swing to the east and to the south, in cells, at corners of a square lattice
     * from (column, row) on. */
    double column, row, swing[SWINGS][SWINGS][2];
    float floor; /* half the width of a floor that drains 1 km2, in cells */
    float toe;   /* the foot of a slope, in cells */
    bool widens; /* the level has valleys with floors */
};

/* Make the swings around a block. */
static void make_swings(struct bed *bed, uint64_t key)
{
    bed->column = floor((bed->left - (double)AROUND) / WAVE);
    bed->row = floor((bed->top - (double)AROUND) / WAVE);
    for (int j = 0; j < SWINGS; j++)
        for (int i = 0; i < SWINGS; i++) {
            const uint64_t column = (uint64_t)((int64_t)bed->column + i);
            const uint64_t row = (uint64_t)((int64_t)bed->row + j);
            const uint64_t random = lattice_mix(lattice_mix(key + column) + row);
            for (int k = 0; k < 2; k++)
                bed->swing[j][i][k] =
                    bed->bend * ((double)(random >> (16 * k) & 0xffff) * 0x1p-15 - 1);
        }
}

/* X, rounded down; X is above -1000. */
static inline int whole(float x)
{
    return (int)(x + 1000) - 1000;
}

/* How far (X, Y) is outside the block, in cells, along one axis. */
static double outside(double x, double y)
{
    static const double HALF = 0.5 * (double)NODES_SIDE;
    const double across = fabs(x - HALF), down = fabs(y - HALF);
    return (across > down ? across : down) - HALF;
}

/* Move a node by a smooth noise: a map of the plane, so courses hardly cross. Nodes that are far
 * outside stay. */
static void swing(const struct bed *bed, double *to_x, double *to_y)
{
    const double x = (*to_x + bed->left) / WAVE - bed->column;
    const double y = (*to_y + bed->top) / WAVE - bed->row;
    if (outside(*to_x, *to_y) > (double)AROUND)
        return;
    const int i = (int)x, j = (int)y;
    const double u = x - i, v = y - j, across = u * u * (3 - 2 * u), down = v * v * (3 - 2 * v);
    double by[2];
    for (int k = 0; k < 2; k++) {
        const double *first = bed->swing[j][i], *low = bed->swing[j + 1][i];
        const double above = first[k] + across * (first[2 + k] - first[k]);
        const double below = low[k] + across * (low[2 + k] - low[k]);
        by[k] = above + down * (below - above);
    }
    *to_x += by[0];
    *to_y += by[1];
}

/* Flatten the ground beside a point whose floor is HALF wide. */
static void flatten(const struct bed *bed, const struct point *p, float half)
{
    struct nodes *n = bed->nodes;
    const int around = (int)(NODES_FLOOR_REACH * half) + 1;
    const int column = whole(p->x), row = whole(p->y);
    const int left = column - around < 0 ? 0 : column - around;
    const int right = column + around < NODES_SIDE ? column + around : NODES_SIDE - 1;
    const int top = row - around < 0 ? 0 : row - around;
    const int bottom = row + around < NODES_SIDE ? row + around : NODES_SIDE - 1;
    const float inverse = 1 / (half * half), area = powers_log2(p->area);
    for (int j = top; j <= bottom; j++) {
        const float *restrict x = &n->x[node_at(0, j)], *restrict y = &n->y[node_at(0, j)];
        float *restrict off = &n->off_floor[node_at(0, j)];
        float *restrict floor_area = &n->floor_area[node_at(0, j)];
        const float west = (float)left - p->x, north = (float)j - p->y;
        for (int i = left; i <= right; i++) {
            const float along = west + (float)(i - left) + x[i], across = north + y[i];
            const float square = (along * along + across * across) * inverse;
            floor_area[i] = square < off[i] ? area : floor_area[i];
            off[i] = square < off[i] ? square : off[i];
        }
    }
}

/* Find the nodes at the walls of a point's glacier, whose floor is HALF wide, and beyond them. */
static void find_walls(const struct bed *bed, const struct point *p, float half)
{
    struct nodes *n = bed->nodes;
    const float reach = NODES_FLOOR_REACH * half + NODES_HANGING;
    const int around = (int)reach + 1, column = whole(p->x), row = whole(p->y);
    for (int j = row - around; j <= row + around; j++)
        for (int i = column - around; i <= column + around; i++) {
            if (i < 0 || j < 0 || i >= NODES_SIDE || j >= NODES_SIDE)
                continue;
            const int at = node_at(i, j);
            const float x = (float)i + n->x[at] - p->x, y = (float)j + n->y[at] - p->y;
            const float off = sqrtf(x * x + y * y) / half;
            n->wall_half[at] = off < n->off_wall[at] ? half : n->wall_half[at];
            n->off_wall[at] = off < n->off_wall[at] ? off : n->off_wall[at];
        }
}

/* The node in whose cell the point is; -1 if it is outside. */
static int node_under(const struct point *p)
{
    const int column = whole(p->x), row = whole(p->y);
    const bool inside = column >= 0 && row >= 0 && column < NODES_SIDE && row < NODES_SIDE;
    return inside ? node_at(column, row) : -1;
}

/* Lead the course through node AT, in whose cell P is, if no greater one does, and if P is at most
 * the square root of OFF from the cell's middle. */
static void take_node(const struct bed *bed, int at, const struct point *p, float off)
{
    static const float EDGE = 0.08f;
    struct nodes *n = bed->nodes;
    const float x = p->x - (float)whole(p->x), y = p->y - (float)whole(p->y);
    const float square = (x - 0.5f) * (x - 0.5f) + (y - 0.5f) * (y - 0.5f);
    /* On one course the point nearest to the middle. */
    const float merit = p->area * (1 - 0.01f * square);
    if (square > off || n->kind[at] == NODE_SEA || merit <= (*bed->taken)[at])
        return;
    (*bed->taken)[at] = merit;
    n->kind[at] = NODE_COURSE;
    n->upper[at] = p->height;
    n->own[at] = p->area;
    n->course_lake[at] = p->lake;
    n->course_depth[at] = p->depth;
    n->course_wet[at] = p->wet > 0.5f;
    n->x[at] = x < EDGE ? EDGE : x > 1 - EDGE ? 1 - EDGE : x;
    n->y[at] = y < EDGE ? EDGE : y > 1 - EDGE ? 1 - EDGE : y;
}

/* The neighbor of FROM that TO is; NO_RECEIVER if it is none. */
static int neighbor_of(int from, int to)
{
    for (int k = 0; k < NEIGHBORS; k++)
        if (from + neighbor_step[k] == to)
            return k;
    return NO_RECEIVER;
}

/* Where a course has been: the last node that it leads through, and the cell after that one if the
 * course has touched only its edge. -1: none. */
struct trail {
    int node, edge;
    struct point at_edge;
};

/* Water goes from node FROM to TO, unless a greater course goes elsewhere, or one that is as great
 * and lower: so that ways hardly make circles. */
static void join_nodes(const struct bed *bed, const struct point *p, int from, int to)
{
    float *area = &(*bed->left_by)[from], *height = &(*bed->left_at)[from];
    if (p->area < *area || (p->area == *area && p->height > *height))
        return;
    *area = p->area;
    *height = p->height;
    bed->nodes->way[from] = (int8_t)neighbor_of(from, to);
}

/* Go on to node AT, which P's course leads through. */
static void go_on(const struct bed *bed, struct trail *trail, const struct point *p, int at)
{
    if (trail->node >= 0 && at >= 0 && neighbor_of(trail->node, at) != NO_RECEIVER)
        join_nodes(bed, p, trail->node, at);
    trail->node = at;
    trail->edge = -1;
}

/* Lead the course through the cell that it has touched. */
static void take_edge(const struct bed *bed, struct trail *trail)
{
    static const float ANYWHERE = 1;
    const int at = trail->edge;
    take_node(bed, at, &trail->at_edge, ANYWHERE);
    go_on(bed, trail, &trail->at_edge, at);
}

/* The course goes to P. IS_END: there is a next curve from there on. */
static void go_to(const struct bed *bed, struct trail *trail, const struct point *p, bool is_end)
{
    static const float OFF = 0.3f, ANYWHERE = 1;
    const int at = node_under(p);
    if (at >= 0)
        take_node(bed, at, p, is_end ? ANYWHERE : OFF);
    if (at == trail->node || (at >= 0 && at == trail->edge && bed->nodes->kind[at] == NODE_PLAIN))
        return;
    const bool is_edge = at >= 0 && bed->nodes->kind[at] == NODE_PLAIN;
    const bool is_next = trail->node >= 0 && at >= 0 && neighbor_of(trail->node, at) != NO_RECEIVER;
    if (trail->edge >= 0 && at != trail->edge && (is_edge || !is_next))
        take_edge(bed, trail);
    if (is_edge) {
        trail->edge = at;
        trail->at_edge = *p;
    } else {
        go_on(bed, trail, p, at);
    }
}

/* Half the width of the floor at P, in cells. */
static float floor_of(const struct bed *bed, const struct point *p)
{
    static const float MOST = 4;
    const float half = bed->floor * sqrtf(p->area) + bed->toe;
    return half > MOST ? MOST : half;
}

/* Add SHARE of OF's lake to P's, if it is the same. */
static void add_lake(struct point *p, const struct point *of, float share)
{
    p->depth += of->lake == p->lake ? share * of->depth : 0;
    p->wet += of->lake == p->lake ? share * of->wet : 0;
}

/* Water that has reached P's lake, at A above it, stays there. */
static void keep_wet(struct point *p, const struct point *a)
{
    p->wet = a->lake == p->lake && a->wet > 0.5f ? 1 : p->wet;
}

/* The level of the lake at HEIGHT on the way from A down to B: A's as far as its sill. */
static float lake_between(const struct point *a, const struct point *b, float height)
{
    const bool is_upper = a->depth > 0 && (b->depth == 0 || height >= a->lake);
    return is_upper ? a->lake : b->lake;
}

static struct point middle(const struct point *a, const struct point *b)
{
    const float height = (a->height + b->height) / 2;
    struct point p = {.x = (a->x + b->x) / 2,
                      .y = (a->y + b->y) / 2,
                      .height = height,
                      .area = a->area,
                      .lake = lake_between(a, b, height)};
    add_lake(&p, a, 0.5f);
    add_lake(&p, b, 0.5f);
    keep_wet(&p, a);
    return p;
}

/* A quadratic B-spline from A to C, bent towards B. */
static void lay_curve(const struct bed *bed, const struct point *a, const struct point *b,
                      const struct point *c)
{
    static const float LEAST = 0.5f, WIDE = 2; /* of a floor's half width */
    enum { PER_CELL = 2, OFTEN = PER_CELL, RARELY = 2 * PER_CELL };
    const float length = sqrtf((b->x - a->x) * (b->x - a->x) + (b->y - a->y) * (b->y - a->y)) +
                         sqrtf((c->x - b->x) * (c->x - b->x) + (c->y - b->y) * (c->y - b->y));
    const int count = (int)(length * (float)PER_CELL) + 1;
    const float end = b->area > a->area ? b->area : a->area, step = 1 / (float)count;
    const float half = bed->widens ? floor_of(bed, b) : 0;
    const int widens = half > WIDE ? RARELY : half > LEAST ? OFTEN : count + 1;
    struct trail trail = {-1, -1, *a};
    go_to(bed, &trail, a, true);
    for (int k = 1; k <= count; k++) {
        const float t = (float)k * step, s = 1 - t;
        const float first = s * s, second = 2 * s * t, third = t * t;
        struct point p = {.x = first * a->x + second * b->x + third * c->x,
                          .y = first * a->y + second * b->y + third * c->y,
                          .height = first * a->height + second * b->height + third * c->height,
                          .area = a->area + (end - a->area) * t};
        p.lake = lake_between(a, c, p.height);
        add_lake(&p, a, first);
        add_lake(&p, b, second);
        add_lake(&p, c, third);
        keep_wet(&p, a);
        if (k % widens == 0)
            flatten(bed, &p, floor_of(bed, &p));
        if (bed->nodes->has_ice && powers_log2(p.area) > NODES_GLACIER)
            find_walls(bed, &p, floor_of(bed, &p));
        go_to(bed, &trail, &p, k == count);
    }
}

static struct point point_at(const struct drainage_patch *p, int at, float base)
{
    const float height = p->value[at][PATCH_HEIGHT], lake = p->lake[at], depth = p->depth[at];
    return (struct point){(float)p->x[at],
                          (float)p->y[at],
                          drainage_ashore(height, base),
                          p->area[at],
                          lake,
                          depth,
                          lake_is_wet(height, lake, depth)};
}

/* What is known of a patch's nodes. */
enum { IS_COURSE = 1, IS_FED = 2 };

/* Find courses and the nodes that they feed, and move them. */
static void find_courses(const struct bed *bed, struct drainage_patch *p, uint8_t is[PATCH_NODES])
{
    memset(is, 0, PATCH_NODES);
    for (int row = 1; row < p->range.height - 1; row++)
        for (int column = 1; column < p->range.width - 1; column++) {
            const int at = row * p->range.width + column;
            if (!patch_is_course(p, at))
                continue;
            is[at] |= IS_COURSE;
            is[patch_receiver(p, at)] |= IS_FED;
        }
    for (int at = 0; at < p->range.width * p->range.height; at++)
        if (is[at] && p->receiver[at] != NODE_UNKNOWN)
            swing(bed, &p->x[at], &p->y[at]);
}

void drainage_lay_courses(struct drainage *d, int level, bool builds, int64_t i, int64_t j)
{
    struct drainage_patch *p = d->patch;
    uint8_t is[PATCH_NODES];
    const float cell = (float)d->lattice[level].metres, base = (float)d->params.base;
    static const float TOE = 48; /* metres */
    struct bed bed = {.nodes = d->nodes,
                      .taken = &d->nodes->sum[0],
                      .left_by = &d->nodes->sum[1],
                      .left_at = &d->nodes->next,
                      .left = (double)i,
                      .top = (double)j,
                      .bend = 2 * d->params.bend,
                      .floor = (float)d->params.floor / 2 / cell,
                      .toe = TOE / cell,
                      .widens = builds};
    make_swings(&bed, lattice_random(d->lattice[level].key, 0));
    memset(bed.taken, 0, sizeof *bed.taken);
    memset(bed.left_by, 0, sizeof *bed.left_by);
    drainage_turn_tributaries(d);
    find_courses(&bed, p, is);
    for (int row = 2; row < p->range.height - 2; row++)
        for (int column = 2; column < p->range.width - 2; column++) {
            const int at = row * p->range.width + column;
            if (!(is[at] & IS_COURSE) || outside(p->x[at], p->y[at]) > (double)OUTSIDE)
                continue;
            const int on = patch_receiver(p, at);
            const struct point a = point_at(p, at, base), b = point_at(p, on, base);
            const struct point c = point_at(p, patch_receiver(p, on), base);
            const struct point begin = middle(&a, &b), end = middle(&b, &c);
            if (!(is[at] & IS_FED))
                lay_curve(&bed, &a, &a, &begin);
            lay_curve(&bed, &begin, &b, &end);
        }
}
