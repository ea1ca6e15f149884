/* Solves a block: from the level before, from the world's fields, by the three equations. */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "noise/drainage/drainage_parts.h"
#include "noise/drainage/hydraulics.h"
#include "noise/drainage/powers.h"
#include "noise/exact/lattice.h"
#include "noise/farlands.h"

/* Level 0, and levels with more metres between nodes, take the envelope as the ground: water runs
 * over it, and fills its hollows. Rivers build the ground of the others. */
static const double BUILDS = 4100;

/* What is solved. */
struct site {
    struct drainage *d;
    struct nodes *n;
    const struct turned *lattice;
    int64_t i, j; /* the first node */
    int level;
    bool builds, last;
    struct drainage_frame frame; /* cells of this level, from the first node's corner */
    struct turned_range range;   /* of the patch */
    /* The cell of the level before in which (u, v) lies, from the patch's first:
     * (at[0] + along u - across v, at[1] + across u + along v). */
    double at[2], along, across;
};

/* The four corners of the nodes. */
static void find_corners(const struct site *s, int64_t x[4], int64_t y[4])
{
    for (int k = 0; k < 4; k++) {
        const int64_t i = s->i + (k & 1 ? NODES_SIDE : 0), j = s->j + (k & 2 ? NODES_SIDE : 0);
        x[k] = turned_x(s->lattice, i, j);
        y[k] = turned_y(s->lattice, i, j);
    }
}

/* Between four values, FIRST and the next one, and those below in rows STRIDE apart, at (X, Y) from
 * FIRST on. */
static float bilinear(const float *first, int stride, float x, float y)
{
    const float *low = first + stride;
    const float above = first[0] + x * (first[1] - first[0]);
    const float below = low[0] + x * (low[1] - low[0]);
    return above + y * (below - above);
}

/* --- The level before --- */

static int find_before(struct site *s)
{
    const struct turned *t = &s->d->lattice[s->level - 1];
    int64_t x[4], y[4];
    find_corners(s, x, y);
    s->range = turned_cover(t, x, y, PATCH_AROUND);
    const double east = (double)(x[0] - turned_x(t, s->range.i, s->range.j));
    const double south = (double)(y[0] - turned_y(t, s->range.i, s->range.j));
    const double a = (double)t->a, b = (double)t->b;
    const double own_a = (double)s->lattice->a, own_b = (double)s->lattice->b;
    s->at[0] = (a * east + b * south) / t->square;
    s->at[1] = (a * south - b * east) / t->square;
    s->along = (a * own_a + b * own_b) / t->square;
    s->across = (a * own_b - b * own_a) / t->square;
    return drainage_fill_patch(s->d, s->level - 1, s->range, &s->frame);
}

/* A place between nodes of the patch: the first of four, and how far it is from there. */
struct between {
    int at;
    float x, y;
};

static struct between find_between(const struct site *s, int column, int row, int p)
{
    const double u = column + (double)s->n->x[p], v = row + (double)s->n->y[p];
    /* Nodes lie about in the middles of their cells. */
    const float x = (float)(s->at[0] + s->along * u - s->across * v - 0.5);
    const float y = (float)(s->at[1] + s->across * u + s->along * v - 0.5);
    const int i = (int)x, j = (int)y;
    return (struct between){j * s->range.width + i, x - (float)i, y - (float)j};
}

static float read_between(const struct site *s, const struct between *b, const float *value)
{
    return bilinear(value + b->at, s->range.width, b->x, b->y);
}

/* --- Fields of the world --- */

/* Samples around the block, INPUT_SIDE^2 at most. */
struct samples {
    double x, y, scale; /* the first one's place from the block's first corner, units; 1 / step */
    int width, height;
    const float *value;
};

/* Evaluate INPUT, with about CELLS cells between samples. */
static int ask(const struct site *s, enum drainage_input input, int cells, struct samples *out)
{
    int64_t x[4], y[4], step = 1;
    while (2 * step <= (int64_t)(s->lattice->metres * 1.001) * FARLANDS_UNIT * cells)
        step *= 2;
    find_corners(s, x, y);
    int64_t left = x[0], right = x[0], top = y[0], bottom = y[0];
    for (int k = 1; k < 4; k++) {
        left = x[k] < left ? x[k] : left;
        right = x[k] > right ? x[k] : right;
        top = y[k] < top ? y[k] : top;
        bottom = y[k] > bottom ? y[k] : bottom;
    }
    left = lattice_floor(left, step) * step;
    top = lattice_floor(top, step) * step;
    const struct farlands_grid grid = {
        left, top, step, (int)((right - left) / step) + 2, (int)((bottom - top) / step) + 2, true};
    *out =
        (struct samples){(double)(left - x[0]), (double)(top - y[0]), 1 / (double)step, grid.width,
                         grid.height,           s->d->input};
    if (grid.width > INPUT_SIDE || grid.height > INPUT_SIDE)
        return -ERANGE;
    return s->d->source(s->d->context, input, &grid, s->d->input);
}

/* Read samples at all nodes. */
static void read_samples(const struct site *s, const struct samples *in, float *out)
{
    const double a = (double)s->lattice->a, b = (double)s->lattice->b;
    for (int row = 0; row < NODES_SIDE; row++)
        for (int column = 0; column < NODES_SIDE; column++) {
            const int p = node_at(column, row);
            const double u = column + (double)s->n->x[p], v = row + (double)s->n->y[p];
            const float x = (float)((a * u - b * v - in->x) * in->scale);
            const float y = (float)((b * u + a * v - in->y) * in->scale);
            int i = (int)x, j = (int)y;
            i = i > in->width - 2 ? in->width - 2 : i;
            j = j > in->height - 2 ? in->height - 2 : j;
            out[p] = bilinear(in->value + j * in->width + i, in->width, x - (float)i, y - (float)j);
        }
}

/* The envelope, and the sea: finely where there may be a coast, and where water runs over it. */
static int find_sea(const struct site *s)
{
    static const float NEAR = 100; /* metres: the envelope may fall so much between samples */
    enum { COARSE = 8 };
    struct nodes *n = s->n;
    struct samples in;
    int err = ask(s, DRAINAGE_ENVELOPE, COARSE, &in);
    float least = NODES_HIGH;
    for (int k = 0; k < in.width * in.height && !err; k++)
        least = in.value[k] < least ? in.value[k] : least;
    if (!err && (least < NEAR || !s->builds))
        err = ask(s, DRAINAGE_ENVELOPE, 1, &in);
    if (err)
        return err;
    read_samples(s, &in, n->envelope);
    for (int p = NODES_FIRST; p < NODES_END; p++)
        if (n->envelope[p] <= 0)
            n->kind[p] = NODE_SEA;
    return 0;
}

static int find_slopes(const struct site *s)
{
    enum { COARSE = 8 };
    struct samples in;
    int err = ask(s, DRAINAGE_STEEPNESS, COARSE, &in);
    if (!err) {
        read_samples(s, &in, s->n->steepness);
        err = ask(s, DRAINAGE_SIDE, COARSE, &in);
    }
    if (!err)
        read_samples(s, &in, s->n->side);
    return err;
}

/* --- Nodes --- */

static uint32_t random_at(uint64_t column, uint64_t row)
{
    uint32_t r =
        ((uint32_t)column + (uint32_t)row) * ((uint32_t)(column >> 32) + (uint32_t)(row >> 32));
    r = (r ^ r >> 15) * UINT32_C(0x2c1b3c6d);
    return r ^ r >> 13;
}

/* The sum of two of R's bytes, -1 to 1: small values are likelier. */
static float tent(uint32_t r)
{
    return ((float)(r & 0xff) + (float)(r >> 8 & 0xff)) * (1 / 255.0f) - 1;
}

/* Places of nodes: anywhere in the inner three quarters of their cells. */
static void place_nodes(const struct site *s, const uint64_t *column, const uint64_t *row)
{
    struct nodes *n = s->n;
    const float own = (float)(s->lattice->metres * s->lattice->metres * 1e-6);
    for (int p = 0; p < NODES; p++) {
        n->x[p] = n->y[p] = 0.5f;
        n->upper[p] = n->height[p] = n->next[p] = NODES_HIGH;
        n->own[p] = n->area[p] = own;
        n->gain[p] = n->steepness[p] = n->side[p] = 1;
        n->envelope[p] = 1;
        n->off_floor[p] = NODES_HIGH;
        n->floor_area[p] = -NODES_HIGH;
        n->kind[p] = NODE_PLAIN;
    }
    for (int j = 0; j < NODES_SIDE; j++)
        for (int i = 0; i < NODES_SIDE; i++) {
            const uint32_t r = random_at(column[i], row[j]);
            n->x[node_at(i, j)] = (float)(32 + ((r & 0xff) * 3 >> 2)) / 256;
            n->y[node_at(i, j)] = (float)(32 + ((r >> 8 & 0xff) * 3 >> 2)) / 256;
        }
}

/* What finer levels will add: a fit to mountains, hills and plains with concavity 0.45. */
static float rest_of(const struct site *s, float steepness, float side)
{
    const double last = s->d->lattice[s->d->params.levels - 1].metres;
    if (s->last)
        return 0;
    if (!s->builds) {
        const float r = 1.05f * steepness / side;
        return 2400 * steepness / sqrtf(1 + r * r);
    }
    const float by =
        215 * powers_log2((float)(s->lattice->metres / last)) - 1000 * steepness / side;
    return steepness * (by > -350 ? by : -350);
}

/* How much steeper slopes are at node P, so that the mean ground stays that of the level before,
 * which still lacks LACK metres. */
static float gain_of(const struct site *s, int p, float lack)
{
    static const float MOST = 1.25f, RELIEF = 4; /* of hillsides, in slopes times spacings */
    const float rest = rest_of(s, s->n->steepness[p], s->n->side[p]);
    const float relief = RELIEF * s->n->side[p] * (float)s->lattice->metres;
    const float gain = 1 + (lack - rest) / relief;
    return !s->builds ? 1 : gain < 1 / MOST ? 1 / MOST : gain > MOST ? MOST : gain;
}

/* Rock, and what the ground is at most. */
static void start_nodes(const struct site *s, const uint64_t *column, const uint64_t *row)
{
    struct nodes *n = s->n;
    const struct drainage_patch *before = s->d->patch;
    /* Rock that varies over a kilometre or more varies most. */
    const float wide = s->lattice->metres > 1000 ? 1.5f : s->last ? 0.7f : 1;
    const float rough[2] = {1.3f * (float)s->d->params.rough * wide,
                            0.6f * (float)s->d->params.rough * wide};
    static const float LOG2_E = 1.442695f;
    for (int j = 0; j < NODES_SIDE; j++)
        for (int i = 0; i < NODES_SIDE; i++) {
            const int p = node_at(i, j);
            const uint32_t r = random_at(row[j] ^ 0x5555, column[i]);
            struct between b = {0, 0, 0};
            if (s->level > 0)
                b = find_between(s, i, j, p);
            for (int k = 0; k < 2; k++)
                n->rock[k][p] = rough[k] * tent(r >> (16 * k)) +
                                (s->level > 0 ? read_between(s, &b, before->rock[k]) : 0);
            n->side[p] *= powers_exp2(LOG2_E * n->rock[0][p]);
            n->steepness[p] *= powers_exp2(LOG2_E * n->rock[1][p]);
            if (s->level > 0) {
                n->target[p] = read_between(s, &b, before->mean);
                n->gain[p] = gain_of(s, p, n->target[p] - read_between(s, &b, before->height));
            }
            if (n->kind[p] == NODE_SEA)
                n->upper[p] = n->envelope[p];
            else if (!s->builds)
                n->upper[p] = n->upper[p] < n->envelope[p] ? n->upper[p] : n->envelope[p];
            else if (n->kind[p] == NODE_PLAIN)
                n->upper[p] = read_between(s, &b, before->height) +
                              4 * n->side[p] * (float)s->lattice->metres;
        }
}

/* --- Means --- */

/* Values of squares of nodes, WIDE along a side, with one more square on each side. */
enum { WIDE = 2, SQUARES = NODES_SIDE / WIDE };
typedef float square_values[SQUARES + 2][SQUARES + 2];

/* The means of VALUE over three by three squares, weighted 1, 2, 1 along both axes. */
static void find_means(const float *value, square_values out)
{
    square_values sum;
    memset(sum, 0, sizeof sum);
    for (int row = 0; row < NODES_SIDE; row++)
        for (int column = 0; column < NODES_SIDE; column++)
            sum[row / WIDE + 1][column / WIDE + 1] += value[node_at(column, row)];
    for (int k = 0; k < SQUARES + 2; k++) {
        sum[0][k] = sum[1][k];
        sum[SQUARES + 1][k] = sum[SQUARES][k];
    }
    for (int k = 0; k < SQUARES + 2; k++) {
        sum[k][0] = sum[k][1];
        sum[k][SQUARES + 1] = sum[k][SQUARES];
    }
    for (int j = 1; j <= SQUARES; j++)
        for (int i = 1; i <= SQUARES; i++) {
            float all = 4 * sum[j][i];
            all += 2 * (sum[j][i - 1] + sum[j][i + 1] + sum[j - 1][i] + sum[j + 1][i]);
            all += sum[j - 1][i - 1] + sum[j - 1][i + 1] + sum[j + 1][i - 1] + sum[j + 1][i + 1];
            out[j][i] = all / (float)(16 * WIDE * WIDE);
        }
}

static float read_means(const square_values mean, int column, int row)
{
    const int most = SQUARES - 1;
    const float x = ((float)column + 0.5f) / (float)WIDE + 0.5f;
    const float y = ((float)row + 0.5f) / (float)WIDE + 0.5f;
    int i = (int)x, j = (int)y;
    i = i < 1 ? 1 : i > most ? most : i;
    j = j < 1 ? 1 : j > most ? most : j;
    return bilinear(&mean[j][i], SQUARES + 2, x - (float)i, y - (float)j);
}

/* The height with what finer levels will add: the mean of the level before, with the valleys and
 * crests of this one. */
static void find_mean(const struct site *s)
{
    struct nodes *n = s->n;
    square_values rest;
    for (int p = NODES_FIRST; p < NODES_END; p++)
        n->sum[0][p] = n->target[p] - n->height[p];
    find_means(n->sum[0], rest);
    for (int row = 0; row < NODES_SIDE; row++)
        for (int column = 0; column < NODES_SIDE; column++) {
            const int p = node_at(column, row);
            n->mean[p] = n->height[p] + read_means(rest, column, row);
        }
}

/* --- A block --- */

static void run_over_envelope(const struct site *s)
{
    struct nodes *n = s->n;
    hydraulics_flood(n);
    hydraulics_route(n);
    for (int p = NODES_FIRST; p < NODES_END; p++)
        n->mean[p] =
            n->height[p] + (n->kind[p] == NODE_SEA ? 0 : rest_of(s, n->steepness[p], n->side[p]));
}

static void build(const struct site *s)
{
    struct nodes *n = s->n;
    const float concavity = (float)s->d->params.concavity, cell = (float)s->lattice->metres;
    /* The first slopes fit the nodes' own areas, the second those that drain to them. */
    for (int pass = 0; pass < 2; pass++) {
        hydraulics_slopes(n, concavity, cell);
        hydraulics_climb(n);
        hydraulics_route(n);
    }
    if (s->last) {
        hydraulics_creep(n);
        memcpy(n->mean, n->height, sizeof n->mean);
    } else {
        find_mean(s);
    }
}

static int8_t rock_byte(float rock)
{
    const float most = 127, r = rock * ROCK_UNIT;
    return (int8_t)(r > most ? most : r < -most ? -most : r);
}

static void keep_nodes(const struct nodes *n, struct drainage_block *b)
{
    for (int row = 0; row < BLOCK_SIDE; row++)
        for (int column = 0; column < BLOCK_SIDE; column++) {
            const int p = node_at(column + BLOCK_MARGIN, row + BLOCK_MARGIN);
            const int to = row * BLOCK_SIDE + column;
            b->height[to] = n->height[p];
            b->mean[to] = n->mean[p];
            b->area[to] = n->area[p];
            b->rock[0][to] = rock_byte(n->rock[0][p]);
            b->rock[1][to] = rock_byte(n->rock[1][p]);
            b->x[to] = (uint8_t)(n->x[p] * 256);
            b->y[to] = (uint8_t)(n->y[p] * 256);
            b->kind[to] = n->kind[p];
            b->receiver[to] = (int8_t)n->receiver[p];
        }
}

int drainage_solve(struct drainage *d, struct drainage_block *b)
{
    const struct turned *t = &d->lattice[b->level];
    struct site s = {.d = d,
                     .n = d->nodes,
                     .lattice = t,
                     .i = b->i * BLOCK_SIDE - BLOCK_MARGIN,
                     .j = b->j * BLOCK_SIDE - BLOCK_MARGIN,
                     .level = b->level,
                     .builds = b->level > 0 && t->metres < BUILDS,
                     .last = b->level == d->params.levels - 1};
    uint64_t column[NODES_SIDE], row[NODES_SIDE];
    s.frame = (struct drainage_frame){turned_x(t, s.i, s.j), turned_y(t, s.i, s.j),
                                      (double)t->a / t->square, (double)t->b / t->square};
    int err = s.level > 0 ? find_before(&s) : 0;
    if (err)
        return err;
    for (int k = 0; k < NODES_SIDE; k++) {
        column[k] = lattice_axis(s.i + k, t->key);
        row[k] = lattice_axis(s.j + k, ~t->key);
    }
    place_nodes(&s, column, row);
    err = find_sea(&s);
    if (err)
        return err;
    if (s.level > 0)
        drainage_lay_courses(d, s.level, s.i, s.j);
    hydraulics_measure(s.n);
    err = find_slopes(&s);
    if (err)
        return err;
    start_nodes(&s, column, row);
    if (s.builds)
        build(&s);
    else
        run_over_envelope(&s);
    keep_nodes(s.n, b);
    return 0;
}
