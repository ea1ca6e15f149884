#include "run_kind.h"

#include <math.h>
#include <xxhash.h>

struct run_kind run_kind(const struct world *world, const struct run_of *of)
{
    const int64_t family[] = {of->run, of->layer, of->size};
    const int64_t kind[] = {of->field, of->format, of->coding, of->spacing};
    const uint64_t hash = XXH64(family, sizeof family, 1);

    /* Worlds that differ only in the seed have the same parameters. */
    return (struct run_kind){
        .kind = XXH64(kind, sizeof kind, hash ^ (uint64_t)(uintptr_t)world->parameters),
        .family = hash,
    };
}

struct run_kind run_kind_of_tile(const struct tile_address *tile)
{
    return run_kind(tile->world, &(struct run_of){.run = RUN_TILE,
                                                  .layer = tile->layer,
                                                  .size = ilogb((double)tile_size(tile)),
                                                  .field = tile->field,
                                                  .format = (int)tile->format,
                                                  .coding = (int)tile->coding,
                                                  .spacing = -tile->z});
}
