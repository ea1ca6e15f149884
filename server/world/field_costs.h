/*
 * What the fields of a graph cost on this machine. The library estimates the times of a fixed
 * machine (noise/estimate.h); here are the factors from that machine to this one, measured at
 * start, and tables of estimates, so that a request's cost is known in a fraction of a microsecond.
 */
#ifndef FARLANDS_WORLD_FIELD_COSTS_H
#define FARLANDS_WORLD_FIELD_COSTS_H

#include "noise/estimate.h"

/* Times on this machine, divided by those of the fixed machine. */
struct field_rates {
    double factor[ESTIMATE_CLASSES];
};

/* Measure RATES, which takes a few milliseconds. Returns 0, -ENOMEM, or -EINVAL if the kernel that
 * the environment asks for does not exist. */
int field_rates_measure(struct field_rates *rates);

double field_rates_ns(const struct field_rates *rates, const struct estimate *estimate);

/*
 * A table for all fields of a terrain, and of the terrains that differ from it in the seed. Entries
 * are made when they are first asked for: some 100 us for each field and power of two of the step.
 * Any thread.
 */
struct field_costs;

/* The table refers to RATES. Returns NULL if out of memory. */
struct field_costs *field_costs_new(const struct farlands_terrain *terrain,
                                    const struct field_rates *rates);
void field_costs_free(struct field_costs *costs);

/* The time in ns that FIELD of TERRAIN, for which COSTS is, takes over GRID. */
double field_costs_of_grid(struct field_costs *costs, const struct farlands_terrain *terrain,
                           int field, const struct farlands_grid *grid);

/* The time in ns of FIELD at a place APART units from the one before it. */
double field_costs_of_place(struct field_costs *costs, const struct farlands_terrain *terrain,
                            int field, double apart);

#endif
