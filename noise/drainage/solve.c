/* Solves a block: from the level before, from the world's fields, by the three equations. */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "noise/drainage/between.h"
#include "noise/drainage/drainage_parts.h"
#include "noise/drainage/hydraulics.h"
#include "noise/drainage/lakes.h"
#include "noise/drainage/powers.h"
#include "noise/drainage/routes.h"
#include "noise/exact/lattice.h"
#include "noise/farlands.h"

_Static_assert((int)PATCH_VALUES == FOUR, "values are read all at once");

/* What is solved. */
struct site {
    struct drainage *d;
    struct nodes *n;
    const struct turned *lattice;
    int64_t i, j; /* the first node */
    int level;
    bool builds, first, last;    /* rivers build: here, and not on the level before */
    bool lakes;                  /* may begin here */
    float cell;                  /* km2 */
    float finer;                 /* metres that finer levels add, for each unit of steepness */
    struct drainage_frame frame; /* cells of this level, from the first node's corner */
    struct turned_range range;   /* of the patch */
    /* The cell of the level before in which (u, v) lies, from the patch's first:
     * (at[0] + along u - across v, at[1] + across u + along v). */
    double at[2], along, across;
};

/* --- The level before --- */

static int find_before(struct site *s)
{
    const struct turned *t = &s->d->lattice[s->level - 1];
    int64_t x[4], y[4];
    drainage_corners(s->lattice, s->i, s->j, x, y);
    s->range = turned_cover(t, x, y, PATCH_AROUND);
    const double east = (double)(x[0] - turned_x(t, s->range.i, s->range.j));
    const double south = (double)(y[0] - turned_y(t, s->range.i, s->range.j));
    const double a = (double)t->a, b = (double)t->b;
    const double own_a = (double)s->lattice->a, own_b = (double)s->lattice->b;
    s->at[0] = (a * east + b * south) / t->square;
    s->at[1] = (a * south - b * east) / t->square;
    s->along = (a * own_a + b * own_b) / t->square;
    s->across = (a * own_b - b * own_a) / t->square;
    return drainage_fill_patch(s->d, s->level - 1, s->range, &s->frame, false);
}

/* The values of the patch at node P, in COLUMN and ROW. */
static inline four_values read_before(const struct site *s, int column, int row, int p)
{
    /* Nodes lie about in the middles of their cells. */
    const double u = column + (double)s->n->x[p], v = row + (double)s->n->y[p];
    const float x = (float)(s->at[0] + s->along * u - s->across * v - 0.5);
    const float y = (float)(s->at[1] + s->across * u + s->along * v - 0.5);
    const int i = (int)x, j = (int)y;
    const float east = x - (float)i, south = y - (float)j;
    return between_four(s->d->patch->value[j * s->range.width + i], s->range.width * FOUR, east,
                        south);
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
    const float own = s->cell;
    for (int p = 0; p < NODES; p++) {
        n->x[p] = n->y[p] = 0.5f;
        n->upper[p] = n->height[p] = n->next[p] = NODES_HIGH;
        n->own[p] = n->area[p] = own;
        n->gain[p] = n->steepness[p] = n->side[p] = 1;
        n->envelope[p] = 1;
        n->top[p] = NODES_HIGH;
        n->off_floor[p] = NODES_HIGH;
        n->floor_area[p] = -NODES_HIGH;
        n->off_wall[p] = NODES_HIGH;
        n->ice[p] = n->wall_half[p] = 0;
        n->kind[p] = NODE_PLAIN;
        n->way[p] = NO_RECEIVER;
        n->is_sill[p] = n->course_wet[p] = false;
        n->course_lake[p] = n->course_depth[p] = n->lake[p] = n->depth[p] = n->fade[p] = 0;
        n->target[p] = n->sum[0][p] = 0;
    }
    for (int j = 0; j < NODES_SIDE; j++)
        for (int i = 0; i < NODES_SIDE; i++) {
            const uint32_t r = random_at(column[i], row[j]);
            n->x[node_at(i, j)] = (float)(32 + ((r & 0xff) * 3 >> 2)) / 256;
            n->y[node_at(i, j)] = (float)(32 + ((r >> 8 & 0xff) * 3 >> 2)) / 256;
        }
}

/* What finer levels will add to a level that rivers build: a fit like mean_over_envelope's. */
static float rest_of(const struct site *s, float steepness, float side)
{
    const float by = s->finer - 1000 * steepness / side;
    return steepness * (by > -350 ? by : -350);
}

/* Rock, and what the level before promises. */
static void read_nodes(const struct site *s, const uint64_t *column, const uint64_t *row)
{
    struct nodes *n = s->n;
    /* Rock that varies over a kilometre or more varies most. */
    const float wide = s->lattice->metres > 1000 ? 1.5f : s->last ? 0.7f : 1;
    const float rough[2] = {1.3f * (float)s->d->params.rough * wide,
                            0.6f * (float)s->d->params.rough * wide};
    for (int j = 0; j < NODES_SIDE; j++)
        for (int i = 0; i < NODES_SIDE; i++) {
            const int p = node_at(i, j);
            const uint32_t r = random_at(row[j] ^ 0x5555, column[i]);
            const four_values before = s->level > 0 ? read_before(s, i, j, p) : (four_values){0};
            for (int k = 0; k < 2; k++)
                n->rock[k][p] = rough[k] * tent(r >> (16 * k)) + before[PATCH_ROCK + k];
            n->before[p] = drainage_ashore(before[PATCH_HEIGHT], s->n->base);
            n->target[p] = drainage_ashore(before[PATCH_MEAN], s->n->base);
            n->filled[p] = before[PATCH_HEIGHT] - before[PATCH_MEAN];
        }
}

/* Whether P lies at or near a glacier's walls, over which its water falls: then the course of the
 * level before, which has fewer places, does not say how high it is. */
static bool hangs(const struct nodes *n, int p)
{
    const float off = n->off_wall[p] * n->wall_half[p];
    return n->has_ice && n->ice[p] > 0 && n->wall_half[p] > 0 && off > n->wall_half[p] &&
           off < NODES_FLOOR_REACH * n->wall_half[p] + NODES_HANGING &&
           powers_log2(n->own[p]) < NODES_GLACIER + 0.5f;
}

/* Slopes by rock, and what the ground is at most, for the nodes from P to END. */
static void start_row(const struct site *s, int p, int end)
{
    /* How much steeper slopes are, at most, so that the mean ground stays that of the level before;
     * the relief of hillsides, in slopes times spacings. */
    static const float MOST = 1.25f, RELIEF = 4, LOG2_E = 1.442695f;
    struct nodes *n = s->n;
    const float cell = (float)s->lattice->metres;
    /* Where rivers build, the ground is not much higher than on the level before, far from all
     * courses. Else it is the envelope, whose great hollows the level before has filled. */
    for (int q = p; q < end; q++) {
        const float above = n->before[q] + 4 * n->side[q] * cell;
        const float filled = n->envelope[q] + n->filled[q];
        const float dry = n->filled[q] > 0 && filled < n->before[q] ? n->before[q] : filled;
        const float upper = n->kind[q] == NODE_SEA ? drainage_ashore(n->envelope[q], n->base)
                            : s->builds            ? above
                                                   : dry;
        n->upper[q] =
            n->kind[q] != NODE_COURSE || (!s->builds && upper < n->upper[q]) || hangs(n, q)
                ? upper
                : n->upper[q];
        const float top = n->kind[q] == NODE_SEA ? NODES_HIGH : drainage_ashore(n->top[q], n->base);
        n->upper[q] = n->upper[q] < top ? n->upper[q] : top;
    }
    for (int q = p; q < end; q++) {
        n->side[q] *= powers_exp2(LOG2_E * n->rock[0][q]);
        n->steepness[q] *= powers_exp2(LOG2_E * n->rock[1][q]);
    }
    if (!s->builds)
        return;
    for (int q = p; q < end; q++) {
        const float rest = s->last ? 0 : rest_of(s, n->steepness[q], n->side[q]);
        const float lack = s->first ? 0 : n->target[q] - n->before[q] - rest;
        const float gain = 1 + lack / (RELIEF * n->side[q] * cell);
        n->gain[q] = gain < 1 / MOST ? 1 / MOST : gain > MOST ? MOST : gain;
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

/* The height of P with REST, what finer levels will add. The coast stays where it is. */
static float mean_over(const struct nodes *n, int p, float rest)
{
    static const float SHORE = 2;
    const float height = n->height[p], mean = height + rest;
    const float least = height < SHORE ? height : SHORE;
    const float most = n->top[p] > height ? n->top[p] : height;
    if (height <= 0)
        return height;
    return mean > most ? most : mean < least ? least : mean;
}

/* The height with what finer levels will add: the mean of the level before, with the valleys and
 * crests of this one. */
static void find_mean(const struct site *s)
{
    struct nodes *n = s->n;
    square_values rest;
    for (int p = NODES_FIRST; p < NODES_END; p++) {
        const float lack =
            s->first ? rest_of(s, n->steepness[p], n->side[p]) : n->target[p] - n->height[p];
        n->sum[0][p] = n->height[p] <= 0 ? 0 : lack;
    }
    find_means(n->sum[0], rest);
    for (int row = 0; row < NODES_SIDE; row++)
        for (int column = 0; column < NODES_SIDE; column++) {
            const int p = node_at(column, row);
            n->mean[p] = mean_over(n, p, read_means(rest, column, row));
        }
}

/* --- A block --- */

static void route(const struct site *s)
{
    const float before = s->level > 0 ? 4 * s->cell : 0;
    routes_find(s->n, s->cell, ROUTES_COURSE * before);
}

/* The sea's ground, once water has found its way. */
static void find_sea_floor(struct nodes *n)
{
    for (int p = NODES_FIRST; p < NODES_END; p++)
        n->height[p] = n->kind[p] == NODE_SEA ? n->envelope[p] : n->height[p];
}

static void run_over_envelope(const struct site *s)
{
    struct nodes *n = s->n;
    routes_flood(n);
    route(s);
    find_sea_floor(n);
    memcpy(n->mean, n->envelope, sizeof n->mean);
}

/* Random bits for lakes. */
static void draw_lakes(struct nodes *n, const uint64_t *column, const uint64_t *row)
{
    for (int j = 0; j < NODES_SIDE; j++)
        for (int i = 0; i < NODES_SIDE; i++)
            n->draw[node_at(i, j)] = random_at(row[j] ^ 0xaaaa, column[i]);
}

static void build(const struct site *s)
{
    struct nodes *n = s->n;
    const float concavity = (float)s->d->params.concavity, cell = (float)s->lattice->metres;
    /* The first slopes fit the nodes' own areas, the second those that drain to them. On the last
     * level that hardly changes the ground. */
    for (int pass = 0; pass < (s->last ? 1 : 2); pass++) {
        hydraulics_slopes(n, concavity, cell);
        hydraulics_climb(n, cell);
        route(s);
        if (pass == 0 && s->lakes)
            lakes_begin(n, cell);
    }
    if (s->last)
        hydraulics_creep(n);
    find_sea_floor(n);
    if (s->last) {
        memcpy(n->mean, n->height, sizeof n->mean);
    } else {
        find_mean(s);
    }
    lakes_find(n, cell);
}

static int8_t rock_byte(float rock)
{
    const float most = 127, r = rock * ROCK_UNIT;
    return (int8_t)(r > most ? most : r < -most ? -most : r);
}

void drainage_keep_nodes(const struct drainage *d, struct drainage_block *b)
{
    const struct nodes *n = d->nodes;
    b->has_lakes = false;
    for (int row = 0; row < BLOCK_SIDE; row++)
        for (int column = 0; column < BLOCK_SIDE; column++) {
            const int p = node_at(column + BLOCK_MARGIN, row + BLOCK_MARGIN);
            const int to = row * BLOCK_SIDE + column;
            b->height[to] = n->height[p];
            b->mean[to] = n->mean[p];
            b->area[to] = n->area[p];
            b->lake[to] = lake_quarters(n->lake[p]);
            b->depth[to] = lake_parts(n->depth[p]);
            b->has_lakes |= b->depth[to] > 0;
            b->rock[0][to] = rock_byte(n->rock[0][p]);
            b->rock[1][to] = rock_byte(n->rock[1][p]);
            b->x[to] = (uint8_t)(n->x[p] * 256);
            b->y[to] = (uint8_t)(n->y[p] * 256);
            b->kind[to] = n->kind[p];
            b->receiver[to] = (int8_t)n->receiver[p];
        }
}

static bool is_all_sea(const struct nodes *n)
{
    int land = 0;
    for (int row = 0; row < NODES_SIDE; row++)
        for (int column = 0; column < NODES_SIDE; column++)
            land += n->kind[node_at(column, row)] != NODE_SEA;
    return land == 0;
}

/* What build and run_over_envelope make of a block without land, where no water flows. */
static void leave_to_the_sea(struct nodes *n)
{
    memcpy(n->height, n->envelope, sizeof n->height);
    memcpy(n->mean, n->envelope, sizeof n->mean);
    memcpy(n->area, n->own, sizeof n->area);
    for (int p = NODES_FIRST; p < NODES_END; p++)
        n->receiver[p] = NO_RECEIVER;
}

/* Leave a block to the sea if it is all *SEA: then the level before is not needed. */
static int solve_sea(const struct site *s, const uint64_t *column, const uint64_t *row, bool *sea)
{
    struct nodes *n = s->n;
    int err = drainage_looks_like_sea(s->d, s->level, s->i, s->j, sea);
    if (err || !*sea)
        return err;
    place_nodes(s, column, row);
    err = drainage_find_inputs(s->d, s->level, s->builds, false, s->i, s->j);
    *sea = !err && is_all_sea(n);
    if (!*sea)
        return err;
    memset(n->rock, 0, sizeof n->rock);
    leave_to_the_sea(n);
    return 0;
}

bool drainage_builds(const struct drainage *d, int level)
{
    return level > 0 && d->params.spacing >> level <= DRAINAGE_BUILDS * FARLANDS_UNIT;
}

int drainage_solve(struct drainage *d, int level, int64_t i, int64_t j)
{
    const struct turned *t = &d->lattice[level];
    struct site s = {.d = d,
                     .n = d->nodes,
                     .lattice = t,
                     .i = i * BLOCK_SIDE - BLOCK_MARGIN,
                     .j = j * BLOCK_SIDE - BLOCK_MARGIN,
                     .level = level,
                     .builds = drainage_builds(d, level),
                     .first = drainage_builds(d, level) && !drainage_builds(d, level - 1),
                     .last = level == d->params.levels - 1};
    uint64_t column[NODES_SIDE], row[NODES_SIDE];
    s.finer = 215 * powers_log2((float)(t->metres / d->lattice[d->params.levels - 1].metres));
    s.cell = (float)(t->metres * t->metres * 1e-6);
    s.frame = (struct drainage_frame){turned_x(t, s.i, s.j),
                                      turned_y(t, s.i, s.j),
                                      (double)t->a / t->square,
                                      (double)t->b / t->square,
                                      NODES_SIDE,
                                      NODES_SIDE,
                                      3.5 * (double)PATCH_AROUND};
    for (int k = 0; k < NODES_SIDE; k++) {
        column[k] = lattice_axis(s.i + k, t->key);
        row[k] = lattice_axis(s.j + k, ~t->key);
    }
    s.n->base = (float)d->params.base;
    bool sea = false;
    int err = solve_sea(&s, column, row, &sea);
    if (err || sea)
        return err;
    err = s.level > 0 ? find_before(&s) : 0;
    if (err)
        return err;
    place_nodes(&s, column, row);
    s.lakes = s.builds && !s.last && t->metres > 500;
    if (s.lakes)
        draw_lakes(s.n, column, row);
    err = drainage_find_inputs(d, s.level, s.builds, s.lakes, s.i, s.j);
    if (err)
        return err;
    if (s.level > 0)
        drainage_lay_courses(d, s.level, s.builds, s.i, s.j);
    read_nodes(&s, column, row);
    if (is_all_sea(s.n)) {
        leave_to_the_sea(s.n);
    } else {
        hydraulics_measure(s.n);
        for (int k = 0; k < NODES_SIDE; k++)
            start_row(&s, node_at(0, k), node_at(0, k) + NODES_SIDE);
        if (s.builds)
            build(&s);
        else
            run_over_envelope(&s);
        routes_mark_courses(s.n, s.cell, s.builds);
        if (s.last && s.builds)
            routes_lower_mouths(s.n);
    }
    return 0;
}
