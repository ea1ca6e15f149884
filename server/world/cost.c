#include "cost.h"

#include <math.h>

#include "server/world/cost_rates.h"
#include "server/world/field_costs.h"
#include "server/world/picture.h"

static double time_of(const struct world *world, const struct work *work)
{
    double ns = 0;
    for (int kind = 0; kind < WORK_KINDS; kind++)
        ns += work->count[kind] * world->rates->ns[kind];
    return ns;
}

static uint32_t microseconds(double ns)
{
    return ns < (double)UINT32_MAX * 1000 ? (uint32_t)(ns / 1000) : UINT32_MAX;
}

/* The field that takes as long as what a picture of LAYER needs. A biome needs the climate, and
 * water the ground. */
static int dearest_field(const struct world *world, int layer, int field)
{
    const struct climate *climate = layers[layer].climate ? world_climate(world) : NULL;
    const struct world_water *water = layers[layer].water ? world_water(world) : NULL;
    return climate ? climate->biome : water ? water->water : field;
}

static double time_of_surfaces(const struct world *world, const struct farlands_grid *grid);

static double time_of_grid(const struct world *world, int field, const struct farlands_grid *grid)
{
    struct work work = {0};
    field = world_field_over(world, field, grid);
    if (world_is_surface(world, field))
        return time_of_surfaces(world, grid);
    if (world->field_costs)
        return field_costs_of_grid(world->field_costs, world->terrain, field, grid);
    work_add_grid(&work, &world->config.terrain, grid);
    return time_of(world, &work);
}

/* Memory for SAMPLES of a response, and conversion: little compared to any noise. */
static double time_of_format(const struct world *world, enum format format, int layer,
                             double samples)
{
    const struct layer_rates *rates = &world->rates->layers[layer];
    switch (format) {
    case FORMAT_PNG:
    case FORMAT_WEBP:
        return samples * ((world_climate(world) ? rates->climate : rates->paint) +
                          (format == FORMAT_PNG ? rates->encode : rates->webp));
    case FORMAT_R16:
    case FORMAT_U8:
        return samples * rates->paint;
    default:
        return 0;
    }
}

uint32_t cost_of_tile(const struct tile *tile)
{
    const double size = tile_size(tile);
    struct farlands_grid grid;

    if (tile_grid(tile, &grid, NULL))
        return 0;
    const int reach = tile_reach(tile, grid.step);
    grid.width += 2 * reach;
    grid.height += 2 * reach;
    const int field = dearest_field(tile->world, tile->layer, tile_content(tile).field);
    return microseconds(time_of_grid(tile->world, field, &grid) +
                        time_of_format(tile->world, tile->format, tile->layer, size * size));
}

/* The heights of a picture: blocks share their borders with their neighbours. */
static double time_of_blocks(const struct world *world, const struct farlands_grid *grid, int layer,
                             int field)
{
    const struct tile tile = {.world = world, .layer = layer};
    const int reach = tile_reach(&tile, grid->step), most = PICTURE_BAND_MAX / grid->width;
    const int rows = grid->height < most ? grid->height : most;
    const struct picture_block block = picture_block(grid->width, rows, reach);
    const double blocks = (double)grid->width * grid->height / ((double)block.width * block.height);
    struct farlands_grid bordered = *grid;
    bordered.width = block.width + 2 * reach;
    bordered.height = block.height + 2 * reach;
    return blocks * time_of_grid(world, dearest_field(world, layer, field), &bordered);
}

uint32_t cost_of_region(const struct world *world, const struct farlands_grid *grid,
                        enum format format, int layer, int field)
{
    const double samples = (double)grid->width * grid->height;
    const double heights = format == FORMAT_PNG ? time_of_blocks(world, grid, layer, field)
                                                : time_of_grid(world, field, grid);
    return microseconds(heights + time_of_format(world, format, layer, samples));
}

double cost_of_far_samples(const struct world *world, const struct farlands_grid *grid, int field)
{
    enum { MOST = 256 }; /* samples of a row that are looked at */
    if (grid->band_limit || grid->step <= ESTIMATE_FAR || !terrain_has_drain(world->terrain))
        return 0;
    struct evaluation *kept = NULL;
    struct estimate guess;
    struct farlands_grid part = *grid;
    part.width = grid->width < MOST ? grid->width : MOST;
    part.height = grid->height < MOST ? grid->height : MOST;
    if (world_is_surface(world, field))
        field = world_height_field(world);
    int err = estimate_field(&guess, world->terrain, field, &part, NULL, &kept);
    evaluation_free(kept);
    const double parts = (double)grid->width / part.width * grid->height / part.height;
    return err ? 0 : parts * guess.ns / 1e9;
}

/* --- Volumes --- */

/* The surface in a box is looked at in this many rows, and columns. */
enum { LOOKS = 3 };

struct relief {
    double lowest, highest; /* metres */
};

/* The heights of a graph in BOX, some rows at a time. */
static double time_of_surface(const struct world *world, const struct farlands_box *box)
{
    const int rows = box->height < WORK_BOX_ROWS ? box->height : WORK_BOX_ROWS;
    const struct farlands_grid grid = {.step = box->step, .width = box->width, .height = rows};
    return time_of_grid(world, world_height_field(world), &grid) * box->height / rows;
}

/* The squares that a row of SAMPLES meets. */
static double squares(int samples, int64_t step, int64_t square)
{
    return step < square ? 1 + (double)(samples - 1) * (double)step / (double)square : samples;
}

/*
 * The heights of COUNT ledges on a grid, STEP units apart. Much of what they need is known from the
 * grid itself, as if they were nearer to each other; and masks leave out about half of a graph at
 * one place. Both measured, in the worlds of config/worlds.
 */
static double time_of_ledges(const struct world *world, double count, int64_t step)
{
    enum { NEARER = 8 };
    const double place = field_costs_of_place(world->field_costs, world->terrain,
                                              world_height_field(world), (double)step / NEARER);
    return count * place / 2;
}

/* The width of the squares that have a ledge each, in units; 0 if WORLD has none. */
static int64_t square_of(const struct world *world)
{
    const struct farlands_volume_params *volume = &world->config.terrain.volume;
    return world->field_costs && volume->overhangs.amplitude > 0
               ? volume->overhangs.noise.wavelength / 2
               : 0;
}

/* The ledges in BOX. */
static double time_of_all_ledges(const struct world *world, const struct farlands_box *box)
{
    const int64_t square = square_of(world);
    if (square == 0)
        return 0;
    return time_of_ledges(world,
                          (1 - world->config.terrain.volume.overhangs.threshold) *
                              squares(box->width, box->step, square) *
                              squares(box->height, box->step, square),
                          box->step > square ? box->step : square);
}

/* Caves never reach the surface in graphs, and overhangs have no noise there. */
static void leave_out_surface(struct farlands_volume_params *volume)
{
    volume->overhangs.amplitude = 0;
    volume->caverns.cover = volume->tunnels.cover = 1;
}

static double time_of_box(const struct world *world, const struct farlands_box *box,
                          const struct relief *relief)
{
    struct work work = {0};
    struct farlands_params params = world->config.terrain;
    double ns = 0;
    if (world->field_costs) {
        ns = time_of_surface(world, box) + time_of_all_ledges(world, box);
        leave_out_surface(&params.volume);
        params.octaves = 1; /* which takes little */
        params.warp.amplitude = 0;
    }
    work_add_box(&work, &params, box, relief->lowest, relief->highest);
    return ns + time_of(world, &work);
}

/* The middle of part I of LOOKS equal parts of COUNT samples. */
static int64_t middle(int i, int count, int64_t step)
{
    return step * ((2 * i + 1) * (count - 1) / (2 * LOOKS));
}

/* The height at (X, Y); in worlds with rivers without what is finer than 64 blocks, because they
 * would take milliseconds. */
static double look_from_far(const struct world *world, struct farlands_scratch *scratch, int64_t x,
                            int64_t y)
{
    const int field = world_height_field(world);
    const struct farlands_grid grid = {x, y, 2 * ESTIMATE_FAR, 1, 1, true};
    float value = NAN, *const out = &value;

    if (!scratch || !terrain_has_drain(world->terrain))
        return (double)terrain_field_at(world->terrain, scratch, field, x, y);
    if (terrain_fields(world->terrain, scratch, &grid, &field, 1, &out, 1))
        return NAN;
    return (double)value;
}

/* The surface in row ROW of LOOKS: between the heights that are looked at it may rise and fall by
 * MARGIN more. */
static struct relief look_at(const struct world *world, struct farlands_scratch *scratch,
                             const struct farlands_box *box, int row, double margin)
{
    struct relief relief = {INFINITY, -INFINITY};
    const int columns = box->width > 1 ? LOOKS : 1;
    for (int i = 0; i < columns; i++) {
        const double height =
            look_from_far(world, scratch, box->x + middle(i, box->width, box->step),
                          box->y + middle(row, box->height, box->step));
        relief.lowest = fmin(relief.lowest, height);
        relief.highest = fmax(relief.highest, height);
    }
    return (struct relief){fmax(relief.lowest - margin, (double)world->colors->min),
                           fmin(relief.highest + margin, (double)world->colors->max)};
}

/* By about so much the surface rises between two looks at it, in metres. */
static double typical_rise(const struct world *world, const struct farlands_box *box)
{
    const double range = (double)world->colors->max - (double)world->colors->min;
    const double gap = (double)box->step / FARLANDS_UNIT *
                       fmax((double)box->width / LOOKS, box->height < 16 ? box->height : 16);
    return fmin((double)terrain_slope(world->terrain, 1) * gap / 2, range / 2);
}

/*
 * Caves and overhangs are computed only where they can be: a box in the air is cheap. Unless BOX is
 * cheap at any height, look at the surface.
 */
uint32_t cost_of_volume(const struct world *world, struct farlands_scratch *scratch,
                        const struct farlands_box *box)
{
    enum { CHEAP = 100 * 1000 }; /* ns */
    const struct relief any = {(double)world->colors->min, (double)world->colors->max};
    const double most = time_of_box(world, box, &any);
    if (most < CHEAP)
        return microseconds(most);
    const double rise = typical_rise(world, box);
    double ns = 0;
    for (int row = 0; row < LOOKS; row++) {
        const struct relief relief = look_at(world, scratch, box, row, rise);
        ns += time_of_box(world, box, &relief) / LOOKS;
    }
    return microseconds(ns);
}

static double time_of_points(const struct world *world, double count)
{
    struct work work = {0};
    work_add_points(&work, &world->config.terrain, count);
    return time_of(world, &work);
}

uint32_t cost_of_points(const struct world *world, int field, uint64_t count, double apart)
{
    if (!world->field_costs)
        return microseconds(time_of_points(world, (double)count));
    return microseconds((double)count *
                        field_costs_of_place(world->field_costs, world->terrain, field, apart));
}

/* --- Surfaces --- */

/* The densities of COLUMNS columns a block apart, from just below the surface up to the air. */
static double time_of_columns(const struct world *world, int columns)
{
    enum { GROUND = 2 };
    struct work work = {0};
    struct farlands_params params = world->config.terrain;
    /* Ground that rises by more than a block in four is rare. */
    const double rise = (columns - 1) / 4.0;
    const double air = 0.6 * (double)params.volume.overhangs.amplitude / FARLANDS_UNIT;
    const int depth = GROUND + 2 + (int)(rise + (world->field_costs ? 0 : air));
    const struct farlands_box box = {0, 0,    -farlands_units(GROUND), FARLANDS_UNIT, columns,
                                     1, depth};

    if (world->field_costs)
        leave_out_surface(&params.volume);
    params.octaves = 1; /* the heights are known */
    params.warp.amplitude = 0;
    work_add_box(&work, &params, &box, 0, rise);
    return time_of(world, &work);
}

/* The ledges near samples of GRID. */
static double time_of_near_ledges(const struct world *world, const struct farlands_grid *grid)
{
    const struct farlands_volume_params *volume = &world->config.terrain.volume;
    const int64_t square = square_of(world);
    if (square == 0)
        return 0;
    /* The mean area of a ledge in its square, pi share^2 most^2, and some air around. */
    const double most = fmin((double)volume->overhangs.amplitude / 2 / (double)square, 0.39);
    const double part = 1.3 * M_PI / 3 * most * most * (1 - pow(volume->overhangs.threshold, 3));
    const double all = (1 - volume->overhangs.threshold) *
                       squares(grid->width, grid->step, square) *
                       squares(grid->height, grid->step, square);
    return time_of_ledges(world, fmin(part * grid->width * grid->height, all),
                          grid->step > square ? grid->step : square);
}

/* The surfaces of GRID: the heights, and a column of densities each. */
static double time_of_surfaces(const struct world *world, const struct farlands_grid *grid)
{
    enum { TOGETHER = 16 }; /* columns, if they are a block apart */
    const int most = grid->step == FARLANDS_UNIT ? TOGETHER : 1;
    const int columns = grid->width < most ? grid->width : most;
    struct farlands_grid exact = *grid;
    exact.band_limit = false;
    return time_of_grid(world, world_height_field(world), &exact) +
           time_of_near_ledges(world, grid) +
           ceil((double)grid->width / columns) * grid->height * time_of_columns(world, columns);
}

uint32_t cost_of_surface(const struct world *world)
{
    const struct farlands_box column = {.step = FARLANDS_UNIT, .width = 1, .height = 1};
    return microseconds(time_of_columns(world, 1) + time_of_all_ledges(world, &column));
}

/* FIELD at a place whose height is known. */
static double time_of_field(const struct world *world, int field)
{
    if (world_is_surface(world, field))
        return 1e3 * cost_of_surface(world);
    return world->field_costs ? field_costs_of_place(world->field_costs, world->terrain, field, 0)
                              : time_of_points(world, 1);
}

uint32_t cost_of_place(const struct world *world, const int *field, int count)
{
    const struct farlands_grid around = {.step = FARLANDS_UNIT, .width = 3, .height = 3};
    /* The nine heights of a slope share vectors, and take about as long as two of a noise. */
    double ns = world->field_costs ? time_of_grid(world, world_height_field(world), &around)
                                   : time_of_points(world, 2);
    if (world_climate(world))
        ns += field_costs_of_place(world->field_costs, world->terrain, world_climate(world)->biome,
                                   0);
    if (world_water(world))
        ns +=
            field_costs_of_place(world->field_costs, world->terrain, world_water(world)->water, 0);
    for (int i = 0; i < count; i++)
        ns += time_of_field(world, field[i]);
    return microseconds(ns);
}
