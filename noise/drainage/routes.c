#include "noise/drainage/routes.h"

#include <string.h>

#include "noise/exact/arithmetic.h"

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

void routes_cut_through(struct nodes *n)
{
    for (int k = 0; k < NODES_SIDE * NODES_SIDE; k++) {
        const int p = n->order[k], q = node_receiver(n, p);
        n->height[q] =
            n->height[q] > n->height[p] && n->kind[q] != NODE_SEA ? n->height[p] : n->height[q];
    }
}

static bool is_inside(int p)
{
    return !is_rim(p, 0);
}

/* Whether water ends at P: at the base, which fills ground below it, or beyond the block. */
static bool is_mouth(const struct nodes *n, int p)
{
    return n->kind[p] == NODE_SEA || n->height[p] <= n->base + NODES_DROWNED || is_rim(p, 1);
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

void routes_find(struct nodes *n, float cell, float from_before)
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
    routes_cut_through(n);
}

/* MEAN, but at most BEFORE, and at least the height itself. */
static float mean_below(float height, float mean, float before)
{
    const float lower = mean < before ? mean : before;
    return lower > height ? lower : height;
}

void routes_lower_mouths(struct nodes *n)
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

void routes_mark_courses(struct nodes *n, float cell, bool builds)
{
    for (int k = 0; k < NODES_SIDE * NODES_SIDE; k++) {
        const int p = n->order[k], q = node_receiver(n, p);
        if (n->kind[p] == NODE_PLAIN && n->area[p] >= ROUTES_COURSE * cell)
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

void routes_flood(struct nodes *n)
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
