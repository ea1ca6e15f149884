#include "noise/drainage/lakes.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

/* How steep a lake's floor is beside its sill and low borders. */
static const float STEEP = 0.1f;

static const float LOWEST_SILL = 2; /* metres above the sea */

/* P is in the lake at LEVEL, DEPTH deep, if its ground is not too high, or too low by more than
 * levels are rounded up. */
static bool take(struct nodes *n, int p, float level, float depth)
{
    static const float LOWER = 0.25f;
    if (depth <= 0 || n->height[p] < level - LOWER || n->height[p] - level >= LAKE_RISE * depth)
        return false;
    n->lake[p] = level;
    n->depth[p] = depth;
    n->height[p] = n->height[p] < level ? level : n->height[p];
    n->mean[p] = n->mean[p] < level ? level : n->mean[p];
    return true;
}

/* DEPTH of the lake at LEVEL that a course brings to P, changed so that P is below it where the
 * course was, and above it elsewhere. Else water might rise from a lake over a bar of dry ground.
 */
static float bring(const struct nodes *n, int p, float level, float depth)
{
    static const float WET = 1.7f, DRY = 1.6f, MORE = 0.5f; /* around 1 / LAKE_SHORE; metres */
    const float above = n->height[p] > level ? n->height[p] - level : 0;
    const float least = WET * above + MORE, most = DRY * above;
    if (n->is_sill[p])
        return depth;
    const bool is_wet = n->course_wet[p] && least <= LAKE_DEEPEST;
    const float fit = is_wet ? (depth < least ? least : depth) : (depth > most ? most : depth);
    return fit < LAKE_SHALLOWEST ? LAKE_SHALLOWEST : fit;
}

/* The nodes of lakes, each after the one to which it drains. */
struct lakes {
    int count;
    int32_t *node;
};

/* The lakes of all nodes: each has that of the node to which it drains, unless a course brings
 * another one. The list takes the place of DONORS. */
static struct lakes spread(struct nodes *n)
{
    static const float LONG = 6; /* nodes on courses: a new lake ends within a margin */
    struct lakes lakes = {0, n->donors};
    float deepest = 0;
    for (int p = NODES_FIRST; p < NODES_END; p++) {
        deepest = n->course_depth[p] > deepest ? n->course_depth[p] : deepest;
        n->depth[p] = n->lake[p] = n->fade[p] = 0;
    }
    for (int k = NODES_SIDE * NODES_SIDE - 1; k >= 0 && deepest > 0; k--) {
        const int p = n->order[k], q = node_receiver(n, p);
        if (n->is_sill[p] && (n->height[p] < LOWEST_SILL || n->height[p] >= LAKE_HIGHEST)) {
            n->is_sill[p] = false; /* since it began */
            n->course_depth[p] = 0;
        }
        if (n->kind[p] == NODE_SEA || (n->course_depth[p] == 0 && n->depth[q] == 0))
            continue;
        const float own =
            n->is_sill[p] ? lake_level(lake_quarters(n->height[p])) : n->course_lake[p];
        const float next = n->depth[q] - (n->kind[p] == NODE_COURSE ? n->fade[q] : 0);
        if (n->course_depth[p] > 0 && n->kind[p] == NODE_COURSE &&
            take(n, p, own, bring(n, p, own, n->course_depth[p])))
            n->fade[p] = n->is_sill[p] ? n->depth[p] / LONG : 0;
        else if (take(n, p, n->lake[q], next))
            n->fade[p] = n->fade[q];
        else
            continue;
        lakes.node[lakes.count++] = p;
    }
    return lakes;
}

/* The depth of a lake that begins at P, for BITS, which are random: a part of the relief around.
 * But half of the nodes around stay dry. */
static float depth_of_new(const struct nodes *n, int p, uint32_t bits)
{
    static const float DEEP = 0.4f, LEAST = 0.4f; /* parts of the relief; of DEEP */
    enum { LOW = NEIGHBORS / 2 };
    float sum = 0, least[LOW]; /* ascending */
    for (int k = 0; k < LOW; k++)
        least[k] = NODES_HIGH;
    for (int k = 0; k < NEIGHBORS; k++) {
        float above = n->height[p + neighbor_step[k]] - n->height[p];
        sum += above;
        for (int m = 0; m < LOW; m++) {
            const float lower = least[m] < above ? least[m] : above;
            above = least[m] < above ? above : least[m];
            least[m] = lower;
        }
    }
    const float relief = sum / (float)NEIGHBORS * DEEP * (LEAST + (float)(bits & 0xff) * 0x1p-8f);
    const float depth = relief < least[LOW - 1] ? relief : least[LOW - 1];
    return depth < LAKE_DEEPEST ? depth : LAKE_DEEPEST;
}

/* The node of the main course above P; 0: none is known. */
static int main_donor(const struct nodes *n, int p)
{
    for (int k = 0; k < NEIGHBORS; k++) {
        const int q = p + neighbor_step[k];
        if (n->kind[q] == NODE_COURSE && n->receiver[q] == (k ^ 4) && n->area[q] >= n->most[p])
            return q;
    }
    return 0;
}

/* Whether a lake with DEPTH at P, its sill, reaches the node above, and no neighbor of that is too
 * low to hold it. CELL: metres. */
static bool may_begin(const struct nodes *n, int p, float depth, float cell)
{
    static const float SAFE = 0.75f;
    const int above = main_donor(n, p);
    const float near = depth < STEEP * cell ? depth : STEEP * cell;
    bool holds = above != 0 && n->height[above] - n->height[p] < SAFE * LAKE_SHORE * near;
    for (int k = 0; k < NEIGHBORS && holds; k++)
        holds = n->height[above + neighbor_step[k]] >= n->height[p];
    return holds;
}

void lakes_begin(struct nodes *n, float cell)
{
    static const float SHALLOWEST = 4; /* metres: else all that is rough would be an island */
    spread(n);
    for (int k = 0; k < NODES_SIDE * NODES_SIDE; k++) {
        const int p = n->order[k];
        const uint32_t bits = n->draw[p];
        if (n->kind[p] != NODE_COURSE || n->depth[p] > 0 || n->height[p] < LOWEST_SILL ||
            n->height[p] >= LAKE_HIGHEST || (float)(bits & 0xffff) * 0x1p-16f >= n->lakes[p])
            continue;
        const float depth = depth_of_new(n, p, bits >> 24);
        n->is_sill[p] = depth >= SHALLOWEST && may_begin(n, p, depth, cell);
        n->course_depth[p] = n->is_sill[p] ? depth : n->course_depth[p];
    }
}

/* Whether P is a node of a course in a lake, above its sill. It keeps its depth: the sill has been
 * chosen so that it fits, and on finer levels the lake may be longer than a margin. */
static bool is_stem(const struct nodes *n, int p)
{
    const bool was_wet =
        n->course_depth[p] > 0 && n->course_wet[p] && n->course_lake[p] == n->lake[p];
    return n->kind[p] == NODE_COURSE && (was_wet || n->lake[node_receiver(n, p)] == n->lake[p]);
}

/* Rivers that leave lakes do not flow over higher ground: soil may have filled their beds. */
static void cut_outlets(struct nodes *n, const struct lakes *lakes)
{
    for (int k = 0; k < lakes->count; k++) {
        const int p = lakes->node[k];
        int q = node_receiver(n, p);
        if (n->lake[q] == n->lake[p] || !lake_is_wet(n->height[p], n->lake[p], n->depth[p]))
            continue;
        for (; q != 0 && n->kind[q] != NODE_SEA && n->height[q] > n->lake[p] &&
               n->lake[q] <= n->lake[p];
             q = node_receiver(n, q))
            n->height[q] = n->mean[q] = n->lake[p];
    }
}

/* Where water would flow out of a lake over low ground beside it, the lake is so shallow that this
 * ground is dry. */
static void close_borders(struct nodes *n, const struct lakes *lakes, bool *is_border)
{
    static const float DRY = 1.2f; /* below 1 / LAKE_SHORE */
    memset(is_border, 0, NODES * sizeof *is_border);
    for (int k = 0; k < lakes->count; k++) {
        const int p = lakes->node[k];
        for (int m = 0; m < NEIGHBORS && !is_stem(n, p); m++) {
            const int q = p + neighbor_step[m];
            const bool is_same = n->depth[q] > 0 && n->lake[q] == n->lake[p];
            is_border[p] |= !is_same && n->height[q] < n->lake[p];
        }
    }
    for (int k = 0; k < lakes->count; k++) {
        const int p = lakes->node[k];
        const float most = DRY * (n->height[p] - n->lake[p]);
        const float kept = most > LAKE_SHALLOWEST ? most : LAKE_SHALLOWEST;
        if (is_border[p] && kept < n->depth[p])
            n->depth[p] = kept;
    }
}

/* Floors fall gently from such places. CELL: metres. */
static void slope_floors(struct nodes *n, const struct lakes *lakes, const bool *is_border,
                         float cell)
{
    enum { STEPS = 4 };
    for (int step = 0; step < STEPS && STEEP * cell < LAKE_DEEPEST; step++) {
        for (int k = 0; k < lakes->count; k++)
            n->next[lakes->node[k]] = n->depth[lakes->node[k]];
        for (int k = 0; k < lakes->count; k++) {
            const int p = lakes->node[k];
            const bool keeps = is_stem(n, p);
            for (int m = 0; m < NEIGHBORS; m++) {
                const int q = p + neighbor_step[m];
                const bool is_lake = n->depth[q] > 0 || is_border[q];
                const float most = n->next[q] + STEEP * cell;
                if (is_lake && (!keeps || n->kind[q] == NODE_COURSE) && most < n->depth[p])
                    n->depth[p] = most;
            }
            if (keeps && n->course_depth[p] > 0 && n->course_lake[p] == n->lake[p])
                n->depth[p] = bring(n, p, n->lake[p], n->depth[p]);
        }
    }
}

static float lowered(const struct nodes *n, int p)
{
    return lake_lower(n->height[p], n->lake[p], n->depth[p]);
}

/* The ground at P, or the lake above it. */
static float surface_of(const struct nodes *n, int p)
{
    const float ground = lowered(n, p);
    return n->depth[p] > 0 && ground < n->lake[p] ? n->lake[p] : ground;
}

/* Water beside courses does not rise on the ground that lakes have lowered, either. */
static void keep_falling(struct nodes *n, const struct lakes *lakes)
{
    for (int k = 0; k < lakes->count; k++) {
        const int p = lakes->node[k], q = node_receiver(n, p);
        n->depth[p] = lake_depth(lake_parts(n->depth[p])); /* as it is kept */
        if (q != 0 && n->kind[p] != NODE_COURSE && surface_of(n, p) < surface_of(n, q))
            n->depth[p] = n->lake[q] == n->lake[p] ? n->depth[q] : 0;
    }
}

/* A course's last node before the lake has the lake's level, so that no river runs out into it on a
 * dam. */
static void lower_mouths(struct nodes *n, const struct lakes *lakes)
{
    for (int k = 0; k < lakes->count; k++) {
        const int p = lakes->node[k], q = node_receiver(n, p);
        const float shore = n->lake[p] + LAKE_SHORE * n->depth[p];
        if (n->kind[p] == NODE_COURSE && n->depth[p] > 0 && n->lake[q] == n->lake[p] &&
            n->height[p] > shore && lowered(n, q) < n->lake[q])
            n->height[p] = n->mean[p] = shore;
    }
}

/* A new lake that does not reach the node above its sill is none. */
static void drop_ponds(struct nodes *n, const struct lakes *lakes)
{
    for (int k = 0; k < lakes->count; k++) {
        const int p = lakes->node[k], q = node_receiver(n, p);
        const int above = n->is_sill[p] ? main_donor(n, p) : 0;
        const bool is_pond =
            n->is_sill[p] && (n->lake[above] != n->lake[p] ||
                              !lake_is_wet(n->height[above], n->lake[p], n->depth[above]));
        if (is_pond || (!n->is_sill[p] && n->course_depth[p] == 0 && n->depth[q] == 0))
            n->depth[p] = 0;
    }
}

/* Under a lake there is nothing above the ground, and rivers are no higher below its sill. */
static void level_means(struct nodes *n, const struct lakes *lakes)
{
    for (int k = 0; k < lakes->count; k++) {
        const int p = lakes->node[k];
        if (lake_is_wet(n->height[p], n->lake[p], n->depth[p]))
            n->mean[p] = n->height[p];
    }
}

void lakes_find(struct nodes *n, float cell)
{
    const struct lakes lakes = spread(n);
    bool is_border[NODES];
    if (lakes.count == 0)
        return;
    cut_outlets(n, &lakes);
    close_borders(n, &lakes, is_border);
    slope_floors(n, &lakes, is_border, cell);
    drop_ponds(n, &lakes);
    keep_falling(n, &lakes);
    lower_mouths(n, &lakes);
    level_means(n, &lakes);
}
