#include "spawn_search.h"

#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>

/*
 * Blocks lie in squares, the middle one of which has the point about in its middle. Squares are
 * searched in the order of how near their nearest place can be, so that none is searched that is
 * farther away than what has been found.
 */
enum {
    SQUARE = 126, /* blocks a side: few to search where the first will do, a border of 3 %, and with
                     it a width that fills whole vectors */
    REACH = (SPAWN_RADIUS + SQUARE / 2) / SQUARE, /* squares from the middle one to the last */
    SQUARES = 2 * REACH + 1,                      /* a side */
    BORDERED = SQUARE + 2,
};
static_assert(REACH * SQUARE + SQUARE / 2 > SPAWN_RADIUS + 1, "places beyond the last square");

/* From here on numbers of blocks count from the block that the point lies in, and numbers of
 * units from the point: none needs more than 23 bits, their squares 46. */

/* A column or row of squares. */
struct strip {
    int first, last;  /* blocks; empty where the last comes before the first */
    int64_t distance; /* units: nearer to the point no place in it can be */
};

struct spawn_search {
    const struct farlands_terrain *terrain;
    struct spawn_query wish;
    int64_t block[2];                           /* that the point lies in */
    int64_t inside[2];                          /* units: how far in it */
    struct strip column[SQUARES], row[SQUARES]; /* that are not empty; columns nearest first */
    int columns, rows;
    /* Of each row: how many columns have been searched, and the square of the next one's distance,
     * INT64_MAX where there is none. */
    int searched[SQUARES];
    int64_t next[SQUARES];
    enum spawn_state state;
    int64_t nearest; /* the square of the distance of what was found; at first, of the farthest */
    int x, y;        /* what was found; the block after the last one at first */
    struct spawn_place place;
    float heights[BORDERED * BORDERED];
};

/* How far BLOCK lies from the point along an axis. */
static int64_t way(int block, int64_t inside)
{
    return (int64_t)block * FARLANDS_UNIT - inside;
}

static int nearest_first(const void *a, const void *b)
{
    const struct strip *x = a, *y = b;
    return (x->distance > y->distance) - (x->distance < y->distance);
}

/* The strips along an axis that hold places within the limit. Returns their number. */
static int make_strips(struct strip strips[SQUARES], int64_t block, int64_t inside)
{
    int count = 0;
    for (int i = -REACH; i <= REACH; i++) {
        int64_t first = i * SQUARE - SQUARE / 2, last = first + SQUARE - 1;
        if (first < -FARLANDS_LIMIT_BLOCKS - block)
            first = -FARLANDS_LIMIT_BLOCKS - block;
        if (last > FARLANDS_LIMIT_BLOCKS - block)
            last = FARLANDS_LIMIT_BLOCKS - block;
        if (first > last)
            continue;
        struct strip *strip = &strips[count++];
        *strip = (struct strip){.first = (int)first, .last = (int)last};
        if (way(strip->first, inside) > 0)
            strip->distance = way(strip->first, inside);
        else if (way(strip->last, inside) < 0)
            strip->distance = -way(strip->last, inside);
    }
    return count;
}

/* Which square of ROW is next. */
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
                     const struct spawn_query *wish)
{
    struct spawn_search *search = malloc(sizeof *search);
    if (!search)
        return -ENOMEM;
    const int64_t radius = SPAWN_RADIUS * FARLANDS_UNIT;
    float lowest, highest;

    farlands_terrain_range(terrain, &lowest, &highest);
    search->terrain = terrain;
    search->wish = *wish;
    const int64_t point[2] = {wish->x, wish->y};
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
    const bool possible = wish->min <= highest && wish->max >= lowest && wish->slope >= 0;
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

static bool is_as_wished(const struct spawn_search *search, const float *height, bool any_slope)
{
    if (!(*height >= search->wish.min && *height <= search->wish.max))
        return false;
    return any_slope || surface_slope((struct around){height[-1], height[1], height[-BORDERED],
                                                      height[BORDERED]}) <= search->wish.slope;
}

/* Whether block (X, Y), whose distance has the square DISTANCE, comes before what was found. */
static bool comes_before(const struct spawn_search *search, int64_t distance, int x, int y)
{
    if (distance != search->nearest)
        return distance < search->nearest;
    return y != search->y ? y < search->y : x < search->x;
}

/* Returns the number of samples. */
static int64_t search_square(struct spawn_search *search, struct farlands_scratch *scratch,
                             const struct strip *column, const struct strip *row)
{
    const bool any_slope = search->wish.slope == INFINITY;
    const struct farlands_grid grid = {
        .x = (search->block[0] + column->first - 1) * FARLANDS_UNIT,
        .y = (search->block[1] + row->first - 1) * FARLANDS_UNIT,
        .step = FARLANDS_UNIT,
        .width = column->last - column->first + 3,
        .height = row->last - row->first + 3,
    };
    int err = farlands_heights(search->terrain, scratch, &grid, search->heights, BORDERED);
    assert(!err);
    for (int y = row->first; y <= row->last; y++) {
        const float *heights = search->heights + (y - row->first + 1) * BORDERED + 1;
        const int64_t dy = way(y, search->inside[1]);
        for (int x = column->first; x <= column->last; x++) {
            if (!is_as_wished(search, heights + (x - column->first), any_slope))
                continue;
            const int64_t dx = way(x, search->inside[0]), distance = dx * dx + dy * dy;
            if (!comes_before(search, distance, x, y))
                continue;
            search->nearest = distance;
            search->x = x;
            search->y = y;
        }
    }
    return (int64_t)grid.width * grid.height;
}

/* Nothing that is left can be nearer. */
static void end(struct spawn_search *search)
{
    if (search->x == INT_MAX) {
        search->state = SPAWN_NONE;
        return;
    }
    struct spawn_place *place = &search->place;
    place->x = (search->block[0] + search->x) * FARLANDS_UNIT;
    place->y = (search->block[1] + search->y) * FARLANDS_UNIT;
    place->distance = sqrt((double)search->nearest) / FARLANDS_UNIT;
    place->surface = surface_at(search->terrain, place->x, place->y);
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
            end(search);
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
