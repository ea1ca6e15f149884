#include "request_price.h"

/* Picoseconds for a surface besides its height. Rows: up to a block apart, and farther. Columns:
 * worlds with fields, and worlds with one noise, whose overhangs move it. */
static const uint64_t surface_price[2][2] = {{1000000, 5000000}, {5000000, 40000000}};
/* Picoseconds for a volume's sample besides the heights. */
enum { DENSITY_PRICE = 200000 };

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint64_t plus(uint64_t a, uint64_t b)
{
    return least(a + b, PRICE_MOST);
}

static uint64_t times(uint64_t count, uint64_t price)
{
    return count > 0 && price > PRICE_MOST / count ? PRICE_MOST : count * price;
}

/* The ledge in the square around a sample, if samples are STEP units apart. Near samples share it.
 */
static uint64_t price_of_ledge(const struct world *world, int64_t step)
{
    const struct farlands_volume_params *volume = &world->config->terrain.volume;
    const int64_t square = volume->overhangs.noise.wavelength / 2;
    if (volume->overhangs.amplitude == 0 || !terrain_is_graph(world->base_terrain))
        return 0;
    const uint64_t ledge = world->prices[world_height_field(world)].beside;
    const uint64_t apart = (uint64_t)square / (uint64_t)step;
    return apart > 1 ? ledge / apart / apart : ledge;
}

static uint64_t price_of_surface(const struct world *world, int64_t step)
{
    const struct farlands_volume_params *volume = &world->config->terrain.volume;
    if (volume->overhangs.amplitude == 0 && volume->caverns.size <= 0 &&
        volume->tunnels.radius == 0)
        return 0;
    return surface_price[step > FARLANDS_UNIT][!terrain_is_graph(world->base_terrain)];
}

static uint64_t price_of_sample(const struct world *world, int field, int64_t step, bool band_limit)
{
    if (!world_is_surface(world, field))
        return price_of_field(&world->prices[field], step, band_limit);
    return price_of_sample(world, world_height_field(world), step, false) +
           price_of_surface(world, step);
}

/* The dearest field that a picture of LAYER needs: biomes need the climate, water the ground. */
static int dearest_field(const struct world *world, int layer, int field)
{
    const struct climate *climate = layers[layer].climate ? world_climate(world) : NULL;
    const struct world_water *water = layers[layer].water ? world_water(world) : NULL;
    return climate ? climate->biome : water ? water->water : field;
}

uint64_t request_price_of_region(const struct world *world, int layer, int field,
                                 const struct farlands_grid *grid)
{
    field = world_field_over(world, dearest_field(world, layer, field), grid);
    return times((uint64_t)grid->width * (uint64_t)grid->height,
                 price_of_sample(world, field, grid->step, grid->band_limit));
}

uint64_t request_price_of_volume(const struct world *world, const struct farlands_box *box,
                                 int parts)
{
    const uint64_t columns = (uint64_t)box->width * (uint64_t)box->height;
    const uint64_t height = price_of_sample(world, world_height_field(world), box->step, false);
    /* Twice: a ledge moves the memory of rivers away from its column. */
    const uint64_t column = 2 * height + price_of_ledge(world, box->step);
    return plus(times(columns * (uint64_t)parts, column),
                times(columns * (uint64_t)box->depth, DENSITY_PRICE));
}

/* Rivers are found once, for the field that needs most of them. */
uint64_t request_price_of_places(const struct world *world, const int *field, int count,
                                 size_t places, size_t far)
{
    const struct climate *climate = world_climate(world);
    const struct world_water *water = world_water(world);
    const int height = world_height_field(world);
    const int told = climate ? climate->biome : water ? water->water : height;
    const struct price *prices = world->prices;
    uint64_t rivers = prices[told].place - prices[told].beside;
    uint64_t all = plus(prices[height].beside, prices[told].beside);

    for (int i = 0; i < count; i++) {
        const bool surface = world_is_surface(world, field[i]);
        const struct price *price = &prices[surface ? height : field[i]];
        const uint64_t own = price->place - price->beside;
        rivers = rivers > own ? rivers : own;
        all = plus(all, price->beside);
        if (surface)
            all = plus(all,
                       price_of_surface(world, TERRAIN_FAR) + price_of_ledge(world, TERRAIN_FAR));
    }
    return plus(times(places, all), times(far, rivers));
}
