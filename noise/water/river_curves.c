/* Courses as curves: where they are, how wide, how high. */
#include "river_curves.h"

#include <math.h>

#include "noise/exact/lattice.h"
#include "noise/farlands.h"

/* 1 + log2 X, linear between powers of two. */
static float order_of(float x)
{
    int exponent;
    const float mantissa = frexpf(x, &exponent);
    return (float)exponent + 2 * mantissa - 1;
}

float river_length_of(float order)
{
    const int whole = (int)order;
    return order < 1 ? 0 : ldexpf(1 + (order - (float)whole), whole - 1);
}

static float metres(int64_t units)
{
    return (float)((double)units / FARLANDS_UNIT);
}

static float smooth(float t)
{
    t = t < 0 ? 0 : t > 1 ? 1 : t;
    return t * t * (3 - 2 * t);
}

/* --- Meanders --- */

/* Add a noise with the size BY to (*DX, *DY): random vectors at the corners of cells 2^BITS units
 * wide, joined by quintic curves. */
static void add_swing(uint64_t seed, int bits, float by, int64_t x, int64_t y, float *dx, float *dy)
{
    const int64_t mask = (INT64_C(1) << bits) - 1;
    const float scale = 1 / (float)(mask + 1);
    const float u = (float)(x & mask) * scale, v = (float)(y & mask) * scale;
    const float fu = u * u * u * (u * (u * 6 - 15) + 10), fv = v * v * v * (v * (v * 6 - 15) + 10);
    const uint64_t column = (uint64_t)(x >> bits), row = (uint64_t)(y >> bits);
    for (int corner = 0; corner < 4; corner++) {
        const int a = corner & 1, b = corner >> 1;
        const uint64_t random =
            lattice_mix(lattice_mix(seed + column + (uint64_t)a) + row + (uint64_t)b);
        const float weight = (a ? fu : 1 - fu) * (b ? fv : 1 - fv) * by;
        *dx += weight * ((float)(random & 0xffff) * 0x1p-15f - 1);
        *dy += weight * ((float)(random >> 16 & 0xffff) * 0x1p-15f - 1);
    }
}

/* The broadest swings' size, in spacings on the last level. All swings together change by less than
 * a metre per metre, so places keep their order. */
static const float SWING = 0.35f;

static void meander(const struct rivers_params *p, int64_t x, int64_t y, float *dx, float *dy)
{
    const int64_t last = rivers_spacing(p, p->levels - 1);
    const int bits = __builtin_ctzll((uint64_t)last);
    const float by = (float)p->meander * SWING * metres(last);
    *dx = *dy = 0;
    add_swing(p->seed, bits + 2, by, x, y, dx, dy);
    add_swing(p->seed + 1, bits, 0.5f * by, x, y, dx, dy);
    add_swing(p->seed + 2, bits - 1, 0.25f * by, x, y, dx, dy);
}

/* --- Curves --- */

/* A point on a curve: its place relative to the node in the middle, and what is there. */
struct point {
    float x, y, level, half;
};

static struct river_piece piece_between(const struct point *a, const struct point *b)
{
    struct river_piece p = {.x = a->x,
                            .y = a->y,
                            .along_x = b->x - a->x,
                            .along_y = b->y - a->y,
                            .level = a->level,
                            .fall = b->level - a->level,
                            .half = a->half,
                            .widening = b->half - a->half};
    const float square = p.along_x * p.along_x + p.along_y * p.along_y;
    p.inverse = square > 0 ? 1 / square : 0;
    return p;
}

/*
 * Let node ON be (0, 0), E the end of curves over it, and A where one begins: it is (1 - u)^2 A +
 * u^2 E. Take two curves on the same side of E that begin P and Q times as far from the line to E.
 * The one that comes from farther around crosses the other if P > Q, so it is made to begin no
 * farther from the line.
 */
struct river_bend river_bend_from(const struct course_node *from,
                                  const struct river_network_rows *rows, int level)
{
    const struct course_node *on = river_network_beside(from, from->next, rows);
    struct river_bend bend = {from, on, NULL, 1, false};
    if (on->kind != COURSE_FLOWS)
        return bend;
    bend.to = river_network_beside(on, on->next, rows);
    const float x = metres(from->x - on->x), y = metres(from->y - on->y);
    const float ex = metres(bend.to->x - on->x), ey = metres(bend.to->y - on->y);
    const float off = ex * y - ey * x;
    for (int k = 0; k < rows->neighbors; k++) {
        const struct course_node *other = river_network_beside(on, k, rows);
        if (other == from || other->birth >= level || !river_network_feeds(on, k, rows))
            continue;
        bend.joins |= other->length > from->length;
        const float ox = metres(other->x - on->x), oy = metres(other->y - on->y);
        const float other_off = ex * oy - ey * ox, turn = ox * y - oy * x;
        /* OTHER lies between FROM and the line. */
        const bool beside =
            off < 0 ? other_off < 0 && turn < 0 : off > 0 && other_off > 0 && turn > 0;
        if (beside && other_off / off < bend.start)
            bend.start = other_off / off;
    }
    return bend;
}

/* The middle between node AT, which is (0, 0), and OTHER. */
static struct point middle(const struct course_node *at, const struct course_node *other)
{
    return (struct point){0.5f * metres(other->x - at->x), 0.5f * metres(other->y - at->y),
                          0.5f * (course_level(at) + course_level(other)), 0};
}

/* The box around every STEP-th of CURVE_PIECES + 1 points; around the first one if STEP is greater.
 */
static void find_box(struct river_curve *c, const struct point *point, int step)
{
    c->left = c->right = point[0].x;
    c->top = c->bottom = point[0].y;
    c->half = point[0].half;
    for (int t = step; t <= CURVE_PIECES; t += step) {
        c->left = point[t].x < c->left ? point[t].x : c->left;
        c->right = point[t].x > c->right ? point[t].x : c->right;
        c->top = point[t].y < c->top ? point[t].y : c->top;
        c->bottom = point[t].y > c->bottom ? point[t].y : c->bottom;
        c->half = point[t].half > c->half ? point[t].half : c->half;
    }
}

/* The least radius of a valley's bottom, in metres. */
static const float ROUND = 60;

static float half_width(const struct rivers_params *p, float order)
{
    return 0.5f * (float)rivers_width(p, (double)order);
}

void river_curve_make(struct river_curve *c, const struct river_network *network, int level,
                      struct river_bend bend, bool fine)
{
    const struct rivers_params *params = &network->params;
    enum { SPAN = CURVE_PIECES / CURVE_SIDES };
    const int step = fine ? 1 : SPAN;
    const struct course_node *on = bend.on;
    const bool is_last = level == params->levels - 1;
    const float last = river_network_length(network, level);
    const struct point a =
        bend.from ? middle(on, bend.from) : (struct point){0, 0, course_level(on), 0};
    const struct point b =
        bend.to ? middle(on, bend.to) : (struct point){0, 0, course_level(on), 0};
    /* The length upstream at both ends, in spacings on the last level. */
    const float begin = bend.from        ? (float)bend.from->length
                        : network->drain ? (float)COURSE_LENGTH / 4
                                         : (float)on->length / 4;
    const float first = last * begin;
    float end = last * (float)on->length;
    /* A brook that joins a river of a drainage stays a brook. */
    if (!bend.to || end < first || (bend.joins && network->drainage))
        end = first;
    struct point point[CURVE_PIECES + 1];
    float run = 0;
    c->x = on->x;
    c->y = on->y;
    for (int t = 0; t <= CURVE_PIECES; t += step) {
        const float u = (float)t / (float)CURVE_PIECES, v = 1 - u;
        struct point *p = &point[t];
        const float from = t == 0 ? 1 : v * v * bend.start;
        p->x = from * a.x + u * u * b.x;
        p->y = from * a.y + u * u * b.y;
        p->level = v * v * a.level + 2 * u * v * course_level(on) + u * u * b.level;
        c->order = order_of(first + u * (end - first));
        p->half = half_width(params, c->order);
        if (t > 0 && t % SPAN == 0) {
            const float dx = p->x - p[-SPAN].x, dy = p->y - p[-SPAN].y;
            run += sqrtf(dx * dx + dy * dy);
        }
    }
    /* Pictures that end before the last level are too coarse for meanders. Those of a drainage are
     * smaller than the last spacing. */
    const bool meanders = is_last && (network->drain || fine);
    for (int t = 0; t <= CURVE_PIECES && meanders; t += step) {
        float dx, dy;
        meander(params, c->x + (int64_t)(point[t].x * FARLANDS_UNIT),
                c->y + (int64_t)(point[t].y * FARLANDS_UNIT), &dx, &dy);
        point[t].x += dx;
        point[t].y += dy;
    }
    const float depth = (float)rivers_depth(params, (double)c->order);
    c->pieces = fine ? CURVE_PIECES : 0;
    for (int t = 0; t < c->pieces; t++) {
        c->piece[t] = piece_between(&point[t], &point[t + 1]);
        c->piece[t].order = c->order;
        c->piece[t].depth = depth;
    }
    const float steep = (a.level - b.level) / (run > 1 ? run : 1);
    for (int t = 0; t < CURVE_SIDES; t++) {
        struct river_piece *side = &c->side[t];
        *side = piece_between(&point[SPAN * t], &point[SPAN * t + SPAN]);
        side->order = c->order;
        side->depth = depth;
        side->flat = ROUND + (2 + 5 * smooth(1 - steep / 0.03f)) * point[CURVE_PIECES].half;
        side->slope = (float)params->slope;
    }
    c->sides = CURVE_SIDES;
    find_box(c, point, step);
}

void river_curve_make_end(struct river_curve *c, const struct river_network *network, int level,
                          const struct course_node *node)
{
    const struct rivers_params *params = &network->params;
    /* In spacings on the last level; in metres. */
    static const float HALF = 0.3f, DEPTH = 6;
    const int64_t last = rivers_spacing(params, params->levels - 1);
    const struct point point = {0, 0, course_level(node), HALF * metres(last)};
    const float spacings = river_network_length(network, level) * (float)node->length;
    *c = (struct river_curve){
        .x = node->x, .y = node->y, .order = order_of(spacings), .pieces = 1, .sides = 1};
    c->piece[0] = c->side[0] = piece_between(&point, &point);
    c->piece[0].depth = c->side[0].depth = DEPTH;
    c->side[0].flat = ROUND + point.half;
    c->side[0].slope = (float)params->slope;
    find_box(c, &point, CURVE_PIECES + 1);
}
