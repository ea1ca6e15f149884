#include "spawn_search.h"

#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>

#include "noise/rivers_params.h"

/*
 * Near the point, blocks are cut into squares, the middle one of which is centered on the point's
 * block. Squares are searched in the order of their least distance to the point, until none that is
 * left can hold a nearer block than the one found.
 */
enum {
    SQUARE = 126, /* blocks per side: few, if the first square will do; 3 % border; with it, rows
                     fill whole vectors */
    REACH = (SPAWN_RADIUS + SQUARE / 2) / SQUARE, /* squares from the middle one to the last */
    SQUARES = 2 * REACH + 1,                      /* per side */
    BORDERED = SQUARE + 2,
    /* Lattices around the point: few enough nodes that all lattices take a tenth of a second. */
    LATTICES = 11,
    NODE_BITS = 6, /* the first lattice's nodes are 64 blocks apart */
    NODES = 49,    /* per side */
    HALF = NODES / 2,
    INNER = HALF / 2, /* nodes this far from the middle are in the lattice before */
    HINTS = 12,       /* tried in each lattice */
    TESTS = 4096,     /* of the ground */
};
static_assert(SPAWN_FAR == (HALF << (NODE_BITS + LATTICES - 1)), "another last node");
static_assert(REACH * SQUARE + SQUARE / 2 > SPAWN_RADIUS + 1, "blocks beyond the last square");

/* Below, blocks count from the point's block, and distances are in units from the point: they need
 * at most 31 bits, so that the sum of two squares fits in 63. */

/* A column or row of squares. */
struct strip {
    int first, last;  /* blocks */
    int64_t distance; /* the least of its blocks', along the strip's axis */
};

/* What comes first: the least distance, then the least number. */
struct rank {
    int64_t distance; /* squared */
    int number;
};

/* A lattice of heights around the point, row by row. */
struct nodes {
    int lattice;      /* number of the lattice; spacing 1 << (NODE_BITS + lattice) */
    int rows;         /* evaluated */
    int hints;        /* tried */
    struct rank last; /* hint that was tried */
    float height[NODES * NODES];
};

struct spawn_search {
    const struct farlands_terrain *terrain;
    int water; /* field: the level of rivers and lakes, or -1 */
    struct spawn_query query;
    int64_t block[2];                           /* the point's block */
    int64_t inside[2];                          /* units from its corner to the point */
    struct strip column[SQUARES], row[SQUARES]; /* within the limit; columns nearest first */
    int columns, rows;
    int searched[SQUARES]; /* columns done in each row */
    int64_t next[SQUARES]; /* squared distance of each row's next square, INT64_MAX if none */
    enum spawn_state state;
    int64_t nearest; /* squared distance of the block found, or of the farthest that will do */
    int x, y;        /* the block found; INT_MAX: none yet */
    int tests;       /* of the ground that are left */
    bool far;        /* the radius is searched; nodes next */
    struct nodes nodes;
    struct spawn_place place;
    float heights[BORDERED * BORDERED];
    float level[BORDERED * BORDERED]; /* of the water there, if there may be any */
};

/* The signed distance of BLOCK along an axis. */
static int64_t offset(int block, int64_t inside)
{
    return (int64_t)block * FARLANDS_UNIT - inside;
}

static int nearest_first(const void *a, const void *b)
{
    const struct strip *x = a, *y = b;
    return (x->distance > y->distance) - (x->distance < y->distance);
}

static int64_t clamp(int64_t block)
{
    const int64_t limit = FARLANDS_LIMIT_BLOCKS;
    return block < -limit ? -limit : block > limit ? limit : block;
}

/* SQUARE blocks from FIRST on, which count as BLOCK does, and their distance. */
static struct strip make_strip(int64_t block, int64_t inside, int64_t first)
{
    struct strip strip = {.first = (int)(clamp(first) - block),
                          .last = (int)(clamp(first + SQUARE - 1) - block)};
    if (offset(strip.first, inside) > 0)
        strip.distance = offset(strip.first, inside);
    else if (offset(strip.last, inside) < 0)
        strip.distance = -offset(strip.last, inside);
    return strip;
}

/* The strips along an axis, as far as they are within the limit. Returns their number. */
static int make_strips(struct strip strips[SQUARES], int64_t block, int64_t inside)
{
    int count = 0;
    for (int i = -REACH; i <= REACH; i++) {
        const int64_t first = block + i * SQUARE - SQUARE / 2, last = first + SQUARE - 1;
        if (last < -FARLANDS_LIMIT_BLOCKS || first > FARLANDS_LIMIT_BLOCKS)
            continue;
        strips[count++] = make_strip(block, inside, first);
    }
    return count;
}

static void set_next(struct spawn_search *search, int row)
{
    const int column = search->searched[row];
    if (column == search->columns) {
        search->next[row] = INT64_MAX;
        return;
    }
    const int64_t dx = search->column[column].distance, dy = search->row[row].distance;
    search->next[row] = dx * dx + dy * dy;
}

int spawn_search_new(struct spawn_search **out, const struct farlands_terrain *terrain, int water,
                     const struct spawn_query *query)
{
    struct spawn_search *search = calloc(1, sizeof *search);
    if (!search)
        return -ENOMEM;
    const int64_t point[2] = {query->x, query->y}, radius = SPAWN_RADIUS * FARLANDS_UNIT;
    float lowest, highest;

    terrain_range(terrain, &lowest, &highest);
    search->terrain = terrain;
    search->water = water;
    search->query = *query;
    for (int axis = 0; axis < 2; axis++) {
        search->block[axis] = point[axis] >> FARLANDS_UNIT_BITS;
        search->inside[axis] = point[axis] & (FARLANDS_UNIT - 1);
    }
    search->columns = make_strips(search->column, search->block[0], search->inside[0]);
    search->rows = make_strips(search->row, search->block[1], search->inside[1]);
    qsort(search->column, (size_t)search->columns, sizeof *search->column, nearest_first);
    for (int row = 0; row < search->rows; row++)
        set_next(search, row);
    const bool possible = query->min <= highest && query->max >= lowest && query->slope >= 0;
    search->state = possible ? SPAWN_NOT_YET : SPAWN_NONE;
    search->nearest = radius * radius;
    search->x = search->y = INT_MAX;
    search->tests = TESTS;
    search->nodes.last.number = -1;
    *out = search;
    return 0;
}

void spawn_search_free(struct spawn_search *search)
{
    free(search);
}

/* Block NUMBER of a square, in rows of BORDERED blocks. */
static bool is_within(const struct spawn_search *search, int number, bool any_slope)
{
    const float *height = search->heights + number;
    if (search->water >= 0 && search->level[number] > RIVERS_DRY)
        return false;
    if (!(*height >= search->query.min && *height <= search->query.max))
        return false;
    return any_slope || surface_slope((struct around){height[-1], height[1], height[-BORDERED],
                                                      height[BORDERED]}) <= search->query.slope;
}

static bool comes_before(struct rank a, struct rank b)
{
    return a.distance != b.distance ? a.distance < b.distance : a.number < b.number;
}

/* Of the blocks of a square whose heights are in search->heights and will do, the first one after
 * LAST, nearest first. Its number is that in rows of BORDERED blocks. */
static struct rank next_block(const struct spawn_search *search, const struct strip *column,
                              const struct strip *row, struct rank last)
{
    const bool any_slope = search->query.slope == INFINITY;
    struct rank best = {INT64_MAX, 0};

    for (int y = row->first; y <= row->last; y++) {
        const int64_t dy = offset(y, search->inside[1]);
        for (int x = column->first; x <= column->last; x++) {
            const int number = (y - row->first) * BORDERED + (x - column->first);
            const int64_t dx = offset(x, search->inside[0]);
            const struct rank rank = {dx * dx + dy * dy, number};
            if (comes_before(rank, best) && comes_before(last, rank) &&
                is_within(search, number + BORDERED + 1, any_slope))
                best = rank;
        }
    }
    return best;
}

/* Whether a block at the square of its DISTANCE is to be preferred to the one found. */
static bool is_better(const struct spawn_search *search, int64_t distance, int x, int y)
{
    if (distance != search->nearest)
        return distance < search->nearest;
    return y != search->y ? y < search->y : x < search->x;
}

/* Test the ground of the blocks of a square, the nearest first, until one will do. */
static int test_blocks(struct spawn_search *search, struct farlands_scratch *scratch,
                       const struct strip *column, const struct strip *row)
{
    struct rank rank = {-1, 0};

    while (search->tests > 0) {
        float ground;
        rank = next_block(search, column, row, rank);
        const int x = column->first + rank.number % BORDERED;
        const int y = row->first + rank.number / BORDERED;
        if (rank.distance == INT64_MAX || !is_better(search, rank.distance, x, y))
            return 0;
        const float height = search->heights[rank.number + BORDERED + 1];
        int err = terrain_surface(search->terrain, scratch, (search->block[0] + x) * FARLANDS_UNIT,
                                  (search->block[1] + y) * FARLANDS_UNIT, height, &ground);
        if (err)
            return err;
        search->tests--;
        if (!surface_is_ground(height, ground))
            continue;
        search->nearest = rank.distance;
        search->x = x;
        search->y = y;
        return 0;
    }
    return 0;
}

static int search_square(struct spawn_search *search, struct farlands_scratch *scratch,
                         const struct strip *column, const struct strip *row, int64_t *samples)
{
    const struct farlands_grid grid = {
        .x = (search->block[0] + column->first - 1) * FARLANDS_UNIT,
        .y = (search->block[1] + row->first - 1) * FARLANDS_UNIT,
        .step = FARLANDS_UNIT,
        .width = column->last - column->first + 3,
        .height = row->last - row->first + 3,
    };
    const int field[] = {terrain_height_field(search->terrain), search->water};
    float *out[] = {search->heights, search->level};
    *samples -= (int64_t)grid.width * grid.height;
    int err = terrain_fields(search->terrain, scratch, &grid, field, search->water < 0 ? 1 : 2, out,
                             BORDERED);
    return err ? err : test_blocks(search, scratch, column, row);
}

/* The next square near the point. Afterwards search->far is true if that was the last one. */
static int search_near(struct spawn_search *search, struct farlands_scratch *scratch,
                       int64_t *samples)
{
    int row = 0;

    for (int i = 1; i < search->rows; i++)
        if (search->next[i] < search->next[row])
            row = i;
    search->far = search->next[row] > search->nearest || search->tests == 0;
    if (search->far)
        return 0;
    int err = search_square(search, scratch, &search->column[search->searched[row]],
                            &search->row[row], samples);
    search->searched[row]++;
    set_next(search, row);
    return err;
}

/* --- Lattices of nodes around the point --- */

static int64_t spacing(const struct spawn_search *search)
{
    return INT64_C(1) << (NODE_BITS + search->nodes.lattice);
}

/* The block of the node in column or row I of the lattice, along AXIS: a multiple of the spacing.
 */
static int64_t node_block(const struct spawn_search *search, int axis, int i)
{
    const int64_t apart = spacing(search);
    return (search->block[axis] & -apart) + (i - HALF) * apart;
}

static int evaluate_row(struct spawn_search *search, struct farlands_scratch *scratch,
                        int64_t *samples)
{
    struct nodes *nodes = &search->nodes;
    const struct farlands_grid grid = {
        .x = node_block(search, 0, 0) * FARLANDS_UNIT,
        .y = node_block(search, 1, nodes->rows) * FARLANDS_UNIT,
        .step = spacing(search) * FARLANDS_UNIT,
        .width = NODES,
        .height = 1,
    };
    enum { COST = 30 }; /* of a height far from the one before it, in heights of a square */
    *samples -= NODES * COST;
    return terrain_heights(search->terrain, scratch, &grid, nodes->height + NODES * nodes->rows++,
                           NODES);
}

/* How a hint's second node lies: the node itself, to its east, or to its south. */
enum way { HERE, EAST, SOUTH, WAYS };

static bool is_inner(int i)
{
    return abs(i - HALF) < INNER;
}

/* Whether hint NUMBER exists: its nodes are in this lattice and not both in the one before, and
 * there is a height within the bounds between them. */
static bool is_hint(const struct spawn_search *search, int number)
{
    const struct spawn_query *query = &search->query;
    const int way = number % WAYS, node = number / WAYS, i = node % NODES, j = node / NODES;
    const int i2 = i + (way == EAST), j2 = j + (way == SOUTH);
    if (i2 == NODES || j2 == NODES)
        return false;
    if (search->nodes.lattice > 0 && is_inner(i) && is_inner(j) && is_inner(i2) && is_inner(j2))
        return false;
    const float a = search->nodes.height[node], b = search->nodes.height[j2 * NODES + i2];
    if (way == HERE)
        return a >= query->min && a <= query->max;
    return (a < query->min && b > query->max) || (b < query->min && a > query->max);
}

/* The next hint after the last one that was tried; its distance is INT64_MAX if there is none. */
static struct rank next_hint(const struct spawn_search *search)
{
    const int64_t half = spacing(search) * FARLANDS_UNIT / 2;
    struct rank best = {INT64_MAX, 0};

    for (int number = 0; number < NODES * NODES * WAYS; number++) {
        const int way = number % WAYS, node = number / WAYS;
        const int64_t block[] = {node_block(search, 0, node % NODES) - search->block[0],
                                 node_block(search, 1, node / NODES) - search->block[1]};
        const int64_t dx = offset((int)block[0], search->inside[0]) + (way == EAST) * half;
        const int64_t dy = offset((int)block[1], search->inside[1]) + (way == SOUTH) * half;
        const struct rank rank = {dx * dx + dy * dy, number};
        if (comes_before(rank, best) && comes_before(search->nodes.last, rank) &&
            is_hint(search, number))
            best = rank;
    }
    return best;
}

/* The block AT of a hint: the first node, or by bisection one whose height is within the bounds,
 * or beside which they are passed at once. */
static int find_hint(const struct spawn_search *search, struct farlands_scratch *scratch,
                     int number, int64_t at[2])
{
    const int way = number % WAYS, node = number / WAYS;
    const bool rising = search->nodes.height[node] < search->query.min;
    int64_t *along = &at[way == SOUTH];

    at[0] = node_block(search, 0, node % NODES);
    at[1] = node_block(search, 1, node / NODES);
    for (int64_t apart = way == HERE ? 1 : spacing(search); apart > 1; apart /= 2) {
        *along += apart / 2;
        const float height =
            terrain_field_at(search->terrain, scratch, terrain_height_field(search->terrain),
                             at[0] * FARLANDS_UNIT, at[1] * FARLANDS_UNIT);
        if (isnan(height))
            return -ENOMEM;
        if (height >= search->query.min && height <= search->query.max)
            break;
        if ((height < search->query.min) != rising)
            *along -= apart / 2;
    }
    return 0;
}

/* Search the square around hint NUMBER. */
static int try_hint(struct spawn_search *search, struct farlands_scratch *scratch, int number,
                    int64_t *samples)
{
    int64_t at[2];
    int err = find_hint(search, scratch, number, at);

    if (err || llabs(at[0]) > FARLANDS_LIMIT_BLOCKS || llabs(at[1]) > FARLANDS_LIMIT_BLOCKS)
        return err;
    const struct strip column = make_strip(search->block[0], search->inside[0], at[0] - SQUARE / 2);
    const struct strip row = make_strip(search->block[1], search->inside[1], at[1] - SQUARE / 2);
    search->nearest = INT64_MAX;
    return search_square(search, scratch, &column, &row, samples);
}

/* The next row of nodes or the next hint. Sets the state if there are no more. */
static int search_far(struct spawn_search *search, struct farlands_scratch *scratch,
                      int64_t *samples)
{
    struct nodes *nodes = &search->nodes;

    if (nodes->rows < NODES)
        return evaluate_row(search, scratch, samples);
    const struct rank hint = nodes->hints < HINTS ? next_hint(search) : (struct rank){INT64_MAX, 0};
    if (hint.distance < INT64_MAX) {
        nodes->hints++;
        nodes->last = hint;
        return try_hint(search, scratch, hint.number, samples);
    }
    nodes->lattice++;
    nodes->rows = nodes->hints = 0;
    nodes->last = (struct rank){0, -1};
    if (nodes->lattice == LATTICES || search->tests == 0)
        search->state = SPAWN_NONE;
    return 0;
}

static int finish(struct spawn_search *search, struct farlands_scratch *scratch)
{
    struct spawn_place *place = &search->place;
    place->x = (search->block[0] + search->x) * FARLANDS_UNIT;
    place->y = (search->block[1] + search->y) * FARLANDS_UNIT;
    place->distance = sqrt((double)search->nearest) / FARLANDS_UNIT;
    search->state = SPAWN_FOUND;
    return surface_at(&place->surface, search->terrain, scratch, place->x, place->y);
}

enum spawn_state spawn_search_run(struct spawn_search *search, struct farlands_scratch *scratch,
                                  int64_t samples)
{
    while (search->state == SPAWN_NOT_YET) {
        int err = 0;
        if (!search->far)
            err = search_near(search, scratch, &samples);
        else
            err = search_far(search, scratch, &samples);
        if (!err && search->far && search->x != INT_MAX)
            err = finish(search, scratch);
        if (err)
            search->state = SPAWN_FAILED;
        if (samples <= 0)
            break;
    }
    return search->state;
}

const struct spawn_place *spawn_search_place(const struct spawn_search *search)
{
    assert(search->state == SPAWN_FOUND);
    return &search->place;
}
