/* Which way water flows: the levels of a drainage. */
#include "drain.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "noise/exact/lattice.h"
#include "noise/water/drain_parts.h"

const int drain_neighbor[DRAIN_NEIGHBORS][2] = {{1, 0}, {0, 1}, {-1, 1}, {-1, 0}, {0, -1}, {1, -1}};

enum {
    SIDE = DRAIN_SIDE,
    HOPS = 3, /* how far from a way water still flows to it */
};
_Static_assert(HOPS < (int)DRAIN_BESIDE, "what flows to a course is no longer than it");

/* A block with the nodes that may flow to it in CHAIN - 1 steps, and their neighbors. */
enum { CHAIN = 4, AROUND = CHAIN + 1, BROAD = SIDE + 2 * AROUND };

/* A block with the nodes around it that water may pass on the way out. */
enum { EDGE = HOPS + 1, WINDOW = SIDE + 2 * EDGE, NO_COURSE = INT32_MAX };

struct window {
    int64_t i, j;            /* the first node */
    struct drain_range seen; /* nodes on the level before whose ways are marked */
    int32_t ground[WINDOW][WINDOW];
    int32_t bed[WINDOW][WINDOW]; /* on courses; elsewhere once it is known */
    int32_t length[WINDOW][WINDOW];
    int8_t next[WINDOW][WINDOW];
    uint8_t birth[WINDOW][WINDOW];
    bool is_course[WINDOW][WINDOW];
};

/* Memory for making a block. Not on the stack, which is short. */
union drain_work {
    struct course_node broad[BROAD][BROAD]; /* for the broadest level */
    struct window window;
};

/* By which power of two ground cells are finer than nodes, LEFT levels before the last one. On the
 * last level they are as wide as nodes are apart, because the ground is to be smooth there. */
static int finer_cells(int left, int level)
{
    return left < 2 ? left : 1 + (level == 0);
}

int drain_new(struct drain **out, const struct drain_shape *shape, drain_ground *ground,
              void *context)
{
    struct drain *d = calloc(1, sizeof *d);
    if (!d)
        return -ENOMEM;
    d->shape = *shape;
    d->ground = ground;
    d->context = context;
    int64_t spacing = shape->spacing;
    for (int k = 0; k < shape->levels; k++, spacing /= DRAIN_RATIO) {
        struct drain_level *l = &d->level[k];
        l->spacing = spacing;
        while (INT64_C(2) << l->bits <= spacing)
            l->bits++;
        assert(INT64_C(1) << l->bits == spacing);
        l->cell_bits = l->bits - finer_cells(shape->levels - 1 - k, k);
        l->tile = calloc(DRAIN_TILES_SIDE * DRAIN_TILES_SIDE, sizeof *l->tile);
        l->places = calloc(DRAIN_BLOCKS_SIDE * DRAIN_BLOCKS_SIDE, sizeof *l->places);
        l->beds = calloc(DRAIN_BLOCKS_SIDE * DRAIN_BLOCKS_SIDE, sizeof *l->beds);
        l->way = calloc(DRAIN_WAYS_SIDE * DRAIN_WAYS_SIDE, sizeof *l->way);
        l->stem = calloc(DRAIN_WAYS_SIDE * DRAIN_WAYS_SIDE, sizeof *l->stem);
        l->work = malloc(sizeof *l->work);
        if (!l->tile || !l->places || !l->beds || !l->way || !l->stem || !l->work) {
            drain_free(d);
            return -ENOMEM;
        }
    }
    /* More than a way has nodes, so that each of them can lie below the one before. */
    for (int k = shape->levels - 1, drop = 1; k >= 0; k--, drop *= DRAIN_WAY_MAX)
        d->level[k].drop = drop;
    *out = d;
    return 0;
}

void drain_free(struct drain *drain)
{
    for (int k = 0; drain && k < drain->shape.levels; k++) {
        free(drain->level[k].tile);
        free(drain->level[k].places);
        free(drain->level[k].beds);
        free(drain->level[k].way);
        free(drain->level[k].stem);
        free(drain->level[k].work);
    }
    free(drain);
}

void drain_nearest(const struct drain *drain, int level, int64_t x, int64_t y, int64_t *i,
                   int64_t *j)
{
    const int64_t s = drain->level[level].spacing, half = s / 2, row = lattice_floor(y, s);
    double least = INFINITY;
    for (int64_t b = row; b <= row + 1; b++) {
        const int64_t column = lattice_floor(x - half * b, s);
        for (int64_t a = column; a <= column + 1; a++) {
            const double dx = (double)(x - s * a - half * b), dy = (double)(y - s * b);
            if (dx * dx + dy * dy < least) {
                least = dx * dx + dy * dy;
                *i = a;
                *j = b;
            }
        }
    }
}

/* --- The broadest level --- */

/* Find where N flows, a node on level 0 in a window BROAD nodes wide. */
static int flow_broadly(struct drain *d, const struct course_node *n, int8_t *next)
{
    int64_t lowest = INT64_MAX;
    *next = -1;
    if (n->ground <= 0)
        return 0;
    for (int k = 0; k < DRAIN_NEIGHBORS; k++) {
        const struct course_node *m = n + drain_neighbor[k][1] * BROAD + drain_neighbor[k][0];
        int32_t pass;
        if (m->ground > n->ground - d->level[0].drop)
            continue;
        const int err = drain_pass(d, n, m, &pass);
        if (err)
            return err;
        /* Of equally high passes, take the one to lower ground. */
        const int64_t over = (int64_t)(pass > n->ground ? pass : n->ground) + m->ground / 4;
        if (over < lowest) {
            lowest = over;
            *next = (int8_t)k;
        }
    }
    return 0;
}

/* Fill N with the places and grounds of nodes on level 0, from (I, J) on. */
static int place_broadly(struct drain *d, int64_t i, int64_t j, struct course_node n[BROAD][BROAD])
{
    for (int64_t b = lattice_floor(j, SIDE); b * SIDE < j + BROAD; b++)
        for (int64_t a = lattice_floor(i, SIDE); a * SIDE < i + BROAD; a++) {
            const struct drain_places *p;
            const int err = drain_places(d, 0, a, b, &p);
            if (err)
                return err;
            for (int r = 0; r < SIDE; r++)
                for (int c = 0; c < SIDE; c++) {
                    const int64_t x = a * SIDE + c - i, y = b * SIDE + r - j;
                    if (x >= 0 && x < BROAD && y >= 0 && y < BROAD)
                        n[y][x] = (struct course_node){.x = p->x[r][c],
                                                       .y = p->y[r][c],
                                                       .ground = p->height[r][c],
                                                       .next = -1};
                }
        }
    return 0;
}

/* Count the nodes in the longest chain that arrives at each node of N, at most CHAIN. */
static void count_chains(struct course_node n[BROAD][BROAD])
{
    int32_t before[BROAD][BROAD];
    for (int t = 0; t < CHAIN; t++) {
        for (int j = 0; j < BROAD; j++)
            for (int i = 0; i < BROAD; i++)
                before[j][i] = n[j][i].length;
        for (int j = 1; j < BROAD - 1; j++)
            for (int i = 1; i < BROAD - 1; i++) {
                int32_t longest = 0;
                for (int k = 0; k < DRAIN_NEIGHBORS; k++) {
                    const int a = i + drain_neighbor[k][0], b = j + drain_neighbor[k][1];
                    if (n[b][a].next == (k + 3) % DRAIN_NEIGHBORS && before[b][a] > longest)
                        longest = before[b][a];
                }
                n[j][i].length = longest + COURSE_LENGTH;
            }
    }
}

static int make_broadest(struct drain *d, int64_t bi, int64_t bj, struct drain_beds *out)
{
    struct course_node(*n)[BROAD] = d->level[0].work->broad;
    memset(n, 0, sizeof d->level[0].work->broad);
    int err = place_broadly(d, bi * SIDE - AROUND, bj * SIDE - AROUND, n);
    for (int j = 1; j < BROAD - 1; j++)
        for (int i = 1; i < BROAD - 1 && !err; i++)
            err = flow_broadly(d, &n[j][i], &n[j][i].next);
    if (err)
        return err;
    count_chains(n);
    const int32_t least = d->level[0].drop;
    for (int j = 0; j < SIDE; j++)
        for (int i = 0; i < SIDE; i++) {
            const struct course_node *from = &n[j + AROUND][i + AROUND];
            const bool sea = from->ground <= 0;
            out->next[j][i] = from->next;
            out->kind[j][i] = sea ? COURSE_SEA : from->next < 0 ? COURSE_END : COURSE_FLOWS;
            out->bed[j][i] = sea ? 0 : from->ground > least ? from->ground : least;
            out->length[j][i] = from->length;
            out->birth[j][i] = 0;
        }
    return 0;
}

/* --- The other levels --- */

/* Mark the nodes of WAY in W. Ways that meet go on together (drain_ways.c). */
static void mark_way(const struct drain_way *way, struct window *w)
{
    for (int t = 0; t < way->count; t++) {
        const int64_t i = DRAIN_RATIO * way->i + way->column[t] - w->i,
                      j = DRAIN_RATIO * way->j + way->row[t] - w->j;
        if (i < 0 || j < 0 || i >= WINDOW || j >= WINDOW)
            continue;
        const bool met = w->is_course[j][i];
        if (!met || way->birth < w->birth[j][i])
            w->birth[j][i] = way->birth;
        if (!met || way->length[t] > w->length[j][i])
            w->length[j][i] = way->length[t];
        if (!met || way->bed[t] < w->bed[j][i])
            w->bed[j][i] = way->bed[t];
        w->is_course[j][i] = true;
        w->next[j][i] = way->next[t];
    }
}

/* Mark all ways that may pass nodes (I, J) to (I2, J2). */
static int mark_ways(struct drain *d, int level, int64_t i, int64_t j, int64_t i2, int64_t j2,
                     struct window *w)
{
    const int reach = DRAIN_WAY_REACH;
    const int64_t left = -lattice_floor(reach - i, DRAIN_RATIO),
                  right = lattice_floor(i2 + reach, DRAIN_RATIO);
    const int64_t top = -lattice_floor(reach - j, DRAIN_RATIO),
                  bottom = lattice_floor(j2 + reach, DRAIN_RATIO);
    for (int64_t b = top; b <= bottom; b++)
        for (int64_t a = left; a <= right; a++) {
            const struct drain_way *way;
            if (a >= w->seen.i && b >= w->seen.j && a < w->seen.i + w->seen.width &&
                b < w->seen.j + w->seen.height)
                continue;
            const int err = drain_way(d, level - 1, a, b, &way);
            if (err)
                return err;
            mark_way(way, w);
        }
    w->seen = (struct drain_range){left, top, (int)(right - left + 1), (int)(bottom - top + 1)};
    return 0;
}

/* True if a course is HOPS steps or less from node (I, J) in W. */
static bool has_course(const struct window *w, int i, int j, int hops)
{
    for (int b = -hops; b <= hops; b++)
        for (int a = -hops; a <= hops; a++)
            if (w->is_course[j + b][i + a] && abs(a + b) <= hops)
                return true;
    return false;
}

/* Where node (I, J) in W flows, HOPS steps from a course: to the sea if that is a neighbor, or
 * else to a neighbor nearer to a course. Farther than HOPS from all courses: to a lower neighbor
 * that is as far. */
static int8_t find_next(const struct window *w, int i, int j, int hops, int32_t drop)
{
    const int32_t h = w->ground[j][i];
    int32_t lowest = INT32_MAX;
    int8_t best = -1;
    bool sea = false;
    for (int k = 0; k < DRAIN_NEIGHBORS; k++) {
        const int a = i + drain_neighbor[k][0], b = j + drain_neighbor[k][1];
        const int32_t g = w->ground[b][a];
        if (sea && g > 0)
            continue;
        if (g > 0 && (hops > HOPS ? g > h - drop || has_course(w, a, b, HOPS)
                                  : !has_course(w, a, b, hops - 1)))
            continue;
        if (g >= lowest && (g > 0) == !sea)
            continue;
        sea = g <= 0;
        lowest = g;
        best = (int8_t)k;
    }
    return best;
}

/* Find the bed at node (I, J) in W, HOPS steps from a course. */
static void find_bed(struct window *w, int i, int j, int hops, int32_t drop)
{
    const int32_t h = w->ground[j][i];
    if (h <= 0) {
        w->next[j][i] = -1;
        w->bed[j][i] = 0;
    }
    if (h <= 0 || hops == 0)
        return;
    const int8_t k = w->next[j][i] = find_next(w, i, j, hops, drop);
    int32_t to = 0;
    if (k >= 0) {
        const int a = i + drain_neighbor[k][0], b = j + drain_neighbor[k][1];
        if (w->ground[b][a] > 0 && hops > HOPS)
            to = w->ground[b][a];
        else if (w->ground[b][a] > 0) {
            find_bed(w, a, b, hops - 1, drop);
            to = w->bed[b][a];
        }
    }
    w->bed[j][i] = h > to + drop ? h : to + drop;
    w->length[j][i] = COURSE_LENGTH * (hops > HOPS ? 1 : HOPS + 1 - hops);
}

/* Count how many steps each of the block's nodes is from a course, into HOPS; HOPS + 1: more. Marks
 * the ways that must be known for this. */
static int count_hops(struct drain *d, int level, struct window *w, int hops[SIDE][SIDE])
{
    int first_i = 0, last_i = SIDE - 1, first_j = 0, last_j = SIDE - 1;
    for (int j = 0; j < SIDE; j++)
        for (int i = 0; i < SIDE; i++)
            hops[j][i] = w->ground[j + EDGE][i + EDGE] > 0 ? HOPS + 1 : 0;
    for (int n = -1; n <= HOPS && first_i <= last_i; n++) {
        /* The first pass only leaves out the sea. */
        const int64_t i = w->i + EDGE, j = w->j + EDGE;
        const int err = n < 0 ? 0
                              : mark_ways(d, level, i + first_i - n, j + first_j - n,
                                          i + last_i + n, j + last_j + n, w);
        if (err)
            return err;
        first_i = first_j = SIDE;
        last_i = last_j = -1;
        for (int b = 0; b < SIDE; b++)
            for (int a = 0; a < SIDE; a++) {
                if (hops[b][a] <= HOPS)
                    continue;
                if (n >= 0 && has_course(w, a + EDGE, b + EDGE, n)) {
                    hops[b][a] = n;
                    continue;
                }
                first_i = a < first_i ? a : first_i;
                last_i = a > last_i ? a : last_i;
                first_j = b < first_j ? b : first_j;
                last_j = b > last_j ? b : last_j;
            }
    }
    return 0;
}

static int make_finer(struct drain *d, int level, int64_t bi, int64_t bj, struct drain_beds *out)
{
    struct window *w = &d->level[level].work->window;
    int hops[SIDE][SIDE];
    memset(w, 0, sizeof *w);
    w->i = bi * SIDE - EDGE;
    w->j = bj * SIDE - EDGE;
    int err = drain_heights(d, level, (struct drain_range){w->i, w->j, WINDOW, WINDOW}, WINDOW,
                            w->ground[0]);
    if (!err)
        err = count_hops(d, level, w, hops);
    if (err)
        return err;
    for (int j = 0; j < SIDE; j++)
        for (int i = 0; i < SIDE; i++) {
            const int a = i + EDGE, b = j + EDGE;
            find_bed(w, a, b, hops[j][i], d->level[level].drop);
            out->bed[j][i] = w->bed[b][a];
            out->next[j][i] = w->next[b][a];
            out->length[j][i] = w->length[b][a];
            out->birth[j][i] = hops[j][i] == 0 ? w->birth[b][a] : (uint8_t)level;
            out->kind[j][i] = w->ground[b][a] <= 0 ? COURSE_SEA
                              : w->next[b][a] < 0  ? COURSE_END
                                                   : COURSE_FLOWS;
        }
    return 0;
}

/* --- Nodes --- */

static int find_beds(struct drain *d, int level, int64_t bi, int64_t bj,
                     const struct drain_beds **out)
{
    struct drain_beds *kept = &d->level[level].beds[drain_slot(bi, bj, DRAIN_BLOCKS_SIDE)], beds;
    *out = kept;
    if (kept->full && kept->i == bi && kept->j == bj)
        return 0;
    const int err =
        level == 0 ? make_broadest(d, bi, bj, &beds) : make_finer(d, level, bi, bj, &beds);
    if (err)
        return err;
    beds.full = true;
    beds.i = bi;
    beds.j = bj;
    *kept = beds;
    return 0;
}

int drain_nodes(struct drain *d, int level, int64_t i, int64_t j, int width, int height,
                struct course_node *out)
{
    for (int64_t bj = lattice_floor(j, SIDE); bj * SIDE < j + height; bj++)
        for (int64_t bi = lattice_floor(i, SIDE); bi * SIDE < i + width; bi++) {
            const struct drain_beds *b;
            const struct drain_places *p;
            int err = find_beds(d, level, bi, bj, &b);
            if (!err)
                err = drain_places(d, level, bi, bj, &p);
            if (err)
                return err;
            const int64_t x = bi * SIDE - i, y = bj * SIDE - j;
            for (int r = y < 0 ? (int)-y : 0; r < SIDE && y + r < height; r++)
                for (int c = x < 0 ? (int)-x : 0; c < SIDE && x + c < width; c++)
                    out[(y + r) * width + x + c] = (struct course_node){
                        p->x[r][c],      p->y[r][c],    p->height[r][c], b->bed[r][c],
                        b->length[r][c], b->next[r][c], b->kind[r][c],   b->birth[r][c]};
        }
    return 0;
}

int drain_node(struct drain *d, int level, int64_t i, int64_t j, struct course_node *out)
{
    return drain_nodes(d, level, i, j, 1, 1, out);
}
