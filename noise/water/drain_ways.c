/* Ways from node to node through nodes on the next level, and their beds. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "noise/exact/lattice.h"
#include "noise/water/drain_parts.h"

/*
 * A node's cell: the nodes on the next level that are nearer to it than to others in the
 * undisturbed lattices, relative to the node's place. Every node is in one cell.
 *
 * A way leads through the first node's cell, then through the last node's. There it joins the way
 * that begins in this cell, from any node by the same steps. So ways meet only in the cell that all
 * of them lead to, and then go on together.
 */
enum { CELL = DRAIN_RATIO * DRAIN_RATIO, CELL_FAR = 2 };
static const int cell[CELL][2] = {{1, -2}, {-1, -1}, {0, -1}, {1, -1}, {2, -1}, {-1, 0},
                                  {0, 0},  {1, 0},   {2, 0},  {-2, 1}, {-1, 1}, {0, 1},
                                  {1, 1},  {-2, 2},  {-1, 2}, {0, 2}};
/* For each node in a cell, a bit for each neighbor in the cell. */
static const unsigned cell_near[CELL] = {0x000c, 0x0024, 0x006b, 0x00d5, 0x0188, 0x0646,
                                         0x0cac, 0x1958, 0x1090, 0x2420, 0x6a60, 0xd4c0,
                                         0x8980, 0x4600, 0xac00, 0x5800};

_Static_assert(DRAIN_RATIO + CELL_FAR == DRAIN_WAY_REACH, "ways are in two cells");
_Static_assert(2 * CELL == DRAIN_WAY_MAX && CELL == (int)DRAIN_STEM_MAX, "ways have no node twice");

/* Nodes in a search: the cells of three nodes in a row, and the nodes around them. */
enum { REACH = 2 * DRAIN_RATIO + CELL_FAR + 1, BOX = 2 * REACH + 1 };

/* Hollows less deep than this are filled, and no gorge drains them. */
enum { FILLED = 25 * COURSE_METRE };

/* How often a bed is lowered to the next node's, which is lowered first. */
enum { LOWERINGS = 3 };

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

/* --- Least work --- */

/* A search for ways of least work to some nodes. Nodes are counted from (4 I, 4 J) on. */
struct search {
    int32_t plain;            /* work for a step on level ground */
    int32_t height[BOX][BOX]; /* in cells that were read */
    int32_t random[BOX][BOX]; /* work for a step to a node, from any side */
    int64_t work[BOX][BOX];   /* from a node on; NO_WAY: none is known */
    int8_t step[BOX][BOX];    /* to which neighbor */
};

/* All bytes are equal, so memset can write it. */
static const int64_t NO_WAY = 0x3f3f3f3f3f3f3f3f;

/* Begin a search on the level after LEVEL. On level 0 a step on level ground takes as much work as
 * a climb of 20 m, and half as much on each next level. */
static void begin(struct search *s, int level)
{
    s->plain = 20 * COURSE_METRE >> level;
    memset(s->work, 0x3f, sizeof s->work);
}

/* Read the heights in the cell around AT. A random part in the work makes courses wind on plains.
 */
static int read_cell(struct drain *d, int level, int64_t i, int64_t j, struct node at,
                     struct search *s)
{
    enum { WIDE = 2 * CELL_FAR + 1 };
    const int64_t column = DRAIN_RATIO * i + at.i, row = DRAIN_RATIO * j + at.j;
    const struct drain_range range = {column - CELL_FAR, row - CELL_FAR, WIDE, WIDE};
    int32_t height[WIDE][WIDE];
    const int err = drain_heights(d, level + 1, range, WIDE, height[0]);
    for (int t = 0; t < CELL && !err; t++) {
        const int a = cell[t][0], b = cell[t][1], c = at.i + a + REACH, r = at.j + b + REACH;
        const uint64_t key =
            lattice_mix((uint64_t)column + (uint64_t)a) + (uint64_t)row + (uint64_t)b;
        const int64_t random = (int64_t)(lattice_mix(key) >> 56);
        s->height[r][c] = height[b + CELL_FAR][a + CELL_FAR];
        s->random[r][c] = (int32_t)(s->plain / 8 + s->plain * random * random / 16384);
    }
    return err;
}

static void forget_cell(struct search *s, struct node at)
{
    for (int t = 0; t < CELL; t++)
        s->work[at.j + cell[t][1] + REACH][at.i + cell[t][0] + REACH] = NO_WAY;
}

/* Look for a shorter way from N over a neighbor. True if there is one. */
static bool relax(struct search *s, struct node n, int32_t base)
{
    const int c = n.i + REACH, r = n.j + REACH;
    const int32_t from = s->height[r][c];
    int64_t least = s->work[r][c];
    bool changes = false;
    for (int k = 0; k < DRAIN_NEIGHBORS; k++) {
        const int a = c + drain_neighbor[k][0], b = r + drain_neighbor[k][1];
        if (s->work[b][a] >= least)
            continue;
        const int32_t height = s->height[b][a];
        const int64_t climb = height > from ? height - from : 0;
        const int64_t above = height > base ? height - base : 0;
        const int64_t work = s->work[b][a] + s->random[b][a] + climb + above;
        if (work >= least)
            continue;
        least = work;
        s->step[r][c] = (int8_t)k;
        changes = true;
    }
    s->work[r][c] = least;
    return changes;
}

/* Find the least work from each node in the cell around AT to nodes whose work is 0, and the first
 * step: within the cell, or to nodes outside whose work is known. Climbing is dear, and so is
 * ground above BASE, so that the lower one of two ways is cheaper. */
static void search_cell(struct search *s, struct node at, int32_t base)
{
    unsigned stale = (1U << CELL) - 1; /* nodes whose neighbors may have become nearer */
    while (stale) {
        const int t = __builtin_ctz(stale);
        stale &= stale - 1;
        if (relax(s, (struct node){at.i + cell[t][0], at.j + cell[t][1]}, base))
            stale |= cell_near[t];
    }
}

/* --- Ways --- */

/* A line of nodes, with the step from each to the next one. */
struct line {
    int count;
    struct node node[DRAIN_WAY_MAX + 1];
    int8_t step[DRAIN_WAY_MAX + 1]; /* -1 at the end */
};

static bool is_in_cell(struct node n, struct node at)
{
    for (int t = 0; t < CELL; t++)
        if (n.i == at.i + cell[t][0] && n.j == at.j + cell[t][1])
            return true;
    return false;
}

/* Append steps to LINE from its last node on, until work is 0 or LINE leaves the cell around AT. */
static void append(const struct search *s, struct node at, struct line *line)
{
    struct node n = line->node[line->count];
    while (is_in_cell(n, at) && s->work[n.j + REACH][n.i + REACH] > 0) {
        const int8_t k = line->step[line->count++] = s->step[n.j + REACH][n.i + REACH];
        n = (struct node){n.i + drain_neighbor[k][0], n.j + drain_neighbor[k][1]};
        line->node[line->count] = n;
    }
    line->step[line->count] = -1;
}

/* A node on the level before, with a cell. (I, J) counts from the node where a way begins. */
struct place {
    int i, j;
    struct node at, stands; /* STANDS: the node in the cell that is nearest to NODE */
    struct course_node node;
};

/* Find the node (I, J) from (I0, J0) on LEVEL, and read its cell. */
static int find_place(struct drain *d, int level, int64_t i0, int64_t j0, int i, int j,
                      struct search *s, struct place *p)
{
    int64_t column, row;
    int err = drain_node(d, level, i0 + i, j0 + j, &p->node);
    if (err)
        return err;
    p->i = i;
    p->j = j;
    p->at = (struct node){DRAIN_RATIO * i, DRAIN_RATIO * j};
    drain_nearest(d, level + 1, p->node.x, p->node.y, &column, &row);
    p->stands = (struct node){(int)(column - DRAIN_RATIO * i0), (int)(row - DRAIN_RATIO * j0)};
    return read_cell(d, level, i0, j0, p->at, s);
}

/* The place that FROM flows to. */
static int find_next(struct drain *d, int level, int64_t i0, int64_t j0, const struct place *from,
                     struct search *s, struct place *p)
{
    const int *step = drain_neighbor[from->node.next];
    return find_place(d, level, i0, j0, from->i + step[0], from->j + step[1], s, p);
}

/* The stem of the way from FROM to TO: the nodes in FROM's cell, and the first one after them. The
 * stem depends on FROM and TO alone, not on ways that join it, so every search finds the same one.
 */
static void find_stem(struct search *s, const struct place *from, const struct place *to,
                      struct line *line)
{
    line->count = 0;
    line->node[0] = from->stands;
    s->work[to->stands.j + REACH][to->stands.i + REACH] = 0;
    search_cell(s, to->at, to->node.ground);
    search_cell(s, from->at, to->node.ground);
    append(s, from->at, line);
    forget_cell(s, to->at);
    forget_cell(s, from->at);
}

static void keep_stem(struct drain_stem *kept, int64_t i, int64_t j, struct node at,
                      const struct line *line)
{
    kept->full = true;
    kept->i = i;
    kept->j = j;
    kept->count = (uint8_t)line->count;
    for (int t = 0; t <= line->count; t++) {
        kept->column[t] = (int8_t)(line->node[t].i - at.i);
        kept->row[t] = (int8_t)(line->node[t].j - at.j);
        kept->step[t] = line->step[t];
    }
}

/* The stem from FROM, which flows, counted from (4 I0, 4 J0) on. TO is the place that FROM flows
 * to; NULL: not read yet. */
static int stem_of(struct drain *d, int level, int64_t i0, int64_t j0, const struct place *from,
                   const struct place *to, struct search *s, struct line *line)
{
    const int64_t i = i0 + from->i, j = j0 + from->j;
    struct drain_stem *kept = &d->level[level].stem[drain_slot(i, j, DRAIN_WAYS_SIDE)];
    struct place next;
    if (!kept->full || kept->i != i || kept->j != j) {
        const int err = to ? 0 : find_next(d, level, i0, j0, from, s, &next);
        if (err)
            return err;
        find_stem(s, from, to ? to : &next, line);
        keep_stem(kept, i, j, from->at, line);
        return 0;
    }
    line->count = kept->count;
    for (int t = 0; t <= kept->count; t++) {
        line->node[t] = (struct node){from->at.i + kept->column[t], from->at.j + kept->row[t]};
        line->step[t] = kept->step[t];
    }
    return 0;
}

/* Find the nodes of the way from FROM, node (I, J) on LEVEL. *JOINS: the last node is on the next
 * node's way, or in an end lake. */
static int find_nodes(struct drain *d, int level, int64_t i, int64_t j, const struct place *from,
                      struct search *s, struct line *line, bool *joins)
{
    struct place to;
    struct line stem = {.count = 0};
    *joins = false;
    line->count = 0;
    line->node[0] = from->stands;
    line->step[0] = -1;
    if (from->node.kind == COURSE_END)
        return 0;
    int err = find_next(d, level, i, j, from, s, &to);
    if (err)
        return err;
    stem.node[0] = to.stands;
    if (to.node.kind == COURSE_FLOWS)
        err = stem_of(d, level, i, j, &to, NULL, s, &stem);
    if (!err)
        err = stem_of(d, level, i, j, from, &to, s, line);
    if (err)
        return err;
    /* The part of the stem from the sea on is no course. */
    bool is_sea = false;
    for (int t = 0; t <= stem.count && !is_sea && is_in_cell(stem.node[t], to.at); t++) {
        const int c = stem.node[t].i + REACH, r = stem.node[t].j + REACH;
        s->work[r][c] = 0;
        is_sea = s->height[r][c] <= 0;
    }
    search_cell(s, to.at, to.node.ground);
    append(s, to.at, line);
    *joins = to.node.kind != COURSE_SEA;
    return 0;
}

static struct drain_way *slot_of(struct drain *d, int level, int64_t i, int64_t j)
{
    return &d->level[level].way[drain_slot(i, j, DRAIN_WAYS_SIDE)];
}

/* The way from node (I, J) on LEVEL, without beds. */
static int find_way(struct drain *d, int level, int64_t i, int64_t j, const struct drain_way **out)
{
    struct drain_way *way = slot_of(d, level, i, j);
    struct place from;
    struct line line;
    struct search s;
    bool joins = false;
    *out = way;
    if (way->full && way->i == i && way->j == j)
        return 0;
    int err = drain_node(d, level, i, j, &from.node);
    const bool is_land = from.node.kind != COURSE_SEA;
    if (!err && is_land) {
        begin(&s, level);
        err = find_place(d, level, i, j, 0, 0, &s, &from);
    }
    if (!err && is_land)
        err = find_nodes(d, level, i, j, &from, &s, &line, &joins);
    if (err)
        return err;
    way->full = true;
    way->has_beds = false;
    way->i = i;
    way->j = j;
    way->birth = from.node.birth;
    way->count = 0;
    way->low = INT32_MAX;
    for (int t = 0; is_land && t <= line.count; t++) {
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

/* The lowest ground on the ways that arrive at node (I, J) on LEVEL, or the node's bed if that is
 * lower. */
static int arriving_low(struct drain *d, int level, int64_t i, int64_t j, int32_t *low,
                        bool *is_source)
{
    struct course_node near[9];
    int err = drain_nodes(d, level, i - 1, j - 1, 3, 3, near);
    *low = near[4].bed;
    *is_source = true;
    for (int k = 0; k < DRAIN_NEIGHBORS && !err; k++) {
        const int a = drain_neighbor[k][0], b = drain_neighbor[k][1];
        const struct course_node *m = &near[(b + 1) * 3 + a + 1];
        const struct drain_way *way;
        if (m->kind != COURSE_FLOWS || m->next != (k + 3) % DRAIN_NEIGHBORS)
            continue;
        *is_source = false;
        err = find_way(d, level, i + a, j + b, &way);
        if (!err && way->low + FILLED < *low)
            *low = way->low + FILLED;
    }
    return err;
}

/* The bed at node (I, J) on LEVEL, lowered to the lowest ground on the ways that arrive, so that no
 * water is dammed up. But never below the next node's bed, which is lowered one time less.
 */
static int lowered_bed(struct drain *d, int level, int64_t i, int64_t j, int lowerings,
                       int32_t *out, bool *is_source)
{
    struct course_node n;
    int32_t low = 0, least = 0;
    bool unused;
    int err = drain_node(d, level, i, j, &n);
    *is_source = false;
    *out = n.bed;
    if (err || n.kind == COURSE_SEA || lowerings == 0)
        return err;
    err = arriving_low(d, level, i, j, &low, is_source);
    if (err || low >= n.bed)
        return err;
    if (n.kind == COURSE_FLOWS)
        err = lowered_bed(d, level, i + drain_neighbor[n.next][0], j + drain_neighbor[n.next][1],
                          lowerings - 1, &least, &unused);
    least += d->level[level].drop;
    low = low < least ? least : low;
    *out = low < n.bed ? low : n.bed;
    return err;
}

/* Set WAY's lengths, from FROM to TO. They grow up to TO's length, like those of other ways that
 * join there. A course begins with COURSE_LENGTH on the last level, and on others with the length
 * of what flows to it from beside, see drain.c. */
static void find_lengths(const struct drain *d, int level, const struct course_node *from,
                         const struct course_node *to, bool is_source, struct drain_way *way)
{
    const bool is_last = level + 2 == d->shape.levels;
    const int32_t whole = DRAIN_RATIO * from->length;
    const int32_t most = to->kind == COURSE_SEA ? INT32_MAX : DRAIN_RATIO * to->length;
    const int32_t begin = is_last ? COURSE_LENGTH : DRAIN_BESIDE * COURSE_LENGTH;
    const int32_t first = is_source && begin < whole ? begin : whole;
    const int32_t last = is_source ? whole : whole + DRAIN_RATIO * COURSE_LENGTH;
    for (int t = 0; t < way->count; t++)
        way->length[t] = smaller(first + (last - first) * t / way->count, most);
}

int drain_way(struct drain *d, int level, int64_t i, int64_t j, const struct drain_way **out)
{
    struct course_node from, to = {.kind = COURSE_SEA};
    int32_t bed = 0, end = 0;
    bool is_source = false, unused;
    int err = find_way(d, level, i, j, out);
    if (err || (*out)->has_beds || (*out)->count == 0)
        return err;
    err = drain_node(d, level, i, j, &from);
    if (!err)
        err = lowered_bed(d, level, i, j, LOWERINGS, &bed, &is_source);
    if (!err && from.kind == COURSE_FLOWS) {
        const int64_t a = i + drain_neighbor[from.next][0], b = j + drain_neighbor[from.next][1];
        err = drain_node(d, level, a, b, &to);
        if (!err)
            err = lowered_bed(d, level, a, b, LOWERINGS, &end, &unused);
    }
    if (!err)
        err = find_way(d, level, i, j, out); /* another way may have taken the slot */
    if (err)
        return err;
    struct drain_way *way = slot_of(d, level, i, j);
    const int32_t drop = d->level[level + 1].drop;
    find_lengths(d, level, &from, &to, is_source, way);
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
    }
    way->has_beds = true;
    return 0;
}
