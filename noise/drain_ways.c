/* Ways from node to node through the nodes of the next level, and their beds. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "drain_parts.h"
#include "lattice.h"

/* Nodes around the one that a way begins at. */
enum { REACH = DRAIN_WAY_REACH, BOX = 2 * REACH + 1, MARGIN = 2, UNKNOWN = INT32_MAX };

/* Hollows less deep than this are filled: no gorge drains them. */
enum { FILLED = 25 * DRAIN_METRE };

/* How often a bed is lowered to that of the next node, which is lowered, too. */
enum { LOWERINGS = 3 };

/* Steps of a search; a way has those of one and a half. */
enum { MOST_STEPS = 16 };
_Static_assert(MOST_STEPS * 3 / 2 < DRAIN_WAY_MAX, "ways have room");

struct node {
    int i, j;
};

static int smaller(int a, int b)
{
    return a < b ? a : b;
}

static int greater(int a, int b)
{
    return a > b ? a : b;
}

static struct node neighbour(struct node n, int k)
{
    return (struct node){n.i + drain_neighbour[k][0], n.j + drain_neighbour[k][1]};
}

static bool same(struct node a, struct node b)
{
    return a.i == b.i && a.j == b.j;
}

static int square(struct node a, struct node b)
{
    return drain_square(a.i - b.i, a.j - b.j);
}

/* --- Least work --- */

/* The search for a way. Its steps lead nearer to the end, so there are no loops to try. A shortest
 * way always exists: within the rectangle of both ends there is a step that leads nearer. */
struct search {
    struct node from, to;
    bool shortest;            /* all steps take the same work */
    int32_t base;             /* height at the end */
    int32_t plain;            /* work of a step on level ground */
    uint64_t column, row;     /* of node (0, 0) on its level */
    int32_t height[BOX][BOX]; /* UNKNOWN: do not go there */
    int64_t work[BOX][BOX];   /* from here on; 0: not known yet */
    int8_t step[BOX][BOX];    /* of the way; -1: there is none */
    int8_t steps[BOX][BOX];   /* of the way, how many */
};

static const int64_t NO_WAY = INT64_MAX / 2;

/* Work of a step from height FROM to N: a random part makes courses wind on plains, climbing is
 * dear, and of two ways the lower one is cheaper. It depends on where the way leads, not on where
 * it comes from: so ways to the same node that meet go on together. */
static int64_t work_of_step(const struct search *s, int32_t from, struct node n, int32_t height)
{
    if (s->shortest)
        return 1;
    const uint64_t key = lattice_mix(s->column + (uint64_t)n.i) + s->row + (uint64_t)n.j;
    const int64_t random = (int64_t)(lattice_mix(key) >> 56);
    const int64_t climb = height > from ? height - from : 0;
    const int64_t above = height > s->base ? height - s->base : 0;
    return s->plain / 8 + s->plain * random * random / 16384 + climb + above / 4;
}

static int64_t search(struct search *s, struct node n)
{
    int64_t *least = &s->work[n.j + REACH][n.i + REACH];
    int8_t *step = &s->step[n.j + REACH][n.i + REACH];
    if (same(n, s->to))
        return s->steps[n.j + REACH][n.i + REACH] = 0;
    if (*least != 0)
        return *least;
    *least = NO_WAY;
    *step = -1;
    for (int k = 0; k < DRAIN_NEIGHBOURS; k++) {
        const struct node m = neighbour(n, k);
        if (abs(m.i) > REACH || abs(m.j) > REACH || square(m, s->to) >= square(n, s->to))
            continue;
        const int32_t height = s->height[m.j + REACH][m.i + REACH];
        if (height == UNKNOWN)
            continue;
        const int64_t work =
            search(s, m) + work_of_step(s, s->height[n.j + REACH][n.i + REACH], m, height);
        const int8_t steps = s->steps[m.j + REACH][m.i + REACH];
        if (work < *least && steps < MOST_STEPS) {
            *least = work;
            *step = (int8_t)k;
            s->steps[n.j + REACH][n.i + REACH] = (int8_t)(steps + 1);
        }
    }
    return *least;
}

/* Nodes, and the last one. */
struct line {
    int count;
    struct node node[DRAIN_WAY_MAX];
    int8_t step[DRAIN_WAY_MAX];
};

/* Append the steps of S, which found a way, to LINE. */
static void append(const struct search *s, struct line *line)
{
    struct node n = s->from;
    for (; !same(n, s->to); n = neighbour(n, line->step[line->count++])) {
        line->node[line->count] = n;
        line->step[line->count] = s->step[n.j + REACH][n.i + REACH];
    }
    line->node[line->count] = n;
    line->step[line->count] = -1;
}

/* --- Ways --- */

/* Work of a step on level ground: 20 m on level 0, half as much on each of the next. */
static int32_t plain_work(int level)
{
    return 20 * DRAIN_METRE >> level;
}

/* The heights around LINE, MARGIN nodes more on each side, into S. */
static int read_heights(struct drain *d, int level, int64_t i, int64_t j, const struct node *node,
                        int count, struct search *s)
{
    int left = REACH, right = -REACH, top = REACH, bottom = -REACH;
    for (int t = 0; t < count; t++) {
        left = smaller(left, node[t].i - MARGIN);
        right = greater(right, node[t].i + MARGIN);
        top = smaller(top, node[t].j - MARGIN);
        bottom = greater(bottom, node[t].j + MARGIN);
    }
    left = greater(left, -REACH);
    top = greater(top, -REACH);
    right = smaller(right, REACH);
    bottom = smaller(bottom, REACH);
    for (int r = 0; r < BOX; r++)
        for (int c = 0; c < BOX; c++)
            s->height[r][c] = UNKNOWN;
    const struct drain_range range = {DRAIN_RATIO * i + left, DRAIN_RATIO * j + top,
                                      right - left + 1, bottom - top + 1};
    return drain_heights(d, level + 1, range, BOX, &s->height[top + REACH][left + REACH]);
}

static void begin_search(struct search *s, struct node from, struct node to)
{
    s->from = from;
    s->to = to;
    memset(s->work, 0, sizeof s->work);
}

/* The node of the next level that stands for NODE, from (4 I, 4 J) on. */
static struct node stand_in(const struct drain *d, int level, const struct drain_node *node,
                            int64_t i, int64_t j)
{
    int64_t column, row;
    drain_nearest(d, level + 1, node->x, node->y, &column, &row);
    return (struct node){(int)(column - DRAIN_RATIO * i), (int)(row - DRAIN_RATIO * j)};
}

/* The way of least work from NODE, (I, J) of LEVEL, to NEXT, whatever others do. */
static int find_line(struct drain *d, int level, int64_t i, int64_t j,
                     const struct drain_node *node, const struct drain_node *next, struct search *s,
                     struct line *line)
{
    const struct node ends[2] = {stand_in(d, level, node, i, j), stand_in(d, level, next, i, j)};
    s->base = next->ground;
    s->plain = plain_work(level);
    s->column = (uint64_t)i * DRAIN_RATIO;
    s->row = (uint64_t)j * DRAIN_RATIO;
    const int err = read_heights(d, level, i, j, ends, 2, s);
    if (err)
        return err;
    /* If need be the shortest way. */
    for (int attempt = 0; attempt < 2; attempt++) {
        s->shortest = attempt == 1;
        begin_search(s, ends[0], ends[1]);
        if (search(s, s->from) < NO_WAY)
            break;
    }
    s->shortest = false;
    assert(s->step[ends[0].j + REACH][ends[0].i + REACH] >= 0);
    line->count = 0;
    append(s, line);
    return 0;
}

/* Let the way LINE of node (I, J) join the next one, AHEAD, where the least work leads from its
 * middle: in the first half of AHEAD, which stays as it is when AHEAD itself joins another. So not
 * all ways to a node meet at one point. */
static int join(struct drain *d, int level, int64_t i, int64_t j, const struct line *ahead,
                struct search *s, struct line *line)
{
    const int half = (line->count + 1) / 2, places = ahead->count / 2 + 1;
    struct node corners[DRAIN_WAY_MAX];
    memcpy(corners, ahead->node, (size_t)places * sizeof *corners);
    corners[places] = line->node[half];
    s->column = (uint64_t)i * DRAIN_RATIO;
    s->row = (uint64_t)j * DRAIN_RATIO;
    const int err = read_heights(d, level, i, j, corners, places + 1, s);
    if (err)
        return err;
    int64_t least = NO_WAY;
    int best = 0;
    bool sea = false;
    for (int t = 0; t < places && !sea; t++) {
        if (abs(ahead->node[t].i) > REACH || abs(ahead->node[t].j) > REACH)
            continue;
        /* Then it ends. */
        sea = s->height[ahead->node[t].j + REACH][ahead->node[t].i + REACH] <= 0;
        begin_search(s, line->node[half], ahead->node[t]);
        const int64_t work = search(s, s->from);
        if (work < least) {
            least = work;
            best = t;
        }
    }
    if (least == NO_WAY)
        return 0;
    begin_search(s, line->node[half], ahead->node[best]);
    search(s, s->from);
    line->count = half;
    append(s, line);
    return 0;
}

static struct drain_way *slot_of(struct drain *d, int level, int64_t i, int64_t j)
{
    return &d->level[level].way[drain_slot(i, j, DRAIN_WAYS)];
}

/* The nodes of the way from (I, J) into LINE. *JOINS: the last one is on another way. */
static int find_nodes(struct drain *d, int level, int64_t i, int64_t j,
                      const struct drain_node *from, struct search *s, struct line *line,
                      bool *joins)
{
    struct drain_node to, after;
    *joins = false;
    if (from->kind == DRAIN_END) {
        line->count = 0;
        line->node[0] = stand_in(d, level, from, i, j);
        line->step[0] = -1;
        return read_heights(d, level, i, j, line->node, 1, s);
    }
    const int a = drain_neighbour[from->next][0], b = drain_neighbour[from->next][1];
    int err = drain_node(d, level, i + a, j + b, &to);
    if (!err)
        err = find_line(d, level, i, j, from, &to, s, line);
    if (err || to.kind == DRAIN_SEA)
        return err;
    *joins = true;
    if (to.kind == DRAIN_END)
        return 0;
    struct line ahead = {.count = 0};
    const int64_t c = drain_neighbour[to.next][0], e = drain_neighbour[to.next][1];
    err = drain_node(d, level, i + a + c, j + b + e, &after);
    if (!err)
        err = find_line(d, level, i + a, j + b, &to, &after, s, &ahead);
    for (int t = 0; t <= ahead.count && !err; t++) {
        ahead.node[t].i += DRAIN_RATIO * a;
        ahead.node[t].j += DRAIN_RATIO * b;
    }
    s->base = to.ground;
    return err ? err : join(d, level, i, j, &ahead, s, line);
}

/* The way from node (I, J) of LEVEL without beds. */
static int find_way(struct drain *d, int level, int64_t i, int64_t j, const struct drain_way **out)
{
    struct drain_way *way = slot_of(d, level, i, j);
    struct drain_node from;
    struct line line = {.count = 0};
    struct search s;
    bool joins = false;
    *out = way;
    if (way->full && way->i == i && way->j == j)
        return 0;
    int err = drain_node(d, level, i, j, &from);
    if (!err && from.kind != DRAIN_SEA)
        err = find_nodes(d, level, i, j, &from, &s, &line, &joins);
    if (!err && from.kind != DRAIN_SEA)
        err = read_heights(d, level, i, j, line.node, line.count + 1, &s);
    if (err)
        return err;
    way->full = true;
    way->has_beds = false;
    way->i = i;
    way->j = j;
    way->birth = from.birth;
    way->count = 0;
    way->low = INT32_MAX;
    for (int t = 0; from.kind != DRAIN_SEA && t <= line.count; t++) {
        const struct node n = line.node[t];
        const int32_t ground = s.height[n.j + REACH][n.i + REACH];
        way->low = ground < way->low ? ground : way->low;
        if (ground <= 0 || (t == line.count && joins))
            break;
        way->column[t] = (int8_t)n.i;
        way->row[t] = (int8_t)n.j;
        way->next[t] = line.step[t];
        way->ground[t] = ground;
        way->count++;
    }
    return 0;
}

/* --- Beds --- */

/* The lowest ground of the ways that arrive at node (I, J) of LEVEL, or its bed if that is lower.
 */
static int arriving_low(struct drain *d, int level, int64_t i, int64_t j, int32_t *low,
                        bool *is_source)
{
    struct drain_node near[9];
    int err = drain_nodes(d, level, i - 1, j - 1, 3, 3, near);
    *low = near[4].bed;
    *is_source = true;
    for (int k = 0; k < DRAIN_NEIGHBOURS && !err; k++) {
        const int a = drain_neighbour[k][0], b = drain_neighbour[k][1];
        const struct drain_node *m = &near[(b + 1) * 3 + a + 1];
        const struct drain_way *way;
        if (m->kind != DRAIN_FLOWS || m->next != (k + 3) % DRAIN_NEIGHBOURS)
            continue;
        *is_source = false;
        err = find_way(d, level, i + a, j + b, &way);
        if (!err && way->low + FILLED < *low)
            *low = way->low + FILLED;
    }
    return err;
}

/* The bed of node (I, J) of LEVEL, lowered to the lowest ground of the ways that arrive, so that
 * these are not dammed up; but not below that of the next node, which is lowered once less. */
static int lowered_bed(struct drain *d, int level, int64_t i, int64_t j, int lowerings,
                       int32_t *out, bool *is_source)
{
    struct drain_node n;
    int32_t low = 0, least = 0;
    bool unused;
    int err = drain_node(d, level, i, j, &n);
    *is_source = false;
    *out = n.bed;
    if (err || n.kind == DRAIN_SEA || lowerings == 0)
        return err;
    err = arriving_low(d, level, i, j, &low, is_source);
    if (err || low >= n.bed)
        return err;
    if (n.kind == DRAIN_FLOWS)
        err = lowered_bed(d, level, i + drain_neighbour[n.next][0], j + drain_neighbour[n.next][1],
                          lowerings - 1, &least, &unused);
    least += d->level[level].drop;
    low = low < least ? least : low;
    *out = low < n.bed ? low : n.bed;
    return err;
}

int drain_way(struct drain *d, int level, int64_t i, int64_t j, const struct drain_way **out)
{
    struct drain_node from;
    int32_t bed = 0, end = 0;
    bool is_source = false, unused;
    int err = find_way(d, level, i, j, out);
    if (err || (*out)->has_beds || (*out)->count == 0)
        return err;
    err = drain_node(d, level, i, j, &from);
    if (!err)
        err = lowered_bed(d, level, i, j, LOWERINGS, &bed, &is_source);
    if (!err && from.kind == DRAIN_FLOWS)
        err = lowered_bed(d, level, i + drain_neighbour[from.next][0],
                          j + drain_neighbour[from.next][1], LOWERINGS, &end, &unused);
    if (!err)
        err = find_way(d, level, i, j, out); /* it may have been displaced */
    if (err)
        return err;
    struct drain_way *way = slot_of(d, level, i, j);
    const int32_t drop = d->level[level + 1].drop;
    const int32_t last = DRAIN_RATIO * from.length, first = is_source ? DRAIN_LENGTH : last;
    /* A course begins on the ground, not in a gorge. */
    if (is_source && way->ground[0] > bed)
        bed = way->ground[0];
    for (int t = 0; t < way->count; t++) {
        if (t > 0) {
            const int32_t least = end + drop * (way->count - t);
            bed = smaller(bed - drop, way->ground[t]);
            bed = greater(bed, least);
        }
        way->bed[t] = bed;
        way->length[t] = is_source ? first + (last - first) * t / way->count
                                   : last + DRAIN_RATIO * DRAIN_LENGTH * t / way->count;
    }
    way->has_beds = true;
    return 0;
}
