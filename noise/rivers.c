/* How far places are from water, and how the ground follows the beds. */
#include "rivers.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "aligned.h"
#include "noise.h"

enum {
    SEGMENTS = 6, /* of a curve */
    /* Samples along a block that are looked at together, at most; nodes around it. */
    BLOCK = KERNEL_CHUNK,
    MOST_NODES = 4096,
};

/* A curve of a course: ends of its straight pieces, from (X, Y) on, in metres. */
struct curve_pieces {
    int64_t x, y;
    float px[SEGMENTS + 1], py[SEGMENTS + 1], level[SEGMENTS + 1], half[SEGMENTS + 1];
    float order, depth;
    float flat; /* half the width of the valley's floor, beside the water */
    float left, right, top, bottom;
};

struct rivers {
    struct rivers_params params;
    const struct kernel *kernel;
    struct noise meander;
    struct drain *drain;
    struct drain_node *node; /* of a block */
    struct curve_pieces curve;
    int height; /* of the chunk */
    /* Of samples: what rivers_find_near found ... */
    float bank[KERNEL_CHUNK][KERNEL_CHUNK], level[KERNEL_CHUNK][KERNEL_CHUNK];
    float order[KERNEL_CHUNK][KERNEL_CHUNK], half[KERNEL_CHUNK][KERNEL_CHUNK];
    float depth[KERNEL_CHUNK][KERNEL_CHUNK];
    /* ... or rivers_find_valleys: the ground is at most UPPER, at least LOWER, and SUM / WEIGHT in
     * hollows. */
    float upper[KERNEL_CHUNK][KERNEL_CHUNK], lower[KERNEL_CHUNK][KERNEL_CHUNK];
    float sum[KERNEL_CHUNK][KERNEL_CHUNK], weight[KERNEL_CHUNK][KERNEL_CHUNK];
};

const char *rivers_fault(const struct rivers_params *p, const char **key)
{
    *key = "levels";
    if (!(p->levels >= 2 && p->levels <= DRAIN_MAX_LEVELS))
        return "expected 2 to 5";
    *key = "spacing";
    if (!(p->spacing >= FARLANDS_UNIT << (2 * p->levels + 4) && p->spacing <= FARLANDS_UNIT
                                                                                  << 18) ||
        (p->spacing & (p->spacing - 1)) != 0)
        return "expected a power of two, at most 262144 blocks, and at least 64 on the last level";
    return NULL;
}

int rivers_new(struct rivers **out, const struct rivers_params *params, const struct kernel *kernel,
               drain_ground *ground, void *context)
{
    enum { OCTAVES = 3 };
    const struct drain_shape shape = {params->spacing, params->levels};
    const int64_t last = params->spacing >> (2 * (params->levels - 1));
    const struct farlands_params meander = {
        .seed = params->seed,
        .basis = FARLANDS_PERLIN,
        .gradients = FARLANDS_UNIT256,
        .fade = FARLANDS_QUINTIC,
        .hash = FARLANDS_MIX64,
        .fractal = FARLANDS_FBM,
        .wavelength = 4 * last,
        .octaves = OCTAVES,
        .persistence = 0.45,
        .lacunarity = 2.5,
    };
    struct rivers *r = aligned_new(sizeof *r);
    if (!r)
        return -ENOMEM;
    memset(r, 0, sizeof *r);
    r->params = *params;
    r->kernel = kernel;
    noise_make(&r->meander, &meander);
    r->node = malloc(MOST_NODES * sizeof *r->node);
    const int err = r->node ? drain_new(&r->drain, &shape, ground, context) : -ENOMEM;
    if (err) {
        rivers_free(r);
        return err;
    }
    *out = r;
    return 0;
}

void rivers_free(struct rivers *rivers)
{
    if (rivers) {
        drain_free(rivers->drain);
        free(rivers->node);
    }
    aligned_free(rivers);
}

/* --- Curves --- */

/* 1 + log2 X, straight between powers of two. */
static float order_of(float x)
{
    int exponent;
    const float mantissa = frexpf(x, &exponent);
    return (float)exponent + 2 * mantissa - 1;
}

/* FIRST times FACTOR to the power ORDER - 1, straight between whole orders. */
static double by_order(double first, double factor, double order)
{
    if (order < 1)
        return order > 0 ? first * order : 0;
    int whole = 1;
    for (; whole + 1 <= order; whole++)
        first *= factor;
    return first * (1 + (order - whole) * (factor - 1));
}

double rivers_widest(const struct rivers_params *params)
{
    return by_order(params->width, params->widening, RIVERS_MAX_ORDER);
}

double rivers_deepest(const struct rivers_params *params)
{
    return by_order(params->depth, params->deepening, RIVERS_MAX_ORDER);
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

/* A point of a curve: a place relative to that of the node in its middle, and what is there. */
struct point {
    float x, y, level, length;
};

/* The middle between the place of node AT, which is (0, 0), and that of OTHER. */
static struct point middle(const struct drain_node *at, const struct drain_node *other)
{
    return (struct point){
        0.5f * metres(other->x - at->x),
        0.5f * metres(other->y - at->y),
        0.5f * ((float)at->bed + (float)other->bed) / DRAIN_METRE,
        0,
    };
}

/* Move the ends of C's pieces by the meanders. */
static void meander(const struct rivers *r, struct curve_pieces *c)
{
    const int64_t last = r->params.spacing >> (2 * (r->params.levels - 1));
    const float by = (float)r->params.meander * metres(last) * 2;
    for (int t = 0; t <= SEGMENTS; t++) {
        const int64_t x = c->x + (int64_t)(c->px[t] * FARLANDS_UNIT);
        const int64_t y = c->y + (int64_t)(c->py[t] * FARLANDS_UNIT);
        c->px[t] += by * r->kernel->point(&r->meander, NULL, x, y);
        c->py[t] += by * r->kernel->point(&r->meander, NULL, x + (last << 20), y);
    }
}

/* The curve from A over the node AT to B into C. LAST: spacings of the last level in this one. */
static void make_curve(const struct rivers *r, const struct drain_node *at, struct point a,
                       struct point b, float last, struct curve_pieces *c)
{
    const float level = (float)at->bed / DRAIN_METRE;
    c->x = at->x;
    c->y = at->y;
    float run = 0;
    for (int t = 0; t <= SEGMENTS; t++) {
        const float u = (float)t / SEGMENTS, v = 1 - u;
        c->px[t] = v * v * a.x + u * u * b.x;
        c->py[t] = v * v * a.y + u * u * b.y;
        c->level[t] = v * v * a.level + 2 * u * v * level + u * u * b.level;
        const float order = order_of(last * (a.length + u * (b.length - a.length)) / DRAIN_LENGTH);
        c->half[t] = 0.5f * (float)by_order(r->params.width, r->params.widening, (double)order);
        c->order = order;
        if (t > 0)
            run += sqrtf((c->px[t] - c->px[t - 1]) * (c->px[t] - c->px[t - 1]) +
                         (c->py[t] - c->py[t - 1]) * (c->py[t] - c->py[t - 1]));
    }
    c->depth = (float)by_order(r->params.depth, r->params.deepening, (double)c->order);
    const float slope = (a.level - b.level) / (run > 1 ? run : 1);
    c->flat = (2 + 5 * smooth(1 - slope / 0.03f)) * c->half[SEGMENTS];
    meander(r, c);
    c->left = c->right = c->px[0];
    c->top = c->bottom = c->py[0];
    for (int t = 1; t <= SEGMENTS; t++) {
        c->left = fminf(c->left, c->px[t]);
        c->right = fmaxf(c->right, c->px[t]);
        c->top = fminf(c->top, c->py[t]);
        c->bottom = fmaxf(c->bottom, c->py[t]);
    }
}

/* --- Blocks of samples --- */

/* Samples of a chunk: columns I to I2 - 1, rows J to J2 - 1. */
struct block {
    const struct chunk *chunk;
    int i, j, i2, j2;
    int level;     /* of the drainage */
    float spacing; /* of its nodes, metres */
    /* Curves are of consequence from here to there, in units. */
    int64_t left, right, top, bottom;
};

static int64_t at(struct coordinates along, int i)
{
    return along.at ? along.at[i] : along.first + i * along.step;
}

/* Samples FIRST to LAST of B along an axis that lie within LOW .. HIGH metres of ORIGIN. */
static void clip(struct coordinates along, int from, int to, int64_t origin, float low, float high,
                 int *first, int *last)
{
    const int64_t least = origin + (int64_t)(low * FARLANDS_UNIT),
                  most = origin + (int64_t)(high * FARLANDS_UNIT);
    int a = from, b = to;
    while (a < b && at(along, a) < least)
        a++;
    while (b > a && at(along, b - 1) > most)
        b--;
    *first = a;
    *last = b;
}

/* See a curve of a course with water, or a node. */
typedef void see_curve(struct rivers *r, const struct block *b, const struct curve_pieces *c);
typedef void see_node(struct rivers *r, const struct block *b, const struct drain_node *n);

/* A straight piece of a curve, from (x, y) on. */
struct segment {
    float x, y, along_x, along_y, inverse; /* of its squared length */
    float level, fall, half, widening;
};

static struct segment segment_of(const struct curve_pieces *c, int t)
{
    struct segment s = {.x = c->px[t], .y = c->py[t], .level = c->level[t], .half = c->half[t]};
    s.along_x = c->px[t + 1] - s.x;
    s.along_y = c->py[t + 1] - s.y;
    const float square = s.along_x * s.along_x + s.along_y * s.along_y;
    s.inverse = square > 0 ? 1 / square : 0;
    s.fall = c->level[t + 1] - s.level;
    s.widening = c->half[t + 1] - s.half;
    return s;
}

/* The nearest water of a segment. */
struct foot {
    float away, level, half; /* AWAY from its edge */
};

static inline struct foot foot_of(const struct segment *s, float x, float y)
{
    float u = ((x - s->x) * s->along_x + (y - s->y) * s->along_y) * s->inverse;
    u = u < 0 ? 0 : u > 1 ? 1 : u;
    const float dx = x - s->x - u * s->along_x, dy = y - s->y - u * s->along_y;
    const float half = s->half + u * s->widening;
    return (struct foot){sqrtf(dx * dx + dy * dy) - half, s->level + u * s->fall, half};
}

static void near_curve(struct rivers *r, const struct block *b, const struct curve_pieces *c)
{
    int i, i2, j, j2;
    const float reach = RIVERS_NEAR + c->half[SEGMENTS];
    clip(b->chunk->x, b->i, b->i2, c->x, c->left - reach, c->right + reach, &i, &i2);
    clip(b->chunk->y, b->j, b->j2, c->y, c->top - reach, c->bottom + reach, &j, &j2);
    for (; j < j2; j++)
        for (int t = 0; t < SEGMENTS; t++) {
            const struct segment s = segment_of(c, t);
            const float y = metres(at(b->chunk->y, j) - c->y);
            if (y < fminf(s.y, s.y + s.along_y) - reach || y > fmaxf(s.y, s.y + s.along_y) + reach)
                continue;
            for (int k = i; k < i2; k++) {
                const struct foot foot = foot_of(&s, metres(at(b->chunk->x, k) - c->x), y);
                const bool nearer = foot.away < r->bank[j][k];
                r->bank[j][k] = nearer ? foot.away : r->bank[j][k];
                r->level[j][k] = nearer ? foot.level : r->level[j][k];
                r->order[j][k] = nearer ? c->order : r->order[j][k];
                r->half[j][k] = nearer ? foot.half : r->half[j][k];
                r->depth[j][k] = nearer ? c->depth : r->depth[j][k];
            }
        }
}

/* The height of a valley's side over its water, D metres from the edge: a floor, then a slope, and
 * from half of the reach on so steep that it is above the ground. */
static float side(float d, float flat, float slope)
{
    const float g = d / (d + flat + 60),
                far = d > 0.5f * RIVERS_REACH ? d / (0.5f * RIVERS_REACH) - 1 : 0;
    return 0.02f * d + slope * d * g * g + 1500 * far * far;
}

/* Sides above, and below an apron, so that no valley undermines a course beside it. */
static void valley_of_curve(struct rivers *r, const struct block *b, const struct curve_pieces *c)
{
    int i, i2, j, j2;
    const float reach = RIVERS_REACH + c->half[SEGMENTS], slope = (float)r->params.slope;
    clip(b->chunk->x, b->i, b->i2, c->x, c->left - reach, c->right + reach, &i, &i2);
    clip(b->chunk->y, b->j, b->j2, c->y, c->top - reach, c->bottom + reach, &j, &j2);
    for (; j < j2; j++)
        for (int t = 0; t < SEGMENTS; t++) {
            const struct segment s = segment_of(c, t);
            const float y = metres(at(b->chunk->y, j) - c->y);
            for (int k = i; k < i2; k++) {
                const struct foot foot = foot_of(&s, metres(at(b->chunk->x, k) - c->x), y);
                const float d = foot.away;
                const float top = foot.level + side(d < 0 ? 0 : d, c->flat, slope);
                const float apron = foot.level - 0.4f * (d > 20 ? d - 20 : 0);
                if (d < RIVERS_REACH && top < r->upper[j][k])
                    r->upper[j][k] = top;
                if (apron > r->lower[j][k])
                    r->lower[j][k] = apron;
            }
        }
}

/* A node's part in the floor: (1 - d^2 / R^2)^3 within R of it. */
static void floor_of_node(struct rivers *r, const struct block *b, const struct drain_node *n)
{
    int i, i2, j, j2;
    const float reach = 1.6f * b->spacing;
    const float bed = (float)(n->kind == DRAIN_SEA ? n->ground : n->bed) / DRAIN_METRE;
    clip(b->chunk->x, b->i, b->i2, n->x, -reach, reach, &i, &i2);
    clip(b->chunk->y, b->j, b->j2, n->y, -reach, reach, &j, &j2);
    for (; j < j2; j++) {
        const float y = metres(at(b->chunk->y, j) - n->y) / reach;
        for (int k = i; k < i2; k++) {
            const float x = metres(at(b->chunk->x, k) - n->x) / reach;
            float w = 1 - x * x - y * y;
            w = w < 0 ? 0 : w * w * w;
            r->sum[j][k] += w * bed;
            r->weight[j][k] += w;
        }
    }
}

/* --- Nodes around a block --- */

/* Nodes are in a window WIDE columns wide. */
static const struct drain_node *next_of(const struct drain_node *n, int wide)
{
    return n + drain_neighbour[n->next][1] * wide + drain_neighbour[n->next][0];
}

static bool is_source(const struct drain_node *n, int wide)
{
    for (int k = 0; k < DRAIN_NEIGHBOURS; k++) {
        const struct drain_node *m = n + drain_neighbour[k][1] * wide + drain_neighbour[k][0];
        if (m->kind == DRAIN_FLOWS && m->next == (k + 3) % DRAIN_NEIGHBOURS)
            return false;
    }
    return true;
}

/* True if a curve with N in its middle, or another end there, may be of consequence. */
static bool concerns(const struct block *b, const struct drain_node *n)
{
    return n->x >= b->left && n->x <= b->right && n->y >= b->top && n->y <= b->bottom;
}

/* The curves that begin at N, which flows, or in the middle of its edge. */
static void see_course(struct rivers *r, const struct block *b, const struct drain_node *n,
                       int wide, see_curve *curve)
{
    const struct drain_node *to = next_of(n, wide);
    const float last = (float)(1 << (2 * (r->params.levels - 1 - b->level)));
    struct curve_pieces *c = &r->curve;
    struct point half = middle(n, to);
    if (concerns(b, n) && is_source(n, wide)) {
        const struct point start = {0, 0, (float)n->bed / DRAIN_METRE, 0.25f * DRAIN_LENGTH};
        half.length = (float)n->length;
        make_curve(r, n, start, half, last, c);
        if (c->order >= (float)r->params.from)
            curve(r, b, c);
    }
    if (!concerns(b, to))
        return;
    struct point from = middle(to, n), on = {0, 0, (float)to->bed / DRAIN_METRE, 0};
    if (to->kind == DRAIN_FLOWS)
        on = middle(to, next_of(to, wide));
    from.length = (float)n->length;
    on.length = (float)(to->kind == DRAIN_FLOWS && to->length > n->length ? to->length : n->length);
    make_curve(r, to, from, on, last, c);
    if (c->order >= (float)r->params.from)
        curve(r, b, c);
}

static int64_t floor_to(int64_t a, int64_t b)
{
    return a / b - (a % b < 0);
}

/* See all nodes within REACH metres of B, and the curves of their courses. */
static int see_around(struct rivers *r, struct block *b, float reach, see_curve *curve,
                      see_node *node)
{
    const int64_t s = r->params.spacing >> (2 * b->level);
    const int64_t far = (int64_t)(reach * FARLANDS_UNIT) + 5 * s / 4, around = far + 7 * s / 4;
    const int64_t left = at(b->chunk->x, b->i), right = at(b->chunk->x, b->i2 - 1);
    const int64_t top = at(b->chunk->y, b->j), bottom = at(b->chunk->y, b->j2 - 1);
    const int64_t x = left - around, x2 = right + around, y = top - around, y2 = bottom + around;
    /* A curve is within 5/4 spacings of its middle, meanders included; the node before that is up
     * to 7/4 spacings away. */
    b->left = left - far;
    b->right = right + far;
    b->top = top - far;
    b->bottom = bottom + far;
    /* Two nodes more on each side: those that a course flows to, and their next ones. */
    enum { MORE = 2 };
    for (int64_t j = floor_to(y, s); j <= floor_to(y2, s) + 1; j++) {
        const int64_t i = floor_to(x - s / 2 * j, s), i2 = floor_to(x2 - s / 2 * j, s) + 1;
        const int wide = (int)(i2 - i) + 1 + 2 * MORE, high = 1 + 2 * MORE;
        const int err = drain_nodes(r->drain, b->level, i - MORE, j - MORE, wide, high, r->node);
        if (err)
            return err;
        for (int k = MORE; k < wide - MORE; k++) {
            const struct drain_node *n = &r->node[MORE * wide + k];
            if (node)
                node(r, b, n);
            if (n->kind == DRAIN_FLOWS && n->birth < r->params.levels - 1)
                see_course(r, b, n, wide, curve);
        }
    }
    return 0;
}

/* The finest level whose nodes a picture with samples BAND_LIMIT apart can show. */
static int finest_level(const struct rivers *r, int64_t band_limit)
{
    enum { SAMPLES = 8 };
    int level = r->params.levels - 1;
    while (level > 0 && r->params.spacing >> (2 * level) < SAMPLES * band_limit)
        level--;
    return level;
}

static int see_chunk(struct rivers *r, const struct chunk *chunk, int64_t band_limit, float reach,
                     see_curve *curve, see_node *node)
{
    const int level = finest_level(r, band_limit);
    const int64_t spacing = r->params.spacing >> (2 * level);
    const int64_t apart = chunk->x.step > chunk->y.step ? chunk->x.step : chunk->y.step;
    /* Blocks of at most 16 nodes along a side, or single samples. */
    const int64_t fit = 16 * spacing / apart;
    const int side = fit < 1 ? 1 : fit > BLOCK ? BLOCK : (int)fit;
    for (int j = 0; j < chunk->height; j += side)
        for (int i = 0; i < chunk->width; i += side) {
            struct block b = {.chunk = chunk,
                              .i = i,
                              .j = j,
                              .i2 = i + side < chunk->width ? i + side : chunk->width,
                              .j2 = j + side < chunk->height ? j + side : chunk->height,
                              .level = level,
                              .spacing = metres(spacing)};
            const int err = see_around(r, &b, reach, curve, node);
            if (err)
                return err;
        }
    return 0;
}

int rivers_find_near(struct rivers *r, const struct chunk *chunk, int64_t band_limit)
{
    for (int j = 0; j < chunk->height; j++)
        for (int i = 0; i < chunk->width; i++) {
            r->bank[j][i] = RIVERS_NEAR;
            r->level[j][i] = r->order[j][i] = r->half[j][i] = r->depth[j][i] = 0;
        }
    return see_chunk(r, chunk, band_limit, RIVERS_NEAR, near_curve, NULL);
}

int rivers_find_valleys(struct rivers *r, const struct chunk *chunk, int64_t band_limit)
{
    for (int j = 0; j < chunk->height; j++)
        for (int i = 0; i < chunk->width; i++) {
            r->upper[j][i] = 1e9f;
            r->lower[j][i] = -1e9f;
            r->sum[j][i] = r->weight[j][i] = 0;
        }
    return see_chunk(r, chunk, band_limit, RIVERS_REACH, valley_of_curve, floor_of_node);
}

/* --- Values --- */

void rivers_bank(const struct rivers *r, int j, int rows, int width, struct rows out)
{
    for (int k = 0; k < rows; k++)
        memcpy(out.at + (size_t)k * out.stride, r->bank[j + k], (size_t)width * sizeof *out.at);
}

void rivers_water(const struct rivers *r, int j, int rows, int width, struct rows out)
{
    for (int k = 0; k < rows; k++)
        for (int i = 0; i < width; i++)
            out.at[(size_t)k * out.stride + (size_t)i] =
                r->bank[j + k][i] < 0 ? r->level[j + k][i] : RIVERS_DRY;
}

void rivers_order(const struct rivers *r, int j, int rows, int width, struct rows out)
{
    for (int k = 0; k < rows; k++)
        for (int i = 0; i < width; i++)
            out.at[(size_t)k * out.stride + (size_t)i] =
                r->bank[j + k][i] < 0 ? r->order[j + k][i] : 0;
}

/* Metres over the water that banks have, and how far they are level. */
static const float FREEBOARD = 0.4f, SHELF = 10;

void rivers_channel(const struct rivers *r, int j, int rows, int width, struct rows in,
                    struct rows out)
{
    for (int k = 0; k < rows; k++) {
        const float *bank = r->bank[j + k], *level = r->level[j + k], *half = r->half[j + k],
                    *depth = r->depth[j + k];
        const float *ground = in.at + (size_t)k * in.stride;
        float *to = out.at + (size_t)k * out.stride;
        for (int i = 0; i < width; i++) {
            const float d = bank[i], dry = d < 0 ? 0 : d;
            const float off = dry > SHELF + half[i] ? dry - SHELF - half[i] : 0;
            const float low = level[i] + FREEBOARD - off;
            const float high = level[i] + FREEBOARD + 0.1f * dry + 0.02f * dry * dry;
            float h = ground[i] < low ? low : ground[i];
            h = h > high ? high : h;
            /* In the water: a parabola. */
            const float f = half[i] > 0 ? 1 + d / half[i] : 1,
                        bed = level[i] - depth[i] * (1 - f * f);
            h = d < 0 ? bed : h;
            to[i] = d < RIVERS_NEAR ? h : ground[i];
        }
    }
}

void rivers_carve(const struct rivers *r, int j, int rows, int width, struct rows in,
                  struct rows out)
{
    static const float JOIN = 10; /* metres within which ground and valley are joined */
    for (int k = 0; k < rows; k++) {
        const float *upper = r->upper[j + k], *lower = r->lower[j + k], *sum = r->sum[j + k],
                    *weight = r->weight[j + k];
        const float *ground = in.at + (size_t)k * in.stride;
        float *to = out.at + (size_t)k * out.stride;
        for (int i = 0; i < width; i++) {
            const float floor = weight[i] > 0 ? sum[i] / weight[i] : ground[i];
            float t = ground[i] * 0.25f, h = ground[i];
            t = t < 0 ? 0 : t > 1 ? 1 : t;
            h += (floor > h ? floor - h : 0) * t * t * (3 - 2 * t);
            const float apart = h > upper[i] ? h - upper[i] : upper[i] - h;
            const float near = apart < JOIN ? 1 - apart / JOIN : 0;
            h = (h < upper[i] ? h : upper[i]) - near * near * (JOIN / 4);
            h = h < lower[i] && ground[i] > 0 ? lower[i] : h;
            to[i] = h;
        }
    }
}
