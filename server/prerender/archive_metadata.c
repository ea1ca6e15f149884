#include "archive_metadata.h"

#include <errno.h>
#include <stdio.h>

#include "config/world/world_terrain.h"

static const char *scale_suffix(int scale)
{
    return scale == 2 ? " @2x" : "";
}

static int check_part(const struct tile_part *part, const struct tile_part *first,
                      char why[TILE_PLAN_WHY])
{
    const int64_t side = INT64_C(1) << (part->z < 0 ? 0 : part->z);
    char one[LAYER_NAME_MAX], other[LAYER_NAME_MAX];

    if (part->world != first->world || part->layer != first->layer || part->field != first->field ||
        part->scale != first->scale)
        snprintf(why, TILE_PLAN_WHY,
                 "--export: expected one layer of one world at one scale, not both %s/%s%s and "
                 "%s/%s%s",
                 first->world->name, layer_name(first->world, first->layer, first->field, one),
                 scale_suffix(first->scale), part->world->name,
                 layer_name(part->world, part->layer, part->field, other),
                 scale_suffix(part->scale));
    else if (part->format != first->format)
        snprintf(why, TILE_PLAN_WHY, "--export: expected tiles of one format, not both %s and %s",
                 format_extension(first->format), format_extension(part->format));
    else if (part->border)
        snprintf(why, TILE_PLAN_WHY, "--export: expected tiles without border=1");
    else if (part->z < 0 || part->z > TILESET_ZOOM_MAX)
        snprintf(why, TILE_PLAN_WHY, "--export: expected zooms from 0 to %d, not %d",
                 TILESET_ZOOM_MAX, part->z);
    else if (part->x < 0 || part->y < 0 || part->x + part->width > side ||
             part->y + part->height > side)
        snprintf(why, TILE_PLAN_WHY,
                 "--export: expected tiles with 0 <= x, y < 2^z; zoom %d has others (without "
                 "--bbox all tiles fit)",
                 part->z);
    else
        return 0;
    return -EINVAL;
}

int archive_metadata_of(struct archive_metadata *out, const struct tile_plan *plan,
                        char why[TILE_PLAN_WHY])
{
    const struct tile_part *first = &plan->part[0], *last = &plan->part[plan->part_count - 1];
    const struct layer *layer = &layers[first->layer];
    const char *world = first->world->name, *about = first->world->config->about;
    char name[LAYER_NAME_MAX];

    for (size_t i = 0; i < plan->part_count; i++)
        if (check_part(&plan->part[i], first, why))
            return -EINVAL;
    layer_name(first->world, first->layer, first->field, name);
    snprintf(out->name, sizeof out->name, "%s %s%s", world, name, scale_suffix(first->scale));
    snprintf(out->description, sizeof out->description,
             "Layer %s of the world %s, an endless seeded terrain%s%s", name, world,
             about[0] ? ": " : "", about);
    snprintf(out->attribution, sizeof out->attribution, "Farlands, world %s", world);
    out->tileset = (struct tileset){
        .name = out->name,
        .description = out->description,
        .zoom_min = first->z,
        .zoom_max = last->z,
        .version = world_config_generator(first->world->config),
        .format = format_extension(first->format),
        .fingerprint = first->world->fingerprints.tile[tile_kind(first->layer, first->format)],
        .encoding = layer->encoding,
        .attribution = out->attribution,
        .tile_size = TILE_SIZE * first->scale,
    };
    /* The last zoom has the tightest bounds. */
    tileset_set_bounds(&out->tileset, last->z, last->x, last->y, last->x + last->width,
                       last->y + last->height);
    return 0;
}
