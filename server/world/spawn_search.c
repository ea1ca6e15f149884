#include "spawn_search.h"

#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>

/*
 * The blocks are cut into squares, the middle one of which is centered on the point's block.
 * Squares are searched in the order of their least distance to the point, until none that is left
 * can hold a nearer block than the one found.
 */
enum {
    SQUARE = 126, /* blocks per side: few, if the first square will do; 3 % border; with it, rows
                     fill whole vectors */
    REACH = (SPAWN_RADIUS + SQUARE / 2) / SQUARE, /* squares from the middle one to the last */
    SQUARES = 2 * REACH + 1,                      /* per side */
    BORDERED = SQUARE + 2,
};
static_assert(REACH * SQUARE + SQUARE / 2 > SPAWN_RADIUS + 1, "blocks beyond the last square");

/* Below, blocks count from the point's block, and distances are in units from the point: they need
 * at most 23 bits, their squares 46. */

/* A column or row of squares. */
struct strip {
    int first, last;  /* blocks */
    int64_t distance; /* the least of its blocks', along the strip's axis */
};

struct spawn_search {
    const struct farlands_terrain *terrain;
    struct spawn_query query;
    int64_t block[2];                           /* the point's block */
    int64_t inside[2];                          /* units from its corner to the point */
    struct strip column[SQUARES], row[SQUARES]; /* within the limit; columns nearest first */
    int columns, rows;
    int searched[SQUARES]; /* columns done in each row */
    int64_t next[SQUARES]; /* squared distance of each row's next square, INT64_MAX if none */
    enum spawn_state state;
    int64_t nearest; /* squared distance of the block found, or of the radius */
    int x, y;        /* the block found; INT_MAX: none yet */
    struct spawn_place place;
    float heights[BORDERED * BORDERED];
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

/* The strips along an axis, as far as they are within the limit. Returns their number. */
static int make_strips(struct strip strips[SQUARES], int64_t block, int64_t inside)
{
    int count = 0;
    for (int i = -REACH; i <= REACH; i++) {
        const int64_t first = block + i * SQUARE - SQUARE / 2, last = first + SQUARE - 1;
        if (last < -FARLANDS_LIMIT_BLOCKS || first > FARLANDS_LIMIT_BLOCKS)
            continue;
        struct strip *strip = &strips[count++];
        *strip = (struct strip){.first = (int)(clamp(first) - block),
                                .last = (int)(clamp(last) - block)};
        if (offset(strip->first, inside) > 0)
            strip->distance = offset(strip->first, inside);
        else if (offset(strip->last, inside) < 0)
            strip->distance = -offset(strip->last, inside);
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

int spawn_search_new(struct spawn_search **out, const struct farlands_terrain *terrain,
                     const struct spawn_query *query)
{
    struct spawn_search *search = calloc(1, sizeof *search);
    if (!search)
        return -ENOMEM;
    const int64_t point[2] = {query->x, query->y}, radius = SPAWN_RADIUS * FARLANDS_UNIT;
    float lowest, highest;

    terrain_range(terrain, &lowest, &highest);
    search->terrain = terrain;
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
    *out = search;
    return 0;
}

void spawn_search_free(struct spawn_search *search)
{
    free(search);
}

/* HEIGHT points into search->heights. */
static bool is_within(const struct spawn_search *search, const float *height, bool any_slope)
{
    if (!(*height >= search->query.min && *height <= search->query.max))
        return false;
    return any_slope || surface_slope((struct around){height[-1], height[1], height[-BORDERED],
                                                      height[BORDERED]}) <= search->query.slope;
}

/* Whether block (X, Y), at the square of its distance, is to be preferred to the one found. */
static bool is_better(const struct spawn_search *search, int64_t distance, int x, int y)
{
    if (distance != search->nearest)
        return distance < search->nearest;
    return y != search->y ? y < search->y : x < search->x;
}

/* Returns the number of samples. */
static int64_t search_square(struct spawn_search *search, struct farlands_scratch *scratch,
                             const struct strip *column, const struct strip *row)
{
    const bool any_slope = search->query.slope == INFINITY;
    const struct farlands_grid grid = {
        .x = (search->block[0] + column->first - 1) * FARLANDS_UNIT,
        .y = (search->block[1] + row->first - 1) * FARLANDS_UNIT,
        .step = FARLANDS_UNIT,
        .width = column->last - column->first + 3,
        .height = row->last - row->first + 3,
    };
    int err = terrain_heights(search->terrain, scratch, &grid, search->heights, BORDERED);
    assert(!err);
    for (int y = row->first; y <= row->last; y++) {
        const float *heights = search->heights + (y - row->first + 1) * BORDERED + 1;
        const int64_t dy = offset(y, search->inside[1]);
        for (int x = column->first; x <= column->last; x++) {
            if (!is_within(search, heights + (x - column->first), any_slope))
                continue;
            const int64_t dx = offset(x, search->inside[0]), distance = dx * dx + dy * dy;
            if (!is_better(search, distance, x, y))
                continue;
            search->nearest = distance;
            search->x = x;
            search->y = y;
        }
    }
    return (int64_t)grid.width * grid.height;
}

static void finish(struct spawn_search *search, struct farlands_scratch *scratch)
{
    if (search->x == INT_MAX) {
        search->state = SPAWN_NONE;
        return;
    }
    struct spawn_place *place = &search->place;
    place->x = (search->block[0] + search->x) * FARLANDS_UNIT;
    place->y = (search->block[1] + search->y) * FARLANDS_UNIT;
    place->distance = sqrt((double)search->nearest) / FARLANDS_UNIT;
    int err = surface_at(&place->surface, search->terrain, scratch, place->x, place->y);
    assert(!err);
    search->state = SPAWN_FOUND;
}

enum spawn_state spawn_search_run(struct spawn_search *search, struct farlands_scratch *scratch,
                                  int64_t samples)
{
    while (search->state == SPAWN_NOT_YET) {
        int row = 0;
        for (int i = 1; i < search->rows; i++)
            if (search->next[i] < search->next[row])
                row = i;
        if (search->next[row] > search->nearest) {
            finish(search, scratch);
            break;
        }
        if (samples <= 0)
            break;
        samples -= search_square(search, scratch, &search->column[search->searched[row]],
                                 &search->row[row]);
        search->searched[row]++;
        set_next(search, row);
    }
    return search->state;
}

const struct spawn_place *spawn_search_place(const struct spawn_search *search)
{
    assert(search->state == SPAWN_FOUND);
    return &search->place;
}
