/*
 * What a request costs, known before it runs: CPU time on this machine, in microseconds, right
 * within a factor of 2 for nearly all requests. Any thread; each function takes less than a
 * microsecond, cost_of_volume a few. In a world of many fields the first request for a field at a
 * zoom takes some 100 microseconds more (field_costs.h), and cost_of_volume up to half a
 * millisecond, for the heights that it looks at.
 */
#ifndef FARLANDS_WORLD_COST_H
#define FARLANDS_WORLD_COST_H

#include "server/world/tile.h"

/* Render TILE, whose grid exists (tile_grid). */
uint32_t cost_of_tile(const struct tile *tile);

/*
 * The seconds that exact values of FIELD over GRID take on the fixed machine of the library's
 * estimates, so the same on every machine; 0 unless rivers make them dear: where samples are more
 * than ESTIMATE_FAR apart, each has to find rivers of its own. Takes some 100 microseconds then.
 */
double cost_of_far_samples(const struct world *world, const struct farlands_grid *grid, int field);

/* FIELD's values over GRID as FORMAT; as a picture, LAYER's. */
uint32_t cost_of_region(const struct world *world, const struct farlands_grid *grid,
                        enum format format, int layer, int field);

/* Densities of BOX. Looks at the heights of a few places by SCRATCH, because volumes in the air are
 * cheap. Without a scratch each of them makes one of its own, which takes milliseconds. */
uint32_t cost_of_volume(const struct world *world, struct farlands_scratch *scratch,
                        const struct farlands_box *box);

/*
 * FIELD at COUNT places, one by one, each APART units from the one before it; INFINITY: far from
 * it. In a world of many fields, places between the same nodes of lattices cost less.
 */
uint32_t cost_of_points(const struct world *world, int field, uint64_t count, double apart);

/* The surface of a place whose height is known (terrain_surface): mostly what lies above it. */
uint32_t cost_of_surface(const struct world *world);

/* A place with its slope (surface_at, less cost_of_surface), its climate, and COUNT of its FIELDS.
 */
uint32_t cost_of_place(const struct world *world, const int *field, int count);

#endif
