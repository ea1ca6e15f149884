/* A drainage_source (noise/drainage/drainage.h) whose inputs are functions of the place. */
#ifndef FARLANDS_TESTS_DRAINAGE_SOURCE_H
#define FARLANDS_TESTS_DRAINAGE_SOURCE_H

#include "noise/drainage/drainage.h"
#include "noise/farlands.h"

/* INPUT of LAND at a place in units. */
typedef double input_value(const void *land, int64_t x, int64_t y, enum drainage_input input);

/* Write the inputs that are asked for over GRID; returns the number of values. */
static inline int64_t sample_inputs(input_value *value, const void *land,
                                    const struct farlands_grid *grid,
                                    float *const out[DRAINAGE_INPUTS])
{
    int64_t count = 0;
    for (enum drainage_input in = 0; in < DRAINAGE_INPUTS; in++)
        for (int k = 0; out[in] && k < grid->width * grid->height; k++, count++)
            out[in][k] = (float)value(land, grid->x + k % grid->width * grid->step,
                                      grid->y + k / grid->width * grid->step, in);
    return count;
}

/* A drainage with a cache of its own; NULL: no memory. */
static inline struct drainage *drainage_alone(const struct drainage_params *params,
                                              drainage_source *source, void *context)
{
    struct drainage_cache *cache;
    struct drainage *drainage;
    if (drainage_cache_new(&cache, 1))
        return NULL;
    const int err = drainage_new(&drainage, params, source, context, cache, 1, 1);
    drainage_cache_free(cache);
    return err ? NULL : drainage;
}

#endif
