#include "point_work.h"

#include <errno.h>

#include "noise/terrain/terrain.h"

void place_fields_add(struct place_fields *fields, int field, float *out)
{
    fields->field[fields->count] = field;
    fields->out[fields->count++] = out;
}

void place_fields_add_climate(struct place_fields *fields, const struct world *world,
                              float value[CLIMATE_FIELDS])
{
    const struct climate *climate = world_climate(world);
    if (!climate)
        return;
    place_fields_add(fields, climate->biome, &value[CLIMATE_BIOME]);
    if (climate->temperature >= 0)
        place_fields_add(fields, climate->temperature, &value[CLIMATE_TEMPERATURE]);
    if (climate->humidity >= 0)
        place_fields_add(fields, climate->humidity, &value[CLIMATE_HUMIDITY]);
}

void place_fields_add_water(struct place_fields *fields, const struct world *world,
                            float value[WATER_FIELDS])
{
    if (!world_water(world))
        return;
    place_fields_add(fields, world_water(world)->water, &value[WATER_LEVEL]);
    place_fields_add(fields, world_water(world)->river, &value[WATER_ORDER]);
}

/* Together, as far as evaluations take. */
int place_fields_compute(const struct place_fields *fields, const struct farlands_terrain *terrain,
                         struct render_scratch *scratch, const int64_t at[2])
{
    const struct farlands_grid grid = {at[0], at[1], 1, 1, 1, false};
    int err = 0;

    for (int i = 0; i < fields->count && !err; i += TERRAIN_MAX_FIELDS) {
        const int left = fields->count - i;
        err = terrain_fields(terrain, render_scratch_noise(scratch), &grid, &fields->field[i],
                             left < TERRAIN_MAX_FIELDS ? left : TERRAIN_MAX_FIELDS, &fields->out[i],
                             1);
    }
    if (!err && fields->surface)
        err = terrain_surface(terrain, render_scratch_noise(scratch), at[0], at[1],
                              *fields->surface, fields->surface);
    return err;
}

void points_send(struct request_context *context, const struct world *world, const char *type,
                 struct blob *body, enum coding coding, struct blob *packed)
{
    response_document(context, &(struct document){.type = type,
                                                  .body = body,
                                                  .packed = packed,
                                                  .coding = coding,
                                                  .cache_control = CACHE_SHORT,
                                                  .fingerprint = world->fingerprints.region});
}

int points_compute(const struct world *world, points_work *work, void *subject,
                   struct render_scratch *scratch, struct blob **out, void *turn)
{
    const struct farlands_terrain *terrain;
    int err = world_terrain_hold(world, &terrain);
    if (err)
        return err;
    err = work(subject, terrain, scratch, out, turn);
    world_terrain_release(world, terrain);
    return err;
}

void points_begin(struct service *service, struct request_context *context,
                  const struct world *world, const struct run_of *run,
                  struct streamed_job_spec *spec)
{
    spec->pieces = 1;
    spec->length = HTTP_LENGTH_UNKNOWN;
    spec->run = run_kind(world, run);
    if (spec->subject)
        streamed_job_begin(&service->jobs, spec, context, service->snapshot->config);
    else
        pending_respond_error(context, -ENOMEM);
}
