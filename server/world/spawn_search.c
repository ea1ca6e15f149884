#include "spawn_search.h"

#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>

#include "server/world/spawn_lattice.h"
#include "server/world/spawn_square.h"

/*
 * Near the point, blocks are cut into squares; the middle square is centered on the point's block.
 * Squares are searched by their least distance to the point, nearest first, until the remaining
 * ones cannot hold a nearer block than the one found.
 */
enum {
    SQUARE = SPAWN_SQUARE,
    REACH = (SPAWN_RADIUS + SQUARE / 2) / SQUARE, /* squares from the middle one to the last */
    SQUARES = 2 * REACH + 1,                      /* per side */
    TESTS = 4096,                                 /* ground tests */
    /* Prices, in a square's heights: a test of the ground; what a square takes that is far from the
     * previous one, in a terrain with a drainage and in others. */
    TEST = 1024,
    FAR_SQUARE_DRAINED = 393216,
    FAR_SQUARE = 65536,
};
static_assert(REACH * SQUARE + SQUARE / 2 > SPAWN_RADIUS + 1, "blocks beyond the last square");

/* A column or row of squares. */
struct strip {
    int first, last;  /* blocks */
    int64_t distance; /* of its nearest block, along the strip's axis */
};

/* The columns and rows of blocks in a square. */
struct area {
    struct strip column, row;
};

/* The search's unfinished part. */
enum part { PART_NONE, PART_HINT, PART_SQUARE };

struct spawn_search {
    const struct farlands_terrain *terrain;
    struct spawn_fields fields;
    struct spawn_query query;
    struct spawn_point middle;                  /* of the squares */
    struct strip column[SQUARES], row[SQUARES]; /* within the limit; nearest columns first */
    int columns, rows;
    int searched[SQUARES]; /* columns done in each row */
    int64_t next[SQUARES]; /* squared distance of each row's next square, INT64_MAX if none */
    enum spawn_state state;
    int64_t nearest; /* the found block's squared distance, or else the maximum */
    int x, y;        /* the block found; INT_MAX: none yet */
    int tests;       /* ground tests left */
    int64_t left;    /* of SPAWN_SAMPLES */
    bool far;        /* the radius has been searched; lattices come next */
    struct spawn_lattice lattice;
    enum part part;
    struct spawn_hint hint;
    struct area area; /* the square's */
    int line;         /* the square's row of squares; -1: none */
    int64_t rest;     /* squared distance to the nearest block that the budget left untested;
                         INT64_MAX: none */
    struct spawn_square square;
    int wanted, places; /* places wanted, and found; the first is found before all others */
    struct spawn_place place[];
};

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

/* SQUARE blocks from FIRST on, relative to BLOCK, and their distance. */
static struct strip make_strip(int64_t block, int64_t inside, int64_t first)
{
    struct strip strip = {.first = (int)(clamp(first) - block),
                          .last = (int)(clamp(first + SQUARE - 1) - block)};
    if (spawn_distance(strip.first, inside) > 0)
        strip.distance = spawn_distance(strip.first, inside);
    else if (spawn_distance(strip.last, inside) < 0)
        strip.distance = -spawn_distance(strip.last, inside);
    return strip;
}

/* Make the strips along one axis that are within the limit. Returns their number. */
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

/* Search squares around (X, Y), in units, from now on. */
static void set_middle(struct spawn_search *search, int64_t x, int64_t y)
{
    search->middle = spawn_point_at(x, y);
    search->columns =
        make_strips(search->column, search->middle.block[0], search->middle.inside[0]);
    search->rows = make_strips(search->row, search->middle.block[1], search->middle.inside[1]);
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
    search->wanted = wanted;
    set_middle(search, query->x, query->y);
    const bool possible = query->min <= highest && query->max >= lowest && query->slope >= 0 &&
                          (!water || sea || fields->bank >= 0);
    search->state = possible ? SPAWN_NOT_YET : SPAWN_NONE;
    search->far = !possible; /* there is no place anywhere */
    spawn_lattice_begin(&search->lattice, terrain, &search->query, &search->fields, water && sea);
    if (!possible)
        search->lattice.number = SPAWN_LATTICES;
    search->nearest = radius * radius;
    search->x = search->y = INT_MAX;
    search->tests = TESTS;
    search->left = SPAWN_SAMPLES;
    search->rest = INT64_MAX;
    *out = search;
    return 0;
}

void spawn_search_free(struct spawn_search *search)
{
    free(search);
}

/* The nearest block of the square that fits; the number is an index in the square. */
static struct spawn_rank next_block(const struct spawn_search *search)
{
    const struct spawn_square *square = &search->square;
    struct spawn_rank best = {INT64_MAX, 0};

    for (int j = 0; j < square->height; j++) {
        const int64_t dy = spawn_distance(search->area.row.first + j, search->middle.inside[1]);
        for (int i = 0; i < square->width; i++) {
            if (!square->fits[j * SQUARE + i])
                continue;
            const int64_t dx =
                spawn_distance(search->area.column.first + i, search->middle.inside[0]);
            const struct spawn_rank rank = {dx * dx + dy * dy, j * SQUARE + i};
            if (spawn_rank_less(rank, best))
                best = rank;
        }
    }
    return best;
}

/* True if a block at the squared DISTANCE is preferable to the one found. */
static bool is_better(const struct spawn_search *search, int64_t distance, int x, int y)
{
    if (distance != search->nearest)
        return distance < search->nearest;
    return y != search->y ? y < search->y : x < search->x;
}

static int64_t squared(int64_t a)
{
    return a * a;
}

/* Add block (X, Y) to the places. */
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

/* Exclude the square's blocks that are too near to PLACE. */
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

/* Begin to search AREA, a square in row LINE of squares, or -1. */
static void begin_square(struct spawn_search *search, struct area area, int line)
{
    struct spawn_square *square = &search->square;

    search->part = PART_SQUARE;
    search->area = area;
    search->line = line;
    square->x = search->middle.block[0] + area.column.first;
    square->y = search->middle.block[1] + area.row.first;
    square->width = area.column.last - area.column.first + 1;
    square->height = area.row.last - area.row.first + 1;
    square->rows = 0;
    if (line < 0)
        search->left -= terrain_is_built(search->terrain) ? FAR_SQUARE_DRAINED : FAR_SQUARE;
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

/* True if the square's block with RANK is worth a test. */
static bool is_wanted(const struct spawn_search *search, struct spawn_rank rank)
{
    if (rank.distance == INT64_MAX || search->tests == 0)
        return false;
    if (search->places > 0)
        return search->places < search->wanted &&
               rank.distance <= squared(SPAWN_RADIUS * FARLANDS_UNIT);
    return is_better(search, rank.distance, search->area.column.first + rank.number % SQUARE,
                     search->area.row.first + rank.number / SQUARE);
}

/* Set *OUT to whether a player stands on the ground of block (X, Y). */
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

/* Test the ground of the square's nearest block that fits. If a player stands there, the block is
 * the one found, or, after the first place, the next place. Ends the square if no block is left. */
static int test_block(struct spawn_search *search, struct farlands_scratch *scratch)
{
    struct spawn_square *square = &search->square;
    const struct spawn_rank rank = next_block(search);
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

/* The row of squares whose next square is nearest. */
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

/* Begin the next square near the point; sets search->far if there is none. */
static void search_near(struct spawn_search *search)
{
    const int row = next_row(search);

    search->far = search->next[row] > search->nearest;
    if (!search->far)
        begin_next(search, row);
}

/* Begin the next square around the first place. Sets the state if there are no more. */
static void search_around(struct spawn_search *search)
{
    const int row = next_row(search);

    if (search->places == search->wanted ||
        search->next[row] > squared(SPAWN_RADIUS * FARLANDS_UNIT))
        search->state = SPAWN_FOUND;
    else
        begin_next(search, row);
}

/* Search the square around the hint. */
static void try_hint(struct spawn_search *search)
{
    const int64_t *at = search->hint.at;

    search->part = PART_NONE;
    if (llabs(at[0]) > FARLANDS_LIMIT_BLOCKS || llabs(at[1]) > FARLANDS_LIMIT_BLOCKS)
        return;
    search->nearest = INT64_MAX;
    begin_square(
        search,
        (struct area){
            make_strip(search->middle.block[0], search->middle.inside[0], at[0] - SQUARE / 2),
            make_strip(search->middle.block[1], search->middle.inside[1], at[1] - SQUARE / 2),
        },
        -1);
}

/* Evaluate the next rows of nodes, or take the next hint. Sets the state if there are no more. */
static int search_far(struct spawn_search *search, struct farlands_scratch *scratch)
{
    int64_t samples = 0;
    int err =
        spawn_lattice_next(&search->lattice, search->terrain, scratch, &search->hint, &samples);

    search->left -= samples;
    if (search->hint.apart > 0)
        search->part = PART_HINT;
    else if (search->lattice.number == SPAWN_LATTICES)
        search->state = SPAWN_NONE;
    return err;
}

static int halve_hint(struct spawn_search *search, struct farlands_scratch *scratch)
{
    int64_t samples = 0;
    int err =
        spawn_lattice_halve(&search->lattice, search->terrain, scratch, &search->hint, &samples);

    search->left -= samples;
    return err;
}

/* Make the block found the first place. The others are searched around it. */
static int begin_places(struct spawn_search *search, struct farlands_scratch *scratch)
{
    int err = add_place(search, scratch, search->middle.block[0] + search->x,
                        search->middle.block[1] + search->y);
    if (!err)
        set_middle(search, search->place[0].x, search->place[0].y);
    return err;
}

void spawn_search_use(struct spawn_search *search, const struct farlands_terrain *terrain)
{
    search->terrain = terrain;
}

/* The work between two looks at the clock. */
static int step(struct spawn_search *search, struct farlands_scratch *scratch)
{
    if (search->part == PART_SQUARE)
        return search->square.rows < search->square.height ? evaluate_band(search, scratch)
                                                           : test_block(search, scratch);
    if (search->part == PART_HINT && search->hint.apart > 1)
        return halve_hint(search, scratch);
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

/* The budget is used up: the result is what was found. */
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
    const int reach = spawn_lattice_reach(&search->lattice);

    if (search->places == 0 && search->far)
        return reach > 0 ? reach : SPAWN_RADIUS;
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
