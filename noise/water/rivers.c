/* Finds the water and the valleys near samples. */
#include "rivers.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "noise/exact/aligned.h"
#include "noise/exact/lattice.h"
#include "noise/fractal/noise.h"
#include "noise/water/river_windows.h"
#include "noise/water/rivers_parts.h"

enum {
    /* Remembered curves: two for each node in a square this wide, a power of two. */
    CURVES_SIDE = 32,
    CURVES = 2 * CURVES_SIDE * CURVES_SIDE,
};

_Static_assert((int)RIVERS_MAX_LEVELS == (int)DRAIN_MAX_LEVELS, "rivers are drained on all levels");

int rivers_new_on(struct rivers **out, const struct rivers_params *params,
                  const struct kernel *kernel, struct drainage *drainage)
{
    /* Metres: where the sea is as deep, rivers that have built their ground do not shape its floor,
     * or they would run out to sea on dams. */
    static const float MOUTH_DEPTH = 0.4f;
    struct rivers *r = aligned_new(sizeof *r);
    if (!r)
        return -ENOMEM;
    memset(r, 0, sizeof *r);
    r->network = (struct river_network){*params, NULL, drainage};
    r->kernel = kernel;
    r->near.sea = drainage ? 1 / MOUTH_DEPTH : 0;
    r->half = (float)rivers_widest(params) / 2;
    r->kept = calloc(CURVES, sizeof *r->kept);
    if (!r->kept) {
        rivers_free(r);
        return -ENOMEM;
    }
    *out = r;
    return 0;
}

int rivers_new(struct rivers **out, const struct rivers_params *params, const struct kernel *kernel,
               drain_ground *ground, void *context)
{
    const struct drain_shape shape = {params->spacing, params->levels};
    int err = rivers_new_on(out, params, kernel, NULL);
    if (err)
        return err;
    err = drain_new(&(*out)->network.drain, &shape, ground, context);
    if (err)
        rivers_free(*out);
    return err;
}

void rivers_free(struct rivers *rivers)
{
    if (rivers) {
        drain_free(rivers->network.drain);
        free(rivers->node);
        free(rivers->kept);
    }
    aligned_free(rivers);
}

const struct river_network *rivers_network(const struct rivers *rivers)
{
    return &rivers->network;
}

/* --- Blocks of samples --- */

/* A block of samples, and what is looked for around them. */
struct block {
    struct river_block samples;
    int level;                        /* on the drainage */
    bool is_valley;                   /* look for valleys, not for water */
    bool is_wide;                     /* a picture that shows no bends between nodes */
    float from, least;                /* the least order of water, and length of a node */
    int64_t left, right, top, bottom; /* curves matter from here to there, in units */
};

static float reach_of(const struct rivers *r, const struct block *b)
{
    return b->is_valley ? (float)RIVERS_REACH : rivers_near_reach(r);
}

/* True if a curve's sides are fine enough for B. */
static bool is_rough(const struct block *b)
{
    return b->is_valley || b->is_wide;
}

/* Prepare NEAR for rows J to J2 - 1 in CHUNK. */
static void need_rows(struct rivers *r, const struct chunk *chunk, int j, int j2)
{
    const float far = rivers_near_reach(r);
    const int n = whole_steps(chunk->width);
    for (; j < j2; j++) {
        if (r->wet[j])
            continue;
        r->wet[j] = true;
        for (int i = 0; i < n; i++)
            r->near.bank[j][i] = far;
        memset(r->near.level[j], 0, (size_t)n * sizeof(float));
        memset(r->near.order[j], 0, (size_t)n * sizeof(float));
        memset(r->near.half[j], 0, (size_t)n * sizeof(float));
        memset(r->near.depth[j], 0, (size_t)n * sizeof(float));
        memset(r->near.lakes.level[j], 0, (size_t)n * sizeof(float));
        memset(r->near.lakes.weight[j], 0, (size_t)n * sizeof(float));
    }
}

static void add_curve(struct rivers *r, const struct block *b, const struct river_curve *c)
{
    float place[2][KERNEL_CHUNK];
    struct river_window w;
    const float reach = reach_of(r, b) + c->half;
    /* Valleys begin before they have water. */
    if ((!b->is_valley && c->order < b->from) ||
        !river_window_find(&b->samples, c->x, c->y,
                           (struct river_box){c->left - reach, c->right + reach, c->top - reach,
                                              c->bottom + reach},
                           place, &w))
        return;
    const bool rough = is_rough(b);
    const int count = rough ? c->sides : c->pieces;
    for (int t = 0; t < count; t++) {
        const struct river_piece *piece = rough ? &c->side[t] : &c->piece[t];
        const struct river_window near = river_window_near(&b->samples, &w, piece, reach);
        if (near.i >= near.i2)
            continue;
        if (b->is_valley) {
            r->kernel->river_valley(piece, &near, &r->valleys);
        } else {
            need_rows(r, b->samples.chunk, near.j, near.j2);
            r->kernel->river_near(piece, &near, &r->near);
        }
    }
}

/* How much N is a lake: 0 if the hollow is half as deep as lakes are, 1 if as deep. But 0 if
 * a neighbor's bed is lower, because no ground would hold the water there. */
static float lake_of(const struct rivers *r, const struct course_node *n,
                     const struct river_network_rows *rows)
{
    static const float LOWER = 8; /* metres */
    const float bed = (float)n->bed;
    float held = 1;
    const float depth = ((float)n->bed - (float)n->ground) / (float)COURSE_METRE;
    const float t = 2 * depth / (float)r->network.params.lake - 1;
    if (n->kind == COURSE_SEA || t <= 0)
        return 0;
    for (int k = 0; k < rows->neighbors; k++)
        for (int m = 0; m < rows->neighbors; m++) {
            const struct course_node *near =
                river_network_beside(river_network_beside(n, k, rows), m, rows);
            const float lower = (bed - (float)near->bed) / (float)COURSE_METRE;
            held = 1 - lower / LOWER < held ? 1 - lower / LOWER : held;
        }
    return held < 0 ? 0 : held * (t > 1 ? 1 : t);
}

/* Add the floor of a drain's valleys, and lakes, around N. */
static void add_node(struct rivers *r, const struct block *b, const struct course_node *n,
                     const struct river_network_rows *rows)
{
    float place[2][KERNEL_CHUNK];
    struct river_window w;
    const float spacing =
        (float)((double)rivers_spacing(&r->network.params, b->level) / FARLANDS_UNIT);
    const struct river_node node = {(float)(n->kind == COURSE_SEA ? n->ground : n->bed) /
                                        (float)COURSE_METRE,
                                    RIVERS_SPREAD * spacing, lake_of(r, n, rows)};
    if ((!b->is_valley && node.share == 0) ||
        !river_window_find(&b->samples, n->x, n->y,
                           (struct river_box){-node.reach, node.reach, -node.reach, node.reach},
                           place, &w))
        return;
    if (b->is_valley)
        r->kernel->river_floor(&node, &w, &r->valleys);
    if (!b->is_valley)
        need_rows(r, b->samples.chunk, w.j, w.j2);
    if (node.share > 0)
        r->kernel->river_lake(&node, &w, b->is_valley ? &r->valleys.lakes : &r->near.lakes);
}

/* --- Nodes around a block --- */

bool rivers_is_source(const struct course_node *n, const struct river_network_rows *rows)
{
    for (int k = 0; k < rows->neighbors; k++)
        if (river_network_feeds(n, k, rows))
            return false;
    return true;
}

/* True if a curve with N in its middle, or an end lake at N, may matter. */
static bool concerns(const struct block *b, const struct course_node *n)
{
    return n->x >= b->left && n->x <= b->right && n->y >= b->top && n->y <= b->bottom;
}

/* The curve over node (I, J)'s next node, or the one that begins at (I, J), as fine as B needs. */
static const struct river_curve *curve_of(struct rivers *r, const struct block *b, int64_t i,
                                          int64_t j, const struct course_node *n, bool over,
                                          const struct river_network_rows *rows)
{
    const bool fine = !is_rough(b);
    struct kept_curve *kept = &r->kept[2 * drain_slot(i, j, CURVES_SIDE) + over];
    if (kept->full && kept->level == b->level && kept->i == i && kept->j == j &&
        kept->over == over && (kept->fine == fine || (kept->fine && r->network.drain)))
        return &kept->curve;
    kept->full = true;
    kept->fine =
        fine; /* a fine curve has the sides of a rough one, but for a drainage's meanders */
    kept->level = (int8_t)b->level;
    kept->i = i;
    kept->j = j;
    kept->over = over;
    const struct course_node *to = river_network_next(n, rows);
    const struct river_bend bend =
        over ? river_bend_from(n, rows, b->level) : (struct river_bend){NULL, n, to, 1, false};
    if (to)
        river_curve_make(&kept->curve, &r->network, b->level, bend, fine);
    else
        river_curve_make_end(&kept->curve, &r->network, b->level, n);
    return &kept->curve;
}

/* Add the curve that begins at node (I, J), and the one over its next node. */
static void add_course(struct rivers *r, const struct block *b, int64_t i, int64_t j,
                       const struct course_node *n, const struct river_network_rows *rows)
{
    if (n->kind == COURSE_SEA || n->birth >= b->level)
        return;
    const struct course_node *to = river_network_next(n, rows);
    /* A curve's order is at most that of its node in the middle. */
    if (!b->is_valley && to && to->kind == COURSE_FLOWS && (float)to->length < b->least &&
        (float)n->length < b->least)
        return;
    if (concerns(b, n) && (n->kind == COURSE_END || rivers_is_source(n, rows)))
        add_curve(r, b, curve_of(r, b, i, j, n, false, rows));
    if (to && concerns(b, to))
        add_curve(r, b, curve_of(r, b, i, j, n, true, rows));
}

/* Read AREA's nodes into R's memory. */
static int find_nodes(struct rivers *r, int level, const struct river_network_area *area)
{
    const size_t count = (size_t)area->nodes.width * (size_t)area->nodes.height;
    if (count > r->nodes) {
        free(r->node);
        r->node = malloc(count * sizeof *r->node);
        r->nodes = r->node ? count : 0;
    }
    return r->node ? river_network_nodes(&r->network, level, area, r->node) : -ENOMEM;
}

/* Add all nodes within reach of B, and the curves of their courses. */
static int visit_cells(struct rivers *r, struct block *b)
{
    /* Two nodes more on each side: those that a course flows to, and their next ones. */
    enum { MORE = 2 };
    const struct river_network_reach quarters = river_network_reach(&r->network);
    const int64_t s = rivers_spacing(&r->network.params, b->level);
    const int64_t far = river_units(reach_of(r, b) + r->half) + quarters.curve * s / 4;
    const int64_t around = far + quarters.edge * s / 4;
    const struct river_block *samples = &b->samples;
    const struct coordinates x = samples->chunk->x, y = samples->chunk->y;
    const int64_t left = coordinate_at(x, samples->i);
    const int64_t right = coordinate_at(x, samples->i2 - 1);
    const int64_t top = coordinate_at(y, samples->j);
    const int64_t bottom = coordinate_at(y, samples->j2 - 1);
    b->left = left - far;
    b->right = right + far;
    b->top = top - far;
    b->bottom = bottom + far;
    const struct river_network_area area = river_network_area_of(
        &r->network, b->level, left - around, right + around, top - around, bottom + around, MORE);
    const struct river_network_rows rows = river_network_rows(&r->network, area.nodes.width);
    const int err = find_nodes(r, b->level, &area);
    for (int row = MORE; row < area.nodes.height - MORE && !err; row++) {
        const int64_t j = area.nodes.j + row;
        int64_t i, i2;
        river_network_columns(&r->network, b->level, &area, j, &i, &i2);
        const struct course_node *n =
            &r->node[(ptrdiff_t)row * area.nodes.width + (i - area.nodes.i)];
        for (; i < i2; i++, n++) {
            if (r->network.drain)
                add_node(r, b, n, &rows);
            add_course(r, b, i, j, n, &rows);
        }
    }
    return err;
}

static int fill_chunk(struct rivers *r, const struct chunk *chunk, int64_t band_limit,
                      bool is_valley)
{
    const int level = river_network_level(&r->network, band_limit);
    const float from = river_network_from(&r->network, band_limit);
    const int64_t spacing = rivers_spacing(&r->network.params, level);
    const int64_t apart = chunk->x.step > chunk->y.step ? chunk->x.step : chunk->y.step;
    enum { WIDE = 16 };
    /* Blocks with at most 40 nodes along a side: a picture's tile with its edges, or single
     * samples. */
    const int64_t fit = 40 * spacing / apart;
    int side = fit < 1 ? 1 : fit > KERNEL_CHUNK ? KERNEL_CHUNK : (int)fit;
    const int step = side < KERNEL_STEP || chunk->width < KERNEL_STEP ? 1 : KERNEL_STEP;
    side = side / step * step;
    for (int j = 0; j < chunk->height; j += side)
        for (int i = 0; i < chunk->width; i += side) {
            struct block b = {
                .samples = {chunk, i, j, i + side < chunk->width ? i + side : chunk->width,
                            j + side < chunk->height ? j + side : chunk->height, step},
                .level = level,
                .is_valley = is_valley,
                .is_wide = band_limit > 0 && spacing < WIDE * apart,
                .from = from,
                .least = 0.99f * river_length_of(from) / river_network_length(&r->network, level)};
            const int err = visit_cells(r, &b);
            if (err)
                return err;
        }
    return 0;
}

/* Set CHUNK's samples in VALUES. */
static void fill(river_values values, const struct chunk *chunk, float value)
{
    for (int j = 0; j < chunk->height; j++)
        for (int i = 0; i < whole_steps(chunk->width); i++)
            values[j][i] = value;
}

/* Find the lakes of a drainage, whose levels are known. */
static int find_lakes(struct rivers *r, const struct chunk *chunk, int64_t band_limit)
{
    /* So much heavier than a drain's lakes that no dam rises around them. */
    static const float WEIGHT = 64, NONE = -1e9f;
    int64_t x[KERNEL_CHUNK], y[KERNEL_CHUNK];
    for (int i = 0; i < chunk->width; i++)
        x[i] = coordinate_at(chunk->x, i);
    for (int j = 0; j < chunk->height; j++)
        y[j] = coordinate_at(chunk->y, j);
    const struct drainage_samples samples = {x, y, chunk->width, chunk->height};
    fill(r->near.lakes.level, chunk, NONE);
    const int err = drainage_lakes(r->network.drainage, &samples, band_limit,
                                   &r->near.lakes.level[0][0], KERNEL_CHUNK);
    for (int j = 0; j < chunk->height && !err; j++) {
        float *level = r->near.lakes.level[j], found[KERNEL_CHUNK];
        bool any = false;
        for (int i = 0; i < chunk->width; i++) {
            found[i] = level[i];
            any |= level[i] > NONE;
        }
        if (!any)
            continue;
        need_rows(r, chunk, j, j + 1);
        for (int i = 0; i < chunk->width; i++) {
            r->near.lakes.weight[j][i] = found[i] > NONE ? WEIGHT : 0;
            level[i] = found[i] > NONE ? WEIGHT * found[i] : 0;
        }
    }
    return err;
}

int rivers_find_near(struct rivers *r, const struct chunk *chunk, int64_t band_limit)
{
    r->near_samples = (float)((double)band_limit / FARLANDS_UNIT);
    memset(r->wet, 0, sizeof r->wet);
    const int err = r->network.drainage ? find_lakes(r, chunk, band_limit) : 0;
    return err ? err : fill_chunk(r, chunk, band_limit, false);
}

static bool is_same(struct coordinates a, struct coordinates b)
{
    return !a.at && !b.at && a.first == b.first && a.step == b.step;
}

int rivers_find_valleys(struct rivers *r, const struct chunk *chunk, int64_t band_limit)
{
    struct found *found = &r->found;
    if (found->band_limit == band_limit && found->chunk.width == chunk->width &&
        found->chunk.height == chunk->height && is_same(found->chunk.x, chunk->x) &&
        is_same(found->chunk.y, chunk->y))
        return 0;
    found->chunk.width = 0;
    fill(r->valleys.upper, chunk, 1e9f);
    fill(r->valleys.lower, chunk, -1e9f);
    fill(r->valleys.level, chunk, 0);
    fill(r->valleys.weight, chunk, 0);
    fill(r->valleys.base, chunk, 0);
    fill(r->valleys.nearness, chunk, 0);
    fill(r->valleys.lakes.level, chunk, 0);
    fill(r->valleys.lakes.weight, chunk, 0);
    const int err = fill_chunk(r, chunk, band_limit, true);
    if (!err)
        *found = (struct found){*chunk, band_limit};
    return err;
}

int rivers_look(struct rivers *r, int64_t x, int64_t y, struct rivers_here *out)
{
    const struct chunk chunk = {{x, 1, NULL}, {y, 1, NULL}, 1, 1};
    const int err = rivers_find_near(r, &chunk, 0);
    *out = (struct rivers_here){1e9f, false, 1e9f};
    if (err || !r->wet[0])
        return err;
    const struct river_near *near = &r->near;
    const float weight = near->lakes.weight[0][0], level = near->level[0][0];
    const bool is_within = near->bank[0][0] < 0;
    if (is_within)
        out->level = level;
    else if (r->network.drainage && weight > 0)
        out->lake = near->lakes.level[0][0] / weight + RIVERS_COURSE;
    out->is_lake =
        (is_within && near->order[0][0] == 0) ||
        (weight >= RIVERS_SHORE && level <= near->lakes.level[0][0] / weight + RIVERS_COURSE);
    return 0;
}
