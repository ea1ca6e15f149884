#include "spawn_lattice.h"

#include <assert.h>
#include <stdlib.h>

#include "server/world/spawn_square.h"

enum {
    NODE_BITS = 6, /* the first lattice's nodes are 64 blocks apart */
    HALF = SPAWN_NODES / 2,
    INNER = HALF / 2, /* nodes nearer to the middle are in the previous lattice, too */
    STRIP = 7,        /* rows of nodes evaluated together */
    HINTS = 12,       /* tried in each lattice */
    FAR_HEIGHT = 30,  /* price of a height far from the previous one, in a square's heights */
};
static_assert(SPAWN_FAR == (HALF << (NODE_BITS + SPAWN_LATTICES - 1)), "another last node");
static_assert(SPAWN_NODES % STRIP == 0, "rows left");

static int64_t spacing(const struct spawn_lattice *lattice)
{
    return INT64_C(1) << (NODE_BITS + lattice->number);
}

/* The block of the node in column or row I, along AXIS: a multiple of the spacing. */
static int64_t node_block(const struct spawn_lattice *lattice, int axis, int i)
{
    const int64_t apart = spacing(lattice);
    return (lattice->point.block[axis] & -apart) + (i - HALF) * apart;
}

static int evaluate_strip(struct spawn_lattice *lattice, const struct farlands_terrain *terrain,
                          struct farlands_scratch *scratch, int64_t *samples)
{
    const struct farlands_grid grid = {
        .x = node_block(lattice, 0, 0) * FARLANDS_UNIT,
        .y = node_block(lattice, 1, lattice->rows) * FARLANDS_UNIT,
        .step = spacing(lattice) * FARLANDS_UNIT,
        .width = SPAWN_NODES,
        .height = STRIP,
        .band_limit = lattice->coarse,
    };
    const size_t first = (size_t)lattice->rows * SPAWN_NODES;
    const int field[] = {terrain_height_field(terrain), lattice->fields->biome};
    float *const out[] = {lattice->height + first, lattice->biome + first};
    *samples += STRIP * SPAWN_NODES * FAR_HEIGHT;
    lattice->rows += STRIP;
    return terrain_fields(terrain, scratch, &grid, field,
                          spawn_wants_biomes(lattice->query) ? 2 : 1, out, SPAWN_NODES);
}

/* Where a hint's second node is: the node itself, the eastern or the southern neighbor. */
enum way { HERE, EAST, SOUTH, WAYS };

static bool is_inner(int i)
{
    return abs(i - HALF) < INNER;
}

/* True if NODE alone is a hint. */
static bool is_here(const struct spawn_lattice *lattice, int node)
{
    const struct spawn_query *query = lattice->query;
    const float height = lattice->height[node];
    if (query->near_water > 0 && lattice->fields->bank < 0)
        return false;
    if (spawn_wants_biomes(query) && !spawn_biome_fits(query, lattice->biome[node]))
        return false;
    return height >= query->min && height <= query->max;
}

/* True if hint NUMBER exists: its nodes are in this lattice, not both in the previous one, and a
 * height between them is within the bounds. */
static bool is_hint(const struct spawn_lattice *lattice, int number)
{
    const int way = number % WAYS, node = number / WAYS, i = node % SPAWN_NODES,
              j = node / SPAWN_NODES;
    const int i2 = i + (way == EAST), j2 = j + (way == SOUTH);
    if (i2 == SPAWN_NODES || j2 == SPAWN_NODES)
        return false;
    if (lattice->number > 0 && is_inner(i) && is_inner(j) && is_inner(i2) && is_inner(j2))
        return false;
    const float a = lattice->height[node], b = lattice->height[j2 * SPAWN_NODES + i2];
    if (way == HERE)
        return is_here(lattice, node);
    return (a < lattice->low && b > lattice->high) || (b < lattice->low && a > lattice->high);
}

/* The next hint after the last one tried; its distance is INT64_MAX if there is none. */
static struct spawn_rank next_hint(const struct spawn_lattice *lattice)
{
    const int64_t half = spacing(lattice) * FARLANDS_UNIT / 2;
    struct spawn_rank best = {INT64_MAX, 0};

    for (int number = 0; number < SPAWN_NODES * SPAWN_NODES * WAYS; number++) {
        const int way = number % WAYS, node = number / WAYS;
        const int64_t block[] = {
            node_block(lattice, 0, node % SPAWN_NODES) - lattice->point.block[0],
            node_block(lattice, 1, node / SPAWN_NODES) - lattice->point.block[1]};
        const int64_t dx =
            spawn_distance((int)block[0], lattice->point.inside[0]) + (way == EAST) * half;
        const int64_t dy =
            spawn_distance((int)block[1], lattice->point.inside[1]) + (way == SOUTH) * half;
        const struct spawn_rank rank = {dx * dx + dy * dy, number};
        if (spawn_rank_less(rank, best) && spawn_rank_less(lattice->last, rank) &&
            is_hint(lattice, number))
            best = rank;
    }
    return best;
}

void spawn_lattice_begin(struct spawn_lattice *out, const struct farlands_terrain *terrain,
                         const struct spawn_query *query, const struct spawn_fields *fields,
                         bool shore)
{
    out->query = query;
    out->fields = fields;
    out->point = spawn_point_at(query->x, query->y);
    out->low = shore ? 0 : query->min;
    out->high = shore ? 0 : query->max;
    out->coarse = terrain_has_drain(terrain);
    out->number = out->rows = out->hints = 0;
    out->last = (struct spawn_rank){0, -1};
}

int spawn_lattice_next(struct spawn_lattice *lattice, const struct farlands_terrain *terrain,
                       struct farlands_scratch *scratch, struct spawn_hint *hint, int64_t *samples)
{
    hint->apart = 0;
    if (lattice->rows < SPAWN_NODES)
        return evaluate_strip(lattice, terrain, scratch, samples);
    const struct spawn_rank rank =
        lattice->hints < HINTS ? next_hint(lattice) : (struct spawn_rank){INT64_MAX, 0};
    if (rank.distance < INT64_MAX) {
        const int way = rank.number % WAYS, node = rank.number / WAYS;
        lattice->hints++;
        lattice->last = rank;
        *hint = (struct spawn_hint){
            .number = rank.number,
            .at = {node_block(lattice, 0, node % SPAWN_NODES),
                   node_block(lattice, 1, node / SPAWN_NODES)},
            .apart = way == HERE ? 1 : spacing(lattice),
        };
        return 0;
    }
    lattice->number++;
    lattice->rows = lattice->hints = 0;
    lattice->last = (struct spawn_rank){0, -1};
    return 0;
}

int spawn_lattice_halve(const struct spawn_lattice *lattice, const struct farlands_terrain *terrain,
                        struct farlands_scratch *scratch, struct spawn_hint *hint, int64_t *samples)
{
    const bool rising = lattice->height[hint->number / WAYS] < lattice->low;
    int64_t *along = &hint->at[hint->number % WAYS == SOUTH];
    float height;

    hint->apart /= 2;
    *along += hint->apart;
    *samples += FAR_HEIGHT;
    const struct farlands_grid grid = {.x = hint->at[0] * FARLANDS_UNIT,
                                       .y = hint->at[1] * FARLANDS_UNIT,
                                       .step = hint->apart * FARLANDS_UNIT,
                                       .width = 1,
                                       .height = 1,
                                       .band_limit = lattice->coarse};
    int err = terrain_heights(terrain, scratch, &grid, &height, 1);
    if (err)
        return err;
    if (height >= lattice->low && height <= lattice->high)
        hint->apart = 1;
    else if ((height < lattice->low) != rising)
        *along -= hint->apart;
    return 0;
}

int spawn_lattice_reach(const struct spawn_lattice *lattice)
{
    return lattice->number > 0 ? HALF << (NODE_BITS + lattice->number - 1) : 0;
}
