/* Courses of water, point by point: the ends of their curves' pieces. */
#include "downstream.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdbool.h>

#include "noise/water/river_curves.h"

/*
 * A course's steps at a node. From 0 on: points on the curve from the node over the next one. A
 * curve's last point is the next curve's point 0. From AT_SOURCE on: points on the curve that
 * begins at the node.
 */
enum { AT_SOURCE = CURVE_PIECES + 1, AT_NODE = 2 * AT_SOURCE, ENDED = -1 };

/* Nodes around one: enough for those that its water reaches in two steps. */
enum { AROUND = 2, WIDE = 2 * AROUND + 1 };

struct neighborhood {
    struct course_node node[WIDE * WIDE];
};

static int last_level(const struct rivers *rivers)
{
    return rivers_network(rivers)->params.levels - 1;
}

/* True if N is on a course. The water at other nodes is too short for one. */
static bool is_on_course(const struct rivers *rivers, const struct course_node *n)
{
    return n->kind != COURSE_SEA && n->birth < last_level(rivers);
}

/* The curve over the node that FROM flows to; or the one that begins at FROM. */
static void make_curve(const struct rivers *rivers, const struct course_node *from, bool is_source,
                       const struct river_network_rows *rows, struct river_curve *curve)
{
    const struct river_bend bend =
        is_source ? (struct river_bend){NULL, from, river_network_next(from, rows), 1, false}
                  : river_bend_from(from, rows, last_level(rivers));
    river_curve_make(curve, rivers_network(rivers), last_level(rivers), bend, true);
}

static int64_t units(float metres)
{
    return (int64_t)floor((double)metres * FARLANDS_UNIT);
}

/* --- Where a course begins --- */

/* The nearest curve so far. */
struct nearest {
    int64_t x, y; /* the place that it should be near */
    float away;
    struct farlands_course course;
};

static void add_curve(struct nearest *nearest, const struct river_curve *c, int64_t i, int64_t j,
                      int first)
{
    const float x = (float)((double)(nearest->x - c->x) / FARLANDS_UNIT);
    const float y = (float)((double)(nearest->y - c->y) / FARLANDS_UNIT);
    for (int t = 0; t < c->pieces; t++) {
        const struct river_piece *p = &c->piece[t];
        float u = ((x - p->x) * p->along_x + (y - p->y) * p->along_y) * p->inverse;
        u = u < 0 ? 0 : u > 1 ? 1 : u;
        const float dx = x - p->x - u * p->along_x, dy = y - p->y - u * p->along_y;
        const float away = sqrtf(dx * dx + dy * dy) - (p->half + u * p->widening);
        if (away < nearest->away) {
            nearest->away = away;
            nearest->course = (struct farlands_course){i, j, first + t + 1};
        }
    }
}

int downstream_begin(struct rivers *rivers, int64_t x, int64_t y, struct farlands_course *out)
{
    /* A curve within a spacing of a place has its first node within 5, along both axes. */
    enum { FAR = 5, SIDE = 2 * (FAR + AROUND) + 1 };
    const struct river_network *network = rivers_network(rivers);
    const struct river_network_rows rows = river_network_rows(network, SIDE);
    const float spacing =
        (float)((double)rivers_spacing(&network->params, last_level(rivers)) / FARLANDS_UNIT);
    struct course_node node[SIDE * SIDE];
    struct river_curve curve;
    struct nearest nearest = {x, y, fminf(RIVERS_NEAR, spacing), {0, 0, AT_NODE}};
    int64_t i, j;
    river_network_nearest(network, x, y, &i, &j);
    nearest.course.i = i;
    nearest.course.j = j;
    const int err = river_network_around(network, i, j, FAR + AROUND, node);
    if (err)
        return err;
    i -= FAR + AROUND;
    j -= FAR + AROUND;
    for (int row = AROUND; row < SIDE - AROUND; row++)
        for (int column = AROUND; column < SIDE - AROUND; column++) {
            const struct course_node *n = &node[row * SIDE + column];
            if (!is_on_course(rivers, n) || n->kind != COURSE_FLOWS)
                continue;
            for (int source = 0; source < 2; source++) {
                if (source && !rivers_is_source(n, &rows))
                    continue;
                make_curve(rivers, n, source, &rows, &curve);
                if ((double)curve.order >= network->params.from)
                    add_curve(&nearest, &curve, i + column, j + row, source ? AT_SOURCE : 0);
            }
        }
    *out = nearest.course;
    return 0;
}

/* --- Points --- */

/* The point at node N, off all curves. */
static struct farlands_course_point point_at_node(const struct course_node *n)
{
    const float level = course_level(n);
    return (struct farlands_course_point){.x = n->x,
                                          .y = n->y,
                                          .level = level,
                                          .bed = level,
                                          .kind = n->kind == COURSE_SEA   ? FARLANDS_SEA
                                                  : n->kind == COURSE_END ? FARLANDS_END_LAKE
                                                                          : FARLANDS_LAND};
}

/* Point T on C, whose level at the end is END. */
static struct farlands_course_point point_of(const struct river_curve *c, int t, float end,
                                             bool is_wet)
{
    const struct river_piece *p = &c->piece[t < CURVE_PIECES ? t : CURVE_PIECES - 1];
    const float u = t < CURVE_PIECES ? 0 : 1;
    /* Rounding may have made a level higher than the one before. */
    float level = end;
    for (int k = 0; k <= t && t < CURVE_PIECES; k++)
        level = k == 0 || c->piece[k].level < level ? c->piece[k].level : level;
    level = level < end ? end : level;
    return (struct farlands_course_point){
        .x = c->x + units(p->x + u * p->along_x),
        .y = c->y + units(p->y + u * p->along_y),
        .level = level,
        .bed = is_wet ? level - p->depth : level,
        .width = is_wet ? 2 * (p->half + u * p->widening) : 0,
        .order = is_wet ? p->order : 0,
        .kind = is_wet ? FARLANDS_RIVER : FARLANDS_LAND,
    };
}

/* Lower P, in a river of DEPTH, to LEVEL if that is lower. */
static void lower_to(struct farlands_course_point *p, float level, float depth)
{
    p->level = fminf(p->level, level);
    p->bed = fminf(p->bed, p->level - depth);
}

/*
 * Blocks of a drainage may disagree about a course that leads from one to the other: then its level
 * would rise. It keeps its level instead, until its nodes are below that. A step of a course is its
 * step at the node and, if the next point would rise, STEPS times the level that it keeps: a whole
 * number of KEPT parts of a metre from LOWEST on.
 */
enum { STEPS = 128, KEPT = 256, LOWEST = -32000, MOST_KEPT = 2 * -LOWEST * KEPT };

_Static_assert((int)AT_NODE < (int)STEPS && (long)MOST_KEPT * STEPS < INT_MAX, "a step holds both");

/* The level of the last point, and whether it would have risen. */
struct falling {
    float level;
    bool kept;
};

static int kept_level(float level)
{
    const double parts = floor(((double)level - (double)LOWEST) * (double)KEPT);
    return parts < 1 ? 1 : parts > (double)MOST_KEPT ? (int)MOST_KEPT : (int)parts;
}

static float level_kept(int parts)
{
    return (float)((double)LOWEST + (double)parts / (double)KEPT);
}

/* Keep P, in water of DEPTH, from rising. */
static void keep_down(struct falling *falling, struct farlands_course_point *p, float depth)
{
    falling->kept = p->level > falling->level;
    if (falling->kept) {
        p->level = level_kept(kept_level(falling->level));
        p->bed = p->level - depth;
    }
    falling->level = p->level;
}

/* Finish P, the last point on a course that ends at END. */
static void end_at(const struct rivers *rivers, const struct course_node *end,
                   struct farlands_course_point *p)
{
    struct river_curve lake;
    p->kind = end->kind == COURSE_SEA ? FARLANDS_SEA : FARLANDS_END_LAKE;
    if (end->kind == COURSE_SEA || p->width == 0)
        return;
    river_curve_make_end(&lake, rivers_network(rivers), last_level(rivers), end);
    p->width = 2 * lake.piece[0].half;
    p->bed = fminf(p->bed, p->level - lake.piece[0].depth);
}

/* Whether the water of node N, at (I, J), comes back there. Blocks of a drainage may disagree about
 * which way it flows on level ground: then nodes on both sides of a border lead to each other.
 * Somewhere in such a circle a river does not grow, and its bed does not fall. */
static int find_circle(struct rivers *rivers, int64_t i, int64_t j, const struct course_node *n,
                       const struct course_node *next, bool *circle)
{
    enum { MOST = 64 }; /* nodes: more than lie beside the border of a block and a corner */
    const struct river_network *network = rivers_network(rivers);
    const struct river_network_rows rows = river_network_rows(network, 1);
    const int64_t first_i = i, first_j = j;
    struct course_node at = *n;
    *circle = false;
    if (network->drain || next->length > n->length ||
        (next->length == n->length && next->bed < n->bed))
        return 0;
    for (int step = 0; step < MOST && at.next >= 0 && !*circle; step++) {
        i += rows.neighbor[at.next][0];
        j += rows.neighbor[at.next][1];
        const int err = river_network_around(network, i, j, 0, &at);
        if (err)
            return err;
        *circle = i == first_i && j == first_j;
    }
    return 0;
}

/* What P is, the last point on a course whose water goes on in a circle. */
static void end_in_circle(struct farlands_course_point *p)
{
    p->kind = p->level <= 0 ? FARLANDS_SEA : FARLANDS_END_LAKE;
}

/* Go on over land, from the node at COURSE to NEXT, its neighbor K. */
static void walk_on(const struct rivers *rivers, const struct course_node *next, int k,
                    struct farlands_course *course)
{
    const struct river_network_rows rows = river_network_rows(rivers_network(rivers), WIDE);
    course->i += rows.neighbor[k][0];
    course->j += rows.neighbor[k][1];
    course->step = is_on_course(rivers, next) && next->kind == COURSE_FLOWS ? 0 : AT_NODE;
}

/* The level at the end of a curve over ON: in the middle of the edge, or at ON. */
static float level_at_end(const struct course_node *on, const struct course_node *to)
{
    return to ? 0.5f * (course_level(on) + course_level(to)) : course_level(on);
}

/* Follow COURSE to the end of its curve. */
static int follow_curve(struct rivers *rivers, struct farlands_course *course,
                        const struct course_node *n, struct falling *falling,
                        struct farlands_course_point *out, size_t room, size_t *count)
{
    struct river_curve curve;
    const bool is_source = course->step >= AT_SOURCE;
    const struct river_network_rows rows = river_network_rows(rivers_network(rivers), WIDE);
    const struct course_node *on = river_network_next(n, &rows);
    make_curve(rivers, n, is_source, &rows, &curve);
    const float end =
        is_source ? level_at_end(n, on) : level_at_end(on, river_network_next(on, &rows));
    const bool is_wet =
        is_on_course(rivers, n) && (double)curve.order >= rivers_network(rivers)->params.from;
    const int first = is_source ? course->step - AT_SOURCE : course->step;
    static const float ROUNDING = 0.01f; /* more than sums are rounded by */
    /* The lowest level of joined water so far. To know that, the curve is followed from the
     * beginning.
     */
    float highest = INFINITY;
    bool circle = false;
    int err = 0;
    if (!is_source && on->kind == COURSE_FLOWS)
        err = find_circle(rivers, course->i + rows.neighbor[n->next][0],
                          course->j + rows.neighbor[n->next][1], on, river_network_next(on, &rows),
                          &circle);
    for (int t = is_wet ? 0 : first; t <= CURVE_PIECES && *count < room && !err; t++) {
        struct farlands_course_point p = point_of(&curve, t, end, is_wet);
        struct rivers_here here;
        err = rivers_look(rivers, p.x, p.y, &here);
        if (here.level < p.level - ROUNDING)
            highest = fminf(highest, fabsf(here.level - end) < ROUNDING ? end : here.level);
        const float depth = is_wet ? curve.piece[t < CURVE_PIECES ? t : CURVE_PIECES - 1].depth : 0;
        if (is_wet)
            lower_to(&p, highest, depth);
        if (t >= first)
            keep_down(falling, &p, depth);
        if (t == CURVE_PIECES && !is_source && on->kind != COURSE_FLOWS)
            end_at(rivers, on, &p);
        else if (t == CURVE_PIECES && circle)
            end_in_circle(&p);
        else if (here.is_lake && p.level <= here.lake)
            p.kind = FARLANDS_LAKE;
        if (t < first || err)
            continue;
        out[(*count)++] = p;
        course->step++;
    }
    if (err || course->step <= (is_source ? AT_SOURCE : 0) + CURVE_PIECES)
        return err;
    course->step = 1;
    if (is_source)
        return 0;
    course->i += rows.neighbor[n->next][0];
    course->j += rows.neighbor[n->next][1];
    if (on->kind != COURSE_FLOWS || circle)
        course->step = ENDED;
    return 0;
}

/* True if the nodes around COURSE are within a grid's bounds. */
static bool is_within(const struct rivers *rivers, const struct farlands_course *course)
{
    const double limit = (double)FARLANDS_LIMIT + (double)FARLANDS_MAX_STEP;
    double x, y;
    river_network_place(rivers_network(rivers), course->i, course->j, &x, &y);
    return fabs(x) <= limit && fabs(y) <= limit;
}

/* Write the next points, at most ROOM. */
static int follow(struct rivers *rivers, struct farlands_course *course, struct falling *falling,
                  struct farlands_course_point *out, size_t room, size_t *count)
{
    struct neighborhood around;
    const struct course_node *n = &around.node[AROUND * WIDE + AROUND];
    const struct river_network_rows rows = river_network_rows(rivers_network(rivers), WIDE);
    int err = 0;
    *count = 0;
    while (!err && *count < room && course->step != ENDED) {
        err =
            river_network_around(rivers_network(rivers), course->i, course->j, AROUND, around.node);
        if (err)
            break;
        const struct course_node *next = river_network_next(n, &rows);
        if (next && course->step == AT_NODE && is_on_course(rivers, n)) {
            course->step = rivers_is_source(n, &rows) ? AT_SOURCE : 0;
        } else if (next && course->step != AT_NODE) {
            err = follow_curve(rivers, course, n, falling, out, room, count);
        } else {
            struct farlands_course_point *p = &out[(*count)++];
            *p = point_at_node(n);
            keep_down(falling, p, 0);
            course->step = ENDED;
            bool circle = false;
            if (next)
                err = find_circle(rivers, course->i, course->j, n, next, &circle);
            if (circle)
                end_in_circle(p);
            else if (next)
                walk_on(rivers, next, n->next, course);
        }
    }
    return err;
}

int downstream_follow(struct rivers *rivers, struct farlands_course *course,
                      struct farlands_course_point *out, size_t room, size_t *count)
{
    struct farlands_course at = *course;
    struct farlands_course_point next;
    const int kept = at.step >= 0 ? at.step / STEPS : 0;
    struct falling falling = {kept > 0 ? level_kept(kept) : INFINITY, false};
    size_t done, more;
    at.step = at.step >= 0 ? at.step % STEPS : at.step;
    if (at.step < ENDED || at.step > AT_NODE || kept > MOST_KEPT || !is_within(rivers, &at))
        return -EINVAL;
    int err = follow(rivers, &at, &falling, out, room, &done);
    struct farlands_course beyond = at;
    const int level = kept_level(falling.level);
    if (!err)
        err = follow(rivers, &beyond, &falling, &next, 1, &more);
    if (err)
        return err;
    at.step += more > 0 && falling.kept ? STEPS * level : 0;
    *course = at;
    *count = done;
    return 0;
}
