/*
 * How fast this machine is: nanoseconds for each kind of work, measured at start with the kernel in
 * use. Worlds of one kind (basis, hash, fractal, warp, period, length of the elevation curve) share
 * their rates, so that a thousand worlds are measured as quickly as a few.
 */
#ifndef FARLANDS_WORLD_COST_RATES_H
#define FARLANDS_WORLD_COST_RATES_H

#include "server/world/field_costs.h"
#include "server/world/layer_rates.h"
#include "server/world/work.h"

struct cost_rates {
    double ns[WORK_KINDS];
    const struct layer_rates *layers; /* by index */
};

/* The rates of a set of worlds. One thread, until the last call of cost_table_add. */
struct cost_table;

/* With the rates that KNOWN has, or, if that is NULL, those of the layers, which are measured: that
 * takes some ten milliseconds. That of WEBP is measured again, in half a millisecond, if it is not
 * what the table has. Returns 0 or -ENOMEM. */
int cost_table_new(struct cost_table **out, const struct cost_table *known,
                   const struct webp_config *webp);
/* The rates of fields; the table's. Those of KNOWN, or else measured by the first call, which takes
 * a few milliseconds. Returns NULL if that is not possible. */
const struct field_rates *cost_table_fields(struct cost_table *table);

void cost_table_free(struct cost_table *table);

/* The rates for PARAMS, which are valid; the table's. A kind that the table does not have yet is
 * measured, which takes about a millisecond. Returns NULL if out of memory. */
const struct cost_rates *cost_table_add(struct cost_table *table,
                                        const struct farlands_params *params);

#endif
