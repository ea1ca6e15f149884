#include "spawn_search.h"

#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>

#include "server/world/spawn_square.h"

/*
 * Near the point, blocks are cut into squares, the middle one of which is centered on the point's
 * block. Squares are searched in the order of their least distance to the point, until none that is
 * left can hold a nearer block than the one found.
 */
enum {
    SQUARE = SPAWN_SQUARE,
    REACH = (SPAWN_RADIUS + SQUARE / 2) / SQUARE, /* squares from the middle one to the last */
    SQUARES = 2 * REACH + 1,                      /* per side */
    /* Lattices around the point: few enough nodes that all lattices take a tenth of a second. */
    LATTICES = 11,
    NODE_BITS = 6, /* the first lattice's nodes are 64 blocks apart */
    NODES = 49,    /* per side */
    HALF = NODES / 2,
    INNER = HALF / 2, /* nodes this far from the middle are in the lattice before */
    STRIP = 7,        /* rows of nodes that are evaluated together */
    HINTS = 12,       /* tried in each lattice */
    TESTS = 4096,     /* of the ground */
    /* Prices, in heights of a square: of a height far from the one before it; of a test of the
     * ground; of the drainage around a square far from the one before it. */
    FAR_HEIGHT = 30,
    TEST = 1024,
    FAR_SQUARE = 65536,
};
static_assert(SPAWN_FAR == (HALF << (NODE_BITS + LATTICES - 1)), "another last node");
static_assert(NODES % STRIP == 0, "rows left");
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

/* A place between two nodes that is sought by bisection. */
struct hint {
    int number;
    int64_t at[2], apart; /* blocks: it is from AT up to APART to the east or the south; 1: at AT */
};

/* A lattice of heights around the point, row by row. */
struct nodes {
    int lattice;      /* number of the lattice; spacing 1 << (NODE_BITS + lattice) */
    int rows;         /* evaluated */
    int hints;        /* tried */
    struct rank last; /* hint that was tried */
    float height[NODES * NODES];
    float biome[NODES * NODES]; /* if the query has biomes */
};

/* Columns and rows of blocks that are searched. */
struct area {
    struct strip column, row;
};

/* What a search is in the middle of. */
enum part { PART_NONE, PART_HINT, PART_SQUARE };

struct spawn_search {
    const struct farlands_terrain *terrain;
    struct spawn_fields fields;
    struct spawn_query query;
    float low, high;                            /* what a pair of nodes passes that is a hint */
    bool coarse;                                /* nodes have the heights of a picture */
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
    int64_t left;    /* of SPAWN_SAMPLES */
    bool far;        /* the radius is searched; nodes next */
    struct nodes nodes;
    enum part part;
    struct hint hint;
    struct area area; /* of the square */
    int line;         /* the row of squares that the square is in; -1: none */
    int64_t rest;     /* squared distance of its nearest block that was not tested for want of left
                         or tests; INT64_MAX: none */
    struct spawn_square square;
    int wanted, places; /* places, those found; others are sought around the first */
    struct spawn_place place[];
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

/* Squares are to be searched around (X, Y), in units, from now on. */
static void set_middle(struct spawn_search *search, int64_t x, int64_t y)
{
    const int64_t point[2] = {x, y};

    for (int axis = 0; axis < 2; axis++) {
        search->block[axis] = point[axis] >> FARLANDS_UNIT_BITS;
        search->inside[axis] = point[axis] & (FARLANDS_UNIT - 1);
    }
    search->columns = make_strips(search->column, search->block[0], search->inside[0]);
    search->rows = make_strips(search->row, search->block[1], search->inside[1]);
    qsort(search->column, (size_t)search->columns, sizeof *search->column, nearest_first);
    for (int row = 0; row < search->rows; row++) {
        search->searched[row] = 0;
        set_next(search, row);
    }
}

int spawn_search_new(struct spawn_search **out, const struct farlands_terrain *terrain,
                     const struct spawn_fields *fields, const struct spawn_query *query)
{
    const int wanted = query->count > 0 ? query->count : 1;
    struct spawn_search *search =
        calloc(1, sizeof *search + (size_t)wanted * sizeof *search->place);
    if (!search)
        return -ENOMEM;
    const int64_t radius = SPAWN_RADIUS * FARLANDS_UNIT;
    float lowest, highest;

    terrain_range(terrain, &lowest, &highest);
    const bool water = query->near_water > 0, sea = lowest < 0;
    search->terrain = terrain;
    search->fields = *fields;
    search->query = *query;
    search->low = water && sea ? 0 : query->min;
    search->high = water && sea ? 0 : query->max;
    search->coarse = terrain_has_drain(terrain);
    search->wanted = wanted;
    set_middle(search, query->x, query->y);
    const bool possible = query->min <= highest && query->max >= lowest && query->slope >= 0 &&
                          (!water || sea || fields->bank >= 0);
    search->state = possible ? SPAWN_NOT_YET : SPAWN_NONE;
    search->far = !possible; /* there is none anywhere */
    search->nodes.lattice = possible ? 0 : LATTICES;
    search->nearest = radius * radius;
    search->x = search->y = INT_MAX;
    search->tests = TESTS;
    search->left = SPAWN_SAMPLES;
    search->rest = INT64_MAX;
    search->nodes.last.number = -1;
    *out = search;
    return 0;
}

void spawn_search_free(struct spawn_search *search)
{
    free(search);
}

static bool comes_before(struct rank a, struct rank b)
{
    return a.distance != b.distance ? a.distance < b.distance : a.number < b.number;
}

/* The nearest block of the square that fits. Its number is that in the square. */
static struct rank next_block(const struct spawn_search *search)
{
    const struct spawn_square *square = &search->square;
    struct rank best = {INT64_MAX, 0};

    for (int j = 0; j < square->height; j++) {
        const int64_t dy = offset(search->area.row.first + j, search->inside[1]);
        for (int i = 0; i < square->width; i++) {
            if (!square->fits[j * SQUARE + i])
                continue;
            const int64_t dx = offset(search->area.column.first + i, search->inside[0]);
            const struct rank rank = {dx * dx + dy * dy, j * SQUARE + i};
            if (comes_before(rank, best))
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

/* The square of units A. */
static int64_t squared(int64_t a)
{
    return a * a;
}

/* Add the block (X, Y) to the places. */
static int add_place(struct spawn_search *search, struct farlands_scratch *scratch, int64_t x,
                     int64_t y)
{
    const struct spawn_query *query = &search->query;
    struct spawn_place *place = &search->place[search->places];
    int err =
        surface_at(&place->surface, search->terrain, scratch, x * FARLANDS_UNIT, y * FARLANDS_UNIT);
    if (err)
        return err;
    place->x = x * FARLANDS_UNIT;
    place->y = y * FARLANDS_UNIT;
    place->distance =
        sqrt((double)(squared(place->x - query->x) + squared(place->y - query->y))) / FARLANDS_UNIT;
    search->places++;
    return 0;
}

/* Blocks of the square next to PLACE fit no longer. */
static void keep_apart(struct spawn_square *square, const struct spawn_place *place)
{
    const int64_t x = (place->x >> FARLANDS_UNIT_BITS) - square->x;
    const int64_t y = (place->y >> FARLANDS_UNIT_BITS) - square->y;
    for (int64_t j = y - SPAWN_APART + 1; j < y + SPAWN_APART; j++)
        for (int64_t i = x - SPAWN_APART + 1; i < x + SPAWN_APART; i++)
            if (i >= 0 && i < square->width && j >= 0 && j < square->height &&
                squared(i - x) + squared(j - y) < squared(SPAWN_APART))
                square->fits[j * SQUARE + i] = false;
}

/* Begin to search AREA, a square in row LINE of squares, or in none. */
static void begin_square(struct spawn_search *search, struct area area, int line)
{
    struct spawn_square *square = &search->square;

    search->part = PART_SQUARE;
    search->area = area;
    search->line = line;
    square->x = search->block[0] + area.column.first;
    square->y = search->block[1] + area.row.first;
    square->width = area.column.last - area.column.first + 1;
    square->height = area.row.last - area.row.first + 1;
    square->rows = 0;
    search->left -= line < 0 ? FAR_SQUARE : 0;
}

static int evaluate_band(struct spawn_search *search, struct farlands_scratch *scratch)
{
    struct spawn_square *square = &search->square;
    int64_t samples = 0;
    int err = spawn_square_evaluate(square, search->terrain, &search->fields, &search->query,
                                    scratch, &samples);

    search->left -= samples;
    for (int i = 0; square->rows == square->height && i < search->places; i++)
        keep_apart(square, &search->place[i]);
    return err;
}

static void end_square(struct spawn_search *search)
{
    search->part = PART_NONE;
    if (search->line < 0)
        return;
    search->searched[search->line]++;
    set_next(search, search->line);
}

/* Whether the block of RANK in the square is still worth a test. */
static bool is_wanted(const struct spawn_search *search, struct rank rank)
{
    if (rank.distance == INT64_MAX || search->tests == 0)
        return false;
    if (search->places > 0)
        return search->places < search->wanted &&
               rank.distance <= squared(SPAWN_RADIUS * FARLANDS_UNIT);
    return is_better(search, rank.distance, search->area.column.first + rank.number % SQUARE,
                     search->area.row.first + rank.number / SQUARE);
}

/* Into *OUT whether a player stands on the ground of the block (X, Y). */
static int test_ground(struct spawn_search *search, struct farlands_scratch *scratch, int64_t x,
                       int64_t y, bool *out)
{
    const struct farlands_terrain *terrain = search->terrain;
    const int64_t at[] = {x * FARLANDS_UNIT, y * FARLANDS_UNIT};
    const float height =
        terrain_field_at(terrain, scratch, terrain_height_field(terrain), at[0], at[1]);
    float ground;

    search->tests--;
    search->left -= TEST;
    int err =
        isnan(height) ? -ENOMEM : terrain_surface(terrain, scratch, at[0], at[1], height, &ground);
    *out = !err && surface_is_ground(height, ground);
    return err;
}

/* Test the ground of the nearest block of the square that fits. If it will do, it is the next
 * place, or if there is none yet the block found. Ends the square if none is left. */
static int test_block(struct spawn_search *search, struct farlands_scratch *scratch)
{
    struct spawn_square *square = &search->square;
    const struct rank rank = next_block(search);
    const int i = rank.number % SQUARE, j = rank.number / SQUARE;
    bool stands;

    if (!is_wanted(search, rank)) {
        end_square(search);
        return 0;
    }
    square->fits[rank.number] = false;
    int err = test_ground(search, scratch, square->x + i, square->y + j, &stands);
    if (err || !stands)
        return err;
    if (search->places == 0) {
        search->nearest = rank.distance;
        search->x = search->area.column.first + i;
        search->y = search->area.row.first + j;
        return 0;
    }
    err = add_place(search, scratch, square->x + i, square->y + j);
    if (!err)
        keep_apart(square, &search->place[search->places - 1]);
    return err;
}

/* The row whose next square is nearest. */
static int next_row(const struct spawn_search *search)
{
    int row = 0;

    for (int i = 1; i < search->rows; i++)
        if (search->next[i] < search->next[row])
            row = i;
    return row;
}

static void begin_next(struct spawn_search *search, int row)
{
    begin_square(search, (struct area){search->column[search->searched[row]], search->row[row]},
                 row);
}

/* The next square near the point; search->far is true if there is none. */
static void search_near(struct spawn_search *search)
{
    const int row = next_row(search);

    search->far = search->next[row] > search->nearest;
    if (!search->far)
        begin_next(search, row);
}

/* The next square around the first place. Sets the state if there are no more. */
static void search_around(struct spawn_search *search)
{
    const int row = next_row(search);

    if (search->places == search->wanted ||
        search->next[row] > squared(SPAWN_RADIUS * FARLANDS_UNIT))
        search->state = SPAWN_FOUND;
    else
        begin_next(search, row);
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

static int evaluate_strip(struct spawn_search *search, struct farlands_scratch *scratch)
{
    struct nodes *nodes = &search->nodes;
    const struct farlands_grid grid = {
        .x = node_block(search, 0, 0) * FARLANDS_UNIT,
        .y = node_block(search, 1, nodes->rows) * FARLANDS_UNIT,
        .step = spacing(search) * FARLANDS_UNIT,
        .width = NODES,
        .height = STRIP,
        .band_limit = search->coarse,
    };
    const size_t first = (size_t)nodes->rows * NODES;
    const int field[] = {terrain_height_field(search->terrain), search->fields.biome};
    float *const out[] = {nodes->height + first, nodes->biome + first};
    search->left -= STRIP * NODES * FAR_HEIGHT;
    nodes->rows += STRIP;
    return terrain_fields(search->terrain, scratch, &grid, field,
                          spawn_wants_biomes(&search->query) ? 2 : 1, out, NODES);
}

/* How a hint's second node lies: the node itself, to its east, or to its south. */
enum way { HERE, EAST, SOUTH, WAYS };

static bool is_inner(int i)
{
    return abs(i - HALF) < INNER;
}

/* Whether NODE itself is a hint. */
static bool is_here(const struct spawn_search *search, int node)
{
    const struct spawn_query *query = &search->query;
    const float height = search->nodes.height[node];
    if (query->near_water > 0 && search->fields.bank < 0)
        return false;
    if (spawn_wants_biomes(query) && !spawn_biome_fits(query, search->nodes.biome[node]))
        return false;
    return height >= query->min && height <= query->max;
}

/* Whether hint NUMBER exists: its nodes are in this lattice and not both in the one before, and
 * there is a height within the bounds between them. */
static bool is_hint(const struct spawn_search *search, int number)
{
    const int way = number % WAYS, node = number / WAYS, i = node % NODES, j = node / NODES;
    const int i2 = i + (way == EAST), j2 = j + (way == SOUTH);
    if (i2 == NODES || j2 == NODES)
        return false;
    if (search->nodes.lattice > 0 && is_inner(i) && is_inner(j) && is_inner(i2) && is_inner(j2))
        return false;
    const float a = search->nodes.height[node], b = search->nodes.height[j2 * NODES + i2];
    if (way == HERE)
        return is_here(search, node);
    return (a < search->low && b > search->high) || (b < search->low && a > search->high);
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

/* The height of a block, as nodes APART blocks from each other have it. */
static int height_between(const struct spawn_search *search, struct farlands_scratch *scratch,
                          const int64_t at[2], int64_t apart, float *out)
{
    const struct farlands_grid grid = {.x = at[0] * FARLANDS_UNIT,
                                       .y = at[1] * FARLANDS_UNIT,
                                       .step = apart * FARLANDS_UNIT,
                                       .width = 1,
                                       .height = 1,
                                       .band_limit = search->coarse};
    return terrain_heights(search->terrain, scratch, &grid, out, 1);
}

/* Begin with the first node of hint NUMBER. */
static void begin_hint(struct spawn_search *search, int number)
{
    const int way = number % WAYS, node = number / WAYS;

    search->part = PART_HINT;
    search->hint = (struct hint){
        .number = number,
        .at = {node_block(search, 0, node % NODES), node_block(search, 1, node / NODES)},
        .apart = way == HERE ? 1 : spacing(search),
    };
}

/* Halve what is left of a hint, unless a height within the bounds is found, or one block is left,
 * beside which they are passed at once. */
static int bisect(struct spawn_search *search, struct farlands_scratch *scratch)
{
    struct hint *hint = &search->hint;
    const bool rising = search->nodes.height[hint->number / WAYS] < search->low;
    int64_t *along = &hint->at[hint->number % WAYS == SOUTH];
    float height;

    hint->apart /= 2;
    *along += hint->apart;
    search->left -= FAR_HEIGHT;
    int err = height_between(search, scratch, hint->at, hint->apart, &height);
    if (err)
        return err;
    if (height >= search->low && height <= search->high)
        hint->apart = 1;
    else if ((height < search->low) != rising)
        *along -= hint->apart;
    return 0;
}

/* Search the square around the hint. */
static void try_hint(struct spawn_search *search)
{
    const int64_t *at = search->hint.at;

    search->part = PART_NONE;
    if (llabs(at[0]) > FARLANDS_LIMIT_BLOCKS || llabs(at[1]) > FARLANDS_LIMIT_BLOCKS)
        return;
    search->nearest = INT64_MAX;
    begin_square(search,
                 (struct area){
                     make_strip(search->block[0], search->inside[0], at[0] - SQUARE / 2),
                     make_strip(search->block[1], search->inside[1], at[1] - SQUARE / 2),
                 },
                 -1);
}

/* The next rows of nodes or the next hint. Sets the state if there are no more. */
static int search_far(struct spawn_search *search, struct farlands_scratch *scratch)
{
    struct nodes *nodes = &search->nodes;

    if (nodes->rows < NODES)
        return evaluate_strip(search, scratch);
    const struct rank hint = nodes->hints < HINTS ? next_hint(search) : (struct rank){INT64_MAX, 0};
    if (hint.distance < INT64_MAX) {
        nodes->hints++;
        nodes->last = hint;
        begin_hint(search, hint.number);
        return 0;
    }
    nodes->lattice++;
    nodes->rows = nodes->hints = 0;
    nodes->last = (struct rank){0, -1};
    if (nodes->lattice == LATTICES)
        search->state = SPAWN_NONE;
    return 0;
}

/* The block that was found is the first place; others are sought around it. */
static int begin_places(struct spawn_search *search, struct farlands_scratch *scratch)
{
    int err =
        add_place(search, scratch, search->block[0] + search->x, search->block[1] + search->y);
    if (!err)
        set_middle(search, search->place[0].x, search->place[0].y);
    return err;
}

void spawn_search_use(struct spawn_search *search, const struct farlands_terrain *terrain)
{
    search->terrain = terrain;
}

/* What is evaluated before the clock may be asked. */
static int step(struct spawn_search *search, struct farlands_scratch *scratch)
{
    if (search->part == PART_SQUARE)
        return search->square.rows < search->square.height ? evaluate_band(search, scratch)
                                                           : test_block(search, scratch);
    if (search->part == PART_HINT && search->hint.apart > 1)
        return bisect(search, scratch);
    if (search->part == PART_HINT)
        try_hint(search);
    else if (search->places > 0)
        search_around(search);
    else if (search->far && search->x != INT_MAX)
        return begin_places(search, scratch);
    else if (search->far)
        return search_far(search, scratch);
    else
        search_near(search);
    return 0;
}

/* The search may go no further: what it has found is the result. */
static int give_up(struct spawn_search *search, struct farlands_scratch *scratch)
{
    const bool found = search->places > 0 || search->x != INT_MAX;
    if (search->part == PART_SQUARE && search->square.rows == search->square.height) {
        search->rest = next_block(search).distance;
        end_square(search);
    }
    int err = found && search->places == 0 ? begin_places(search, scratch) : 0;
    search->state = found ? SPAWN_FOUND : SPAWN_NONE;
    return err;
}

enum spawn_state spawn_search_run(struct spawn_search *search, struct farlands_scratch *scratch,
                                  int64_t samples)
{
    while (search->state == SPAWN_NOT_YET) {
        const int64_t before = search->left;
        int err = step(search, scratch);
        samples -= before - search->left;
        if (!err && search->state == SPAWN_NOT_YET && (search->left <= 0 || search->tests == 0))
            err = give_up(search, scratch);
        if (err)
            search->state = SPAWN_FAILED;
        if (samples <= 0)
            break;
    }
    return search->state;
}

int spawn_search_radius(const struct spawn_search *search)
{
    const int64_t square = search->next[next_row(search)];
    const int64_t next = square < search->rest ? square : search->rest;
    const int last = HALF << NODE_BITS;

    if (search->places == 0 && search->far)
        return search->nodes.lattice > 0 ? last << (search->nodes.lattice - 1) : SPAWN_RADIUS;
    if (next > squared(SPAWN_RADIUS * FARLANDS_UNIT))
        return SPAWN_RADIUS;
    return (int)sqrt((double)next) >> FARLANDS_UNIT_BITS;
}

const struct spawn_place *spawn_search_places(const struct spawn_search *search, int *count)
{
    assert(search->state == SPAWN_FOUND);
    *count = search->places;
    return search->place;
}
