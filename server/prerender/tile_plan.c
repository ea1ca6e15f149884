#include "tile_plan.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* For coordinate differences and products of tile counts, which exceed 64 bits. */
typedef __int128 wide;

/* Directories above a listed part's columns: its zoom's, and perhaps its layer's and its
 * fingerprint's. */
enum { PARENT_DIRECTORIES = 3 };

static int64_t floor_divide(wide a, wide b)
{
    return (int64_t)(a / b - (a % b < 0));
}

/* On one axis the tiles FIRST <= i < BEYOND lie within the plane's limit. */
static void axis_limits(const struct tile_box *box, int axis, int64_t span, int64_t *first,
                        int64_t *beyond)
{
    const int size = TILE_SIZE * box->scale;
    const wide origin = box->world->config->origin[axis];
    *first = -floor_divide(FARLANDS_LIMIT + origin, span);
    *beyond = floor_divide(FARLANDS_LIMIT - origin - span / size * (size - 1), span) + 1;
}

/* At zoom Z the box touches COUNT tiles from FIRST on. */
static void axis_tiles(const struct tile_box *box, int axis, int z, int64_t *first, int64_t *count)
{
    const wide origin = box->world->config->origin[axis];
    const int64_t span = TILE_SIZE * (FARLANDS_UNIT << 42 >> (z - world_min_zoom(box->world)));
    int64_t least, beyond;
    axis_limits(box, axis, span, &least, &beyond);
    const int64_t from = box->whole ? 0 : floor_divide(box->least[axis] - origin, span);
    const int64_t to =
        box->whole ? INT64_C(1) << z : -floor_divide(origin - box->beyond[axis], span);
    *first = from > least ? from : least;
    if (to < beyond)
        beyond = to;
    *count = beyond > *first ? beyond - *first : 0;
}

static int check_box(const struct tile_box *box, char why[TILE_PLAN_WHY])
{
    static const char *const axes[] = {"x", "y"};
    const int least = world_min_zoom(box->world), most = world_max_zoom(box->world, box->scale);

    if (box->zoom_min > box->zoom_max || box->zoom_min < least || box->zoom_max > most) {
        snprintf(why, TILE_PLAN_WHY,
                 "--zoom: %d-%d; expected a zoom, or A-B with A <= B, from %d to %d%s",
                 box->zoom_min, box->zoom_max, least, most,
                 box->scale == 2 ? " with --scale 2" : "");
        return -EINVAL;
    }
    if (box->whole && box->zoom_min < 0) {
        snprintf(why, TILE_PLAN_WHY, "--zoom: %d: a zoom below 0 needs a --bbox", box->zoom_min);
        return -EINVAL;
    }
    for (int axis = 0; !box->whole && axis < 2; axis++)
        if (box->least[axis] >= box->beyond[axis]) {
            snprintf(why, TILE_PLAN_WHY, "--bbox: %s0 must be less than %s1", axes[axis],
                     axes[axis]);
            return -EINVAL;
        }
    return 0;
}

static int add_zoom(struct tile_plan *plan, const struct tile_box *box, int z,
                    char why[TILE_PLAN_WHY])
{
    struct tile_part part = {
        .world = box->world, .scale = box->scale, .format = box->format, .z = z};
    axis_tiles(box, 0, z, &part.x, &part.width);
    axis_tiles(box, 1, z, &part.y, &part.height);
    const wide count = (wide)part.width * part.height;
    if (count == 0) {
        snprintf(why, TILE_PLAN_WHY, "--bbox: no tiles at zoom %d", z);
        return -EINVAL;
    }
    for (int i = 0; i < box->layer_count; i++) {
        if (plan->total + count > TILE_PLAN_MAX) {
            snprintf(
                why, TILE_PLAN_WHY,
                "--zoom: more than 2^62 tiles up to zoom %d; expected fewer zooms or a smaller --bbox",
                z);
            return -EOVERFLOW;
        }
        part.layer = box->layer[i];
        part.field = box->field[i];
        part.before = plan->total;
        part.count = (uint64_t)count;
        part.directories_before = plan->directories;
        part.directories = (uint64_t)part.width + 1;
        plan->total += part.count;
        plan->directories += part.directories;
        plan->part[plan->part_count++] = part;
    }
    return 0;
}

int tile_plan_box(struct tile_plan **out, const struct tile_box *box, char why[TILE_PLAN_WHY])
{
    int err = check_box(box, why);
    if (err)
        return err;
    const size_t parts = (size_t)(box->zoom_max - box->zoom_min + 1) * (size_t)box->layer_count;
    struct tile_plan *plan = calloc(1, sizeof *plan);
    if (!plan)
        return -ENOMEM;
    plan->of = 1;
    plan->directories = 2 * (uint64_t)box->layer_count; /* the fingerprints', the layers' */
    plan->part = calloc(parts, sizeof *plan->part);
    err = plan->part ? 0 : -ENOMEM;
    for (int z = box->zoom_min; !err && z <= box->zoom_max; z++)
        err = add_zoom(plan, box, z, why);
    if (err) {
        tile_plan_free(plan);
        return err;
    }
    *out = plan;
    return 0;
}

/* The number of the COUNT tiles from FIRST on that lie in FIRST's metatile. */
static int64_t first_cut(int64_t first, int64_t count)
{
    const int64_t cut = METATILE - (first & (METATILE - 1));
    return count < cut ? count : cut;
}

/*
 * Find the metatile that has tile *INDEX, among COUNT columns (or rows) from *FIRST on with EACH
 * tiles per column. Sets *FIRST to the metatile's first column and *INDEX to the index from there
 * on. Returns the metatile's width in columns.
 */
static int64_t find_cut(int64_t *first, int64_t count, uint64_t each, uint64_t *index)
{
    int64_t length = first_cut(*first, count);
    if (*index < (uint64_t)length * each)
        return length;
    *index -= (uint64_t)length * each;
    *first += length;
    count -= length;
    const uint64_t skipped = *index / (METATILE * each);
    *index -= skipped * METATILE * each;
    *first += (int64_t)skipped * METATILE;
    count -= (int64_t)skipped * METATILE;
    return count < METATILE ? count : METATILE;
}

/* Metatiles go column by column from west to east, each column from north to south; so do the tiles
 * in a metatile. */
static void place_in_box(const struct tile_part *part, uint64_t index, int64_t *x, int64_t *y)
{
    *x = part->x;
    *y = part->y;
    const int64_t width = find_cut(x, part->width, (uint64_t)part->height, &index);
    const int64_t height = find_cut(y, part->height, (uint64_t)width, &index);
    *x += (int64_t)(index / (uint64_t)height);
    *y += (int64_t)(index % (uint64_t)height);
}

static int compare(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

/* By name, not by address, because all processes must agree on the shards. */
static int compare_worlds(const struct world *a, const struct world *b)
{
    return a == b ? 0 : strcmp(a->name, b->name);
}

/* 0 if both tiles belong to the same part. */
static int compare_parts(const struct tile_address *a, const struct tile_address *b)
{
    int result = compare(a->z, b->z);
    if (!result)
        result = compare_worlds(a->world, b->world);
    if (!result)
        result = compare(a->layer, b->layer);
    if (!result)
        result = compare(a->field, b->field);
    if (!result)
        result = compare(a->format, b->format);
    if (!result)
        result = compare(a->scale, b->scale);
    return result ? result : compare(a->border, b->border);
}

static int compare_tiles(const void *left, const void *right)
{
    const struct tile_address *a = left, *b = right;
    int result = compare_parts(a, b);
    if (!result)
        result = compare(a->x >> 3, b->x >> 3);
    if (!result)
        result = compare(a->y >> 3, b->y >> 3);
    if (!result)
        result = compare(a->x, b->x);
    return result ? result : compare(a->y, b->y);
}

static size_t drop_duplicates(struct tile_address *tiles, size_t count)
{
    size_t kept = 1;
    for (size_t i = 1; i < count; i++)
        if (compare_tiles(&tiles[kept - 1], &tiles[i]) != 0)
            tiles[kept++] = tiles[i];
    return kept;
}

static size_t count_parts(const struct tile_address *tiles, size_t count)
{
    size_t parts = 1;
    for (size_t i = 1; i < count; i++)
        parts += compare_parts(&tiles[i - 1], &tiles[i]) != 0;
    return parts;
}

static void extend(int64_t *first, int64_t *length, int64_t to)
{
    const int64_t last = *first + *length - 1;
    *first = to < *first ? to : *first;
    *length = (to > last ? to : last) - *first + 1;
}

/* A column of tiles is a directory. The list has the tiles of one metatile together, so COLUMNS
 * needs just a bit for each of its columns that has been counted. */
static void fill_parts(struct tile_plan *plan)
{
    struct tile_part *part = NULL;
    unsigned columns = 0;
    for (size_t i = 0; i < plan->total; i++) {
        const struct tile_address *tile = &plan->listed[i];
        const unsigned column = 1u << (tile->x & (METATILE - 1));
        if (i == 0 || compare_parts(tile - 1, tile) != 0) {
            part = &plan->part[plan->part_count++];
            *part = (struct tile_part){.world = tile->world,
                                       .layer = tile->layer,
                                       .field = tile->field,
                                       .format = tile->format,
                                       .scale = tile->scale,
                                       .z = tile->z,
                                       .border = tile->border,
                                       .x = tile->x,
                                       .y = tile->y,
                                       .width = 1,
                                       .height = 1,
                                       .before = i,
                                       .directories_before = plan->directories,
                                       .directories = PARENT_DIRECTORIES};
            plan->directories += PARENT_DIRECTORIES;
            columns = 0;
        } else if (tile[-1].x >> 3 != tile->x >> 3) {
            columns = 0;
        }
        part->directories += !(columns & column);
        plan->directories += !(columns & column);
        columns |= column;
        extend(&part->x, &part->width, tile->x);
        extend(&part->y, &part->height, tile->y);
        part->count++;
    }
}

int tile_plan_list(struct tile_plan **out, struct tile_address *tiles, size_t count)
{
    assert(count > 0);
    struct tile_plan *plan = calloc(1, sizeof *plan);
    if (!plan) {
        free(tiles);
        return -ENOMEM;
    }
    qsort(tiles, count, sizeof *tiles, compare_tiles);
    count = drop_duplicates(tiles, count);
    plan->of = 1;
    plan->listed = tiles;
    plan->total = count;
    plan->part = calloc(count_parts(tiles, count), sizeof *plan->part);
    if (!plan->part) {
        tile_plan_free(plan);
        return -ENOMEM;
    }
    fill_parts(plan);
    *out = plan;
    return 0;
}

void tile_plan_free(struct tile_plan *plan)
{
    if (!plan)
        return;
    free(plan->part);
    free(plan->listed);
    free(plan);
}

void tile_plan_shard(struct tile_plan *plan, uint64_t shard, uint64_t of)
{
    assert(shard < of);
    plan->shard = shard;
    plan->of = of;
}

/* How many of the first TOTAL tiles are in the shard, which has every OFth tile. */
static uint64_t of_shard(const struct tile_plan *plan, uint64_t total)
{
    return total / plan->of + (plan->shard < total % plan->of);
}

uint64_t tile_plan_count(const struct tile_plan *plan)
{
    return of_shard(plan, plan->total);
}

uint64_t tile_plan_count_part(const struct tile_plan *plan, size_t part)
{
    const struct tile_part *range = &plan->part[part];
    return of_shard(plan, range->before + range->count) - of_shard(plan, range->before);
}

static size_t find_part(const struct tile_plan *plan, uint64_t index)
{
    size_t least = 0, beyond = plan->part_count;
    while (beyond - least > 1) {
        const size_t middle = least + (beyond - least) / 2;
        if (plan->part[middle].before <= index)
            least = middle;
        else
            beyond = middle;
    }
    return least;
}

size_t tile_plan_get(const struct tile_plan *plan, uint64_t index, struct tile_address *tile)
{
    index = plan->shard + index * plan->of;
    assert(index < plan->total);
    const size_t found = find_part(plan, index);
    if (plan->listed) {
        *tile = plan->listed[index];
        return found;
    }
    const struct tile_part *part = &plan->part[found];
    *tile = (struct tile_address){.world = part->world,
                                  .layer = part->layer,
                                  .field = part->field,
                                  .format = part->format,
                                  .scale = part->scale,
                                  .z = part->z};
    place_in_box(part, index - part->before, &tile->x, &tile->y);
    return found;
}

uint64_t tile_plan_directories(const struct tile_plan *plan, uint64_t count)
{
    if (count == 0)
        return 0;
    const uint64_t index = plan->shard + (count - 1) * plan->of;
    const struct tile_part *part = &plan->part[find_part(plan, index)];
    uint64_t within = index - part->before;
    if (plan->listed)
        return part->directories_before + part->directories;
    /* All columns up to the current metatile's last. */
    int64_t first = part->x;
    const int64_t width = find_cut(&first, part->width, (uint64_t)part->height, &within);
    return part->directories_before + 1 + (uint64_t)(first + width - part->x);
}

void tile_plan_get_in_part(const struct tile_plan *plan, size_t part, uint64_t index,
                           struct tile_address *tile)
{
    tile_plan_get(plan, of_shard(plan, plan->part[part].before) + index, tile);
}
