/* Courses of one level, laid onto the nodes of the next. */
#include <math.h>
#include <string.h>

#include "noise/drainage/drainage_parts.h"
#include "noise/drainage/powers.h"
#include "noise/exact/lattice.h"

/* Cells that drain to a node of a course, at least. */
static const float COURSE_CELLS = 6;

/* A swing is so many cells of this level wide, 2.7 of the one before. */
static const double WAVE = 5.4;
enum {
    OUTSIDE = 24, /* courses matter so many cells outside the block */
    SWINGS = (NODES_SIDE + 2 * OUTSIDE) / 5 + 2,
};

/* A point of a course: the place in the block's cells, height, area. */
struct point {
    double x, y;
    float height, area;
};

/* Where courses are laid. */
struct bed {
    struct nodes *nodes;
    node_values *taken; /* the area of the course that leads through a node */
    double left, top;   /* the block's first node, in cells */
    double bend;        /* in cells */
    /* How far courses swing to the east and to the south, in cells, at corners of a square lattice
     * from (column, row) on. */
    double column, row, swing[SWINGS][SWINGS][2];
    float floor; /* half the width of a floor that drains 1 km2, in cells */
    float toe;   /* the foot of a slope, in cells */
};

/* Make the swings around a block. */
static void make_swings(struct bed *bed, uint64_t key)
{
    bed->column = floor((bed->left - (double)OUTSIDE) / WAVE);
    bed->row = floor((bed->top - (double)OUTSIDE) / WAVE);
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
static inline int whole(double x)
{
    return (int)(x + 1000) - 1000;
}

/* Move P by a smooth noise: a map of the plane, so courses do not cross. False if P is too far
 * outside. */
static bool swing(const struct bed *bed, struct point *p)
{
    const double x = (p->x + bed->left) / WAVE - bed->column;
    const double y = (p->y + bed->top) / WAVE - bed->row;
    const int i = (int)x, j = (int)y;
    if (!(x >= 0 && y >= 0 && i < SWINGS - 1 && j < SWINGS - 1))
        return false;
    const double u = x - i, v = y - j, across = u * u * (3 - 2 * u), down = v * v * (3 - 2 * v);
    double by[2];
    for (int k = 0; k < 2; k++) {
        const double above =
            bed->swing[j][i][k] + across * (bed->swing[j][i + 1][k] - bed->swing[j][i][k]);
        const double below = bed->swing[j + 1][i][k] +
                             across * (bed->swing[j + 1][i + 1][k] - bed->swing[j + 1][i][k]);
        by[k] = above + down * (below - above);
    }
    p->x += by[0];
    p->y += by[1];
    return true;
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
        const float west = (float)(left - p->x), north = (float)(j - p->y);
        for (int i = left; i <= right; i++) {
            const float along = west + (float)(i - left) + x[i], across = north + y[i];
            const float square = (along * along + across * across) * inverse;
            floor_area[i] = square < off[i] ? area : floor_area[i];
            off[i] = square < off[i] ? square : off[i];
        }
    }
}

/* Lead the course through the node in whose cell the point is, if no greater one does. */
static void take_node(const struct bed *bed, const struct point *p)
{
    static const float OFF = 0.3f; /* the square of the distance from a cell's middle, at most */
    static const float EDGE = 0.08f;
    struct nodes *n = bed->nodes;
    const int column = whole(p->x), row = whole(p->y);
    if (column < 0 || row < 0 || column >= NODES_SIDE || row >= NODES_SIDE)
        return;
    const int at = node_at(column, row);
    const float x = (float)(p->x - column), y = (float)(p->y - row);
    const float off = (x - 0.5f) * (x - 0.5f) + (y - 0.5f) * (y - 0.5f);
    /* On one course the point nearest to the middle. */
    const float merit = p->area * (1 - 0.01f * off);
    if (off > OFF || n->kind[at] == NODE_SEA || merit <= (*bed->taken)[at])
        return;
    (*bed->taken)[at] = merit;
    n->kind[at] = NODE_COURSE;
    n->upper[at] = p->height;
    n->own[at] = p->area;
    n->x[at] = x < EDGE ? EDGE : x > 1 - EDGE ? 1 - EDGE : x;
    n->y[at] = y < EDGE ? EDGE : y > 1 - EDGE ? 1 - EDGE : y;
}

static void lay_point(const struct bed *bed, struct point *p, bool widen)
{
    static const float MOST = 4, LEAST = 0.5f; /* of a floor's half width, in cells */
    if (!swing(bed, p))
        return;
    float half = bed->floor * sqrtf(p->area) + bed->toe;
    half = half > MOST ? MOST : half;
    if (widen && half > LEAST)
        flatten(bed, p, half);
    take_node(bed, p);
}

static struct point middle(const struct point *a, const struct point *b)
{
    return (struct point){(a->x + b->x) / 2, (a->y + b->y) / 2, (a->height + b->height) / 2,
                          a->area};
}

/* A quadratic B-spline: it begins at A, ends at C, and bends towards B. */
static void lay_curve(const struct bed *bed, const struct point *a, const struct point *b,
                      const struct point *c)
{
    enum { PER_CELL = 2 };
    const double length = sqrt((b->x - a->x) * (b->x - a->x) + (b->y - a->y) * (b->y - a->y)) +
                          sqrt((c->x - b->x) * (c->x - b->x) + (c->y - b->y) * (c->y - b->y));
    const int count = (int)(length * (double)PER_CELL) + 1;
    const float end = b->area > a->area ? b->area : a->area;
    for (int k = 0; k <= count; k++) {
        const float t = (float)k / (float)count, s = 1 - t;
        const double first = (double)(s * s), second = (double)(2 * s * t), third = (double)(t * t);
        struct point p = {first * a->x + second * b->x + third * c->x,
                          first * a->y + second * b->y + third * c->y,
                          s * s * a->height + 2 * s * t * b->height + t * t * c->height,
                          a->area + (end - a->area) * t};
        lay_point(bed, &p, k % PER_CELL == 0);
    }
}

static struct point point_at(const struct drainage_patch *p, int at)
{
    return (struct point){p->x[at], p->y[at], p->height[at], p->area[at]};
}

/* The node to which node AT drains; itself if there is none. */
static int receiver_of(const struct drainage_patch *p, int at)
{
    const int k = (int)p->receiver[at];
    return k == NO_RECEIVER ? at : at + neighbor_row[k] * p->range.width + neighbor_column[k];
}

static bool is_course(const struct drainage_patch *p, int at, float least)
{
    return p->receiver[at] != NO_RECEIVER && (p->kind[at] == NODE_COURSE || p->area[at] >= least);
}

/* True if no course leads to node AT. */
static bool is_head(const struct drainage_patch *p, int at, float least)
{
    for (int k = 0; k < NEIGHBORS; k++) {
        const int from = at + neighbor_row[k] * p->range.width + neighbor_column[k];
        if (is_course(p, from, least) && p->receiver[from] == (k ^ 4))
            return false;
    }
    return true;
}

void drainage_lay_courses(struct drainage *d, int level, int64_t i, int64_t j)
{
    const struct drainage_patch *p = d->patch;
    const double before = d->lattice[level - 1].metres;
    const float cell = (float)d->lattice[level].metres;
    static const float TOE = 48; /* metres */
    const float least = COURSE_CELLS * (float)(before * before * 1e-6);
    struct bed bed = {.nodes = d->nodes,
                      .taken = &d->nodes->sum[0],
                      .left = (double)i,
                      .top = (double)j,
                      .bend = 2 * d->params.bend,
                      .floor = (float)d->params.floor / 2 / cell,
                      .toe = TOE / cell};
    make_swings(&bed, lattice_random(d->lattice[level].key, 0));
    memset(bed.taken, 0, sizeof *bed.taken);
    for (int row = 2; row < p->range.height - 2; row++)
        for (int column = 2; column < p->range.width - 2; column++) {
            const int at = row * p->range.width + column;
            if (!is_course(p, at, least))
                continue;
            const int on = receiver_of(p, at);
            const struct point a = point_at(p, at), b = point_at(p, on);
            const struct point c = point_at(p, receiver_of(p, on));
            const struct point begin = middle(&a, &b), end = middle(&b, &c);
            if (is_head(p, at, least))
                lay_curve(&bed, &a, &a, &begin);
            lay_curve(&bed, &begin, &b, &end);
        }
}
