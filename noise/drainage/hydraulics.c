#include "hydraulics.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "noise/drainage/powers.h"

const int drainage_neighbor[DRAINAGE_NEIGHBORS][2] = {{1, 0},  {1, 1},   {0, 1},  {-1, 1},
                                                      {-1, 0}, {-1, -1}, {0, -1}, {1, -1}};
const int neighbor_step[NEIGHBORS] = {1,  NODES_STRIDE + 1,  NODES_STRIDE,  NODES_STRIDE - 1,
                                      -1, -NODES_STRIDE - 1, -NODES_STRIDE, -NODES_STRIDE + 1};

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

void hydraulics_slopes(struct nodes *n, float concavity, float cell)
{
    static const float FLOOR = 0.4f; /* in half widths: where slopes begin */
    static const float BANK = 0.25f; /* as steep as banks are at least, in plains, too */
    for (int p = NODES_FIRST; p < NODES_END; p++) {
        /* A floor is as gentle as its river. */
        float t = (sqrtf(n->off_floor[p]) - FLOOR) / (NODES_FLOOR_REACH - FLOOR);
        t = t < 0 ? 0 : t > 1 ? 1 : t;
        t = t * t * (3 - 2 * t);
        const float own = powers_log2(n->area[p]), floor = n->floor_area[p];
        const float area = own < floor ? floor + t * (own - floor) : own;
        const float bed = n->steepness[p] * powers_exp2(-concavity * area);
        /* The lesser of the river's slope and of the hillside's; where they are about equal, they
         * are joined smoothly. */
        const float r = bed / n->side[p], r2 = r * r;
        const float slope = bed / sqrtf(sqrtf(1 + r2 * r2)) * n->gain[p] * cell;
        const float bank = (n->side[p] > BANK ? n->side[p] : BANK) * cell;
        n->slope[p] = n->kind[p] == NODE_COURSE && is_coarse(cell) ? bank : slope;
        n->bed_slope[p] = slope;
    }
    close_border(n);
}

/* The edges of a node, in loops whose counter is p: DO(k, neighbor, length). */
enum { ROW = NODES_STRIDE };
#define EDGES(n)                                                                   \
    const float *restrict east = (n)->edge[0], *restrict southeast = (n)->edge[1]; \
    const float *restrict south = (n)->edge[2], *restrict southwest = (n)->edge[3]
#define EACH_EDGE(DO)                           \
    DO(0, p + 1, east[p]);                      \
    DO(1, p + ROW + 1, southeast[p]);           \
    DO(2, p + ROW, south[p]);                   \
    DO(3, p + ROW - 1, southwest[p]);           \
    DO(4, p - 1, east[p - 1]);                  \
    DO(5, p - ROW - 1, southeast[p - ROW - 1]); \
    DO(6, p - ROW, south[p - ROW]);             \
    DO(7, p - ROW + 1, southwest[p - ROW + 1]);

/* A step of the first equation, from HEIGHT to NEXT. */
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

/* Metres per cell, steeper than all ground. */
static const float STAY = 4096;

/* Receivers. STAY is STAY on courses, LEAST a fall that is too small. */
static void look_down(const float *restrict height, const struct nodes *n,
                      const float *restrict stay, const float *restrict least,
                      int32_t *restrict receiver)
{
    EDGES(n);
    for (int p = NODES_FIRST; p < NODES_END; p++) {
        const float here = height[p], own = stay[p];
        float best = least[p];
        int32_t to = NO_RECEIVER;
#define TRY(k, q, edge)                                   \
    do {                                                  \
        const float fall = (here - height[q]) / (edge);   \
        const float both = own < stay[q] ? own : stay[q]; \
        const float steep = fall + (fall > 0 ? both : 0); \
        to = steep > best ? (k) : to;                     \
        best = steep > best ? steep : best;               \
    } while (0)
        EACH_EDGE(TRY)
#undef TRY
        receiver[p] = to;
    }
}

/* Whether P is one of the outer RIM rows or columns. */
static bool is_rim(int p, int rim)
{
    const int row = p / NODES_STRIDE - 1, column = p % NODES_STRIDE - NODES_PAD;
    return row < rim || column < rim || row >= NODES_SIDE - rim || column >= NODES_SIDE - rim;
}

/* Whether the water that a course brings reaches its node P. It does not where a course touches the
 * cell of a node that lies beside it. FROM_BEFORE: the least area of a course's first node. */
static bool is_fed(const struct nodes *n, int p, float from_before)
{
    static const float HEAD = 3.5f, SHARE = 0.4f;
    enum { RIM = 2 }; /* what feeds these nodes may lie outside */
    return n->area[p] >= SHARE * n->own[p] || n->own[p] <= HEAD * from_before || is_rim(p, RIM);
}

/* Areas, and the order: each node after all those that drain to it (Kahn 1962). Without branches
 * that no processor could foresee. */
static int sum_areas(struct nodes *n, float cell, float from_before)
{
    enum { MANY = 1 << 30 };
    int tail = 0;
    memset(n->most, 0, sizeof n->most);
    for (int p = 0; p < NODES; p++)
        n->area[p] = cell;
    memset(n->donors, 0, sizeof n->donors);
    n->donors[0] = MANY;
    for (int row = 0; row < NODES_SIDE; row++)
        for (int p = node_at(0, row), end = p + NODES_SIDE; p < end; p++)
            n->donors[node_receiver(n, p)]++;
    for (int row = 0; row < NODES_SIDE; row++)
        for (int p = node_at(0, row), end = p + NODES_SIDE; p < end; p++) {
            n->order[tail] = p;
            tail += n->donors[p] == 0;
        }
    for (int head = 0; head < tail; head++) {
        const int p = n->order[head], q = node_receiver(n, p);
        if (n->kind[p] == NODE_COURSE) {
            if (is_fed(n, p, from_before)) /* rivers never get smaller */
                n->area[p] = n->own[p] > n->most[p] ? n->own[p] : n->most[p];
            else
                n->kind[p] = NODE_PLAIN;
        }
        n->area[q] += n->area[p];
        n->most[q] = n->area[p] > n->most[q] ? n->area[p] : n->most[q];
        n->order[tail] = q;
        tail += --n->donors[q] == 0;
    }
    return tail;
}

/* Water cuts through: no node is higher than those that drain to it. */
static void cut_through(struct nodes *n)
{
    for (int k = 0; k < NODES_SIDE * NODES_SIDE; k++) {
        const int p = n->order[k], q = node_receiver(n, p);
        n->height[q] =
            n->height[q] > n->height[p] && n->kind[q] != NODE_SEA ? n->height[p] : n->height[q];
    }
}

static bool is_inside(int p)
{
    const int row = p / NODES_STRIDE - 1, column = p % NODES_STRIDE - NODES_PAD;
    return row >= 0 && column >= 0 && row < NODES_SIDE && column < NODES_SIDE;
}

/* Whether water ends at P: in the sea, which fills ground below it, or beyond the block. */
static bool is_mouth(const struct nodes *n, int p)
{
    return n->kind[p] == NODE_SEA || n->height[p] <= NODES_DROWNED || is_rim(p, 1);
}

/* Whether the water from P reaches a mouth. */
static bool reaches_mouth(const struct nodes *n, int p)
{
    enum { FAR = 8 * NODES_SIDE };
    for (int step = 0; step < FAR && !is_mouth(n, p); step++) {
        if (n->receiver[p] == NO_RECEIVER)
            return false;
        p += neighbor_step[n->receiver[p]];
    }
    return is_mouth(n, p);
}

/* A heap of nodes, the lowest first: heights in an order of whole numbers, and nodes' numbers. Each
 * parent has four children. */
struct heap {
    uint64_t *at;
    int count;
};

static uint64_t heap_key(float height, int p)
{
    uint32_t bits;
    height += 0.0f; /* no -0 */
    memcpy(&bits, &height, sizeof bits);
    bits ^= bits >> 31 ? UINT32_MAX : UINT32_C(1) << 31;
    return (uint64_t)bits << 32 | (uint32_t)p;
}

static void push(struct heap *heap, uint64_t key)
{
    uint64_t *at = heap->at;
    int k = heap->count++;
    for (; k > 0 && key < at[(k - 1) / 4]; k = (k - 1) / 4)
        at[k] = at[(k - 1) / 4];
    at[k] = key;
}

static int pop(struct heap *heap)
{
    uint64_t *at = heap->at;
    const uint64_t lowest = at[0], last = at[--heap->count];
    int k = 0;
    for (int child = 1; child < heap->count; child = 4 * k + 1) {
        const int end = child + 4 < heap->count ? child + 4 : heap->count;
        for (int other = child + 1; other < end; other++)
            child = at[other] < at[child] ? other : child;
        if (at[child] >= last)
            break;
        at[k] = at[child];
        k = child;
    }
    at[k] = last;
    return (int)(uint32_t)lowest;
}

static int lowest_neighbor(const struct nodes *n, int p)
{
    int lowest = NO_RECEIVER;
    uint64_t least = UINT64_MAX;
    for (int k = 0; k < NEIGHBORS; k++) {
        const int q = p + neighbor_step[k];
        const uint64_t key = is_inside(q) ? heap_key(n->height[q], q) : UINT64_MAX;
        lowest = key < least ? k : lowest;
        least = key < least ? key : least;
    }
    return lowest;
}

/* Let the water of P, which goes nowhere, flow over the lowest ridge around it to where water
 * reaches a mouth. */
static void find_outlet(struct nodes *n, int p)
{
    struct heap heap = {n->heap, 0};
    const int lowest = lowest_neighbor(n, p);
    n->receiver[p] = NO_RECEIVER;
    if (reaches_mouth(n, p + neighbor_step[lowest])) {
        n->receiver[p] = lowest;
        return;
    }
    int32_t *back = n->order; /* the neighbor from which a node was met; NO_RECEIVER: it was not */
    for (int q = 0; q < NODES; q++)
        back[q] = NO_RECEIVER;
    back[p] = 0;
    int q = p;
    for (bool found = false; !found;) {
        for (int k = 0; k < NEIGHBORS; k++) {
            const int to = q + neighbor_step[k];
            if (back[to] != NO_RECEIVER || !is_inside(to))
                continue;
            back[to] = k ^ 4;
            push(&heap, heap_key(n->height[to], to));
        }
        if (heap.count == 0)
            return;
        q = pop(&heap);
        found = reaches_mouth(n, q);
    }
    while (q != p) {
        const int k = back[q];
        q += neighbor_step[k];
        n->receiver[q] = k ^ 4;
    }
}

/* Let the water of P, which goes around in circles, flow down the steepest way, until it reaches
 * water that goes on. */
static void leave_course(struct nodes *n, int p)
{
    n->receiver[p] = n->steepest[p];
    while (!reaches_mouth(n, p) && n->receiver[p] != NO_RECEIVER) {
        p += neighbor_step[n->receiver[p]];
        n->receiver[p] = n->steepest[p];
    }
    if (!reaches_mouth(n, p))
        find_outlet(n, p);
}

/* The receivers: along courses, else to where it falls most steeply, else over the lowest outlet.
 */
static void find_receivers(struct nodes *n)
{
    for (int p = NODES_FIRST; p < NODES_END; p++) {
        n->next[p] = n->kind[p] == NODE_SEA ? NODES_HIGH : 0;
        n->sum[0][p] = n->kind[p] == NODE_COURSE ? STAY : 0;
    }
    look_down(n->height, n, n->sum[0], n->next, n->receiver);
    memcpy(n->steepest, n->receiver, sizeof n->steepest);
    for (int p = NODES_FIRST; p < NODES_END; p++)
        n->receiver[p] =
            n->kind[p] == NODE_COURSE && n->way[p] != NO_RECEIVER ? n->way[p] : n->receiver[p];
    for (int row = 1; row < NODES_SIDE - 1; row++)
        for (int p = node_at(1, row), end = node_at(NODES_SIDE - 1, row); p < end; p++)
            if (n->receiver[p] == NO_RECEIVER && !is_mouth(n, p))
                find_outlet(n, p);
}

void hydraulics_route(struct nodes *n, float cell, float from_before)
{
    enum { MOST = 4 };
    find_receivers(n);
    /* Courses that cross may make circles, whose nodes keep donors. */
    for (int turn = 0; sum_areas(n, cell, from_before) < NODES_SIDE * NODES_SIDE; turn++)
        for (int p = NODES_FIRST; p < NODES_END; p++) {
            if (n->donors[p] > 0 && (turn >= MOST || is_mouth(n, p)))
                n->receiver[p] = NO_RECEIVER;
            else if (n->donors[p] > 0 && !reaches_mouth(n, p))
                leave_course(n, p);
        }
    cut_through(n);
}

/* MEAN, but at most BEFORE, and at least the height itself. */
static float mean_below(float height, float mean, float before)
{
    const float lower = mean < before ? mean : before;
    return lower > height ? lower : height;
}

void hydraulics_lower_mouths(struct nodes *n)
{
    for (int row = 0; row < NODES_SIDE; row++)
        for (int p = node_at(0, row), end = p + NODES_SIDE; p < end; p++) {
            const int q = node_receiver(n, p);
            if (n->kind[p] == NODE_COURSE && n->receiver[p] != NO_RECEIVER &&
                n->height[p] > NODES_TIDE &&
                (n->kind[q] == NODE_SEA || n->height[q] <= NODES_DROWNED)) {
                n->height[p] = n->mean[p] = NODES_TIDE;
                n->depth[p] = 0; /* no lake */
            }
        }
}

void hydraulics_mark_courses(struct nodes *n, float cell, bool builds)
{
    for (int k = 0; k < NODES_SIDE * NODES_SIDE; k++) {
        const int p = n->order[k], q = node_receiver(n, p);
        if (n->kind[p] == NODE_PLAIN && n->area[p] >= HYDRAULICS_COURSE * cell)
            n->kind[p] = NODE_COURSE;
        if (n->kind[p] == NODE_COURSE && n->kind[q] == NODE_PLAIN)
            n->kind[q] = NODE_COURSE;
        if (n->kind[p] == NODE_COURSE && builds && n->mean[p] < n->height[p])
            n->mean[p] = n->height[p];
        if (n->kind[q] != NODE_SEA && builds)
            n->mean[q] = mean_below(n->height[q], n->mean[q], n->mean[p]);
    }
}

/* --- Hollows --- */

void hydraulics_flood(struct nodes *n)
{
    static const float STEP = 0.01f; /* metres from node to node, so that filled hollows drain */
    enum { LAST = NODES_SIDE - 1 };
    struct heap heap = {n->heap, 0};
    int32_t *met = n->donors;
    for (int p = 0; p < NODES; p++)
        met[p] = 1;
    memcpy(n->height, n->upper, sizeof n->height);
    for (int row = 0; row < NODES_SIDE; row++)
        for (int column = 0; column < NODES_SIDE; column++) {
            const int p = node_at(column, row);
            const bool is_edge = row == 0 || column == 0 || row == LAST || column == LAST;
            met[p] = is_edge || n->kind[p] == NODE_SEA;
            if (met[p])
                push(&heap, heap_key(n->height[p], p));
        }
    while (heap.count > 0) {
        const int p = pop(&heap);
        const float least = n->height[p] + STEP;
        for (int k = 0; k < NEIGHBORS; k++) {
            const int q = p + neighbor_step[k];
            if (met[q])
                continue;
            met[q] = 1;
            n->height[q] = n->height[q] < least ? least : n->height[q];
            push(&heap, heap_key(n->height[q], q));
        }
    }
}

/* --- Soil --- */

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

void hydraulics_creep(struct nodes *n)
{
    /* The part of the way to the plane through the neighbors that a node moves in a step. */
    static const float FILL = 0.3f, WEAR = 0.1f;
    enum { STEPS = 6, LAST = NODES_SIDE - 1 };
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
    cut_through(n); /* where soil has filled a bed */
}
