#include "archive_metadata.h"

#include <errno.h>
#include <stdio.h>

static int check_part(const struct tile_part *part, const struct tile_part *first,
                      char why[TILE_PLAN_WHY])
{
    if (part->world != first->world || part->layer != first->layer || part->scale != first->scale) {
        snprintf(why, TILE_PLAN_WHY,
                 "--export: an archive takes one layer of one world, in one scale; not %s/%s%s and "
                 "%s/%s%s",
                 first->world->config.name, layers[first->layer].name,
                 first->scale == 2 ? " @2x" : "", part->world->config.name,
                 layers[part->layer].name, part->scale == 2 ? " @2x" : "");
        return -EINVAL;
    }
    if (part->z < 0 || part->z > MBTILES_ZOOM_MAX) {
        snprintf(why, TILE_PLAN_WHY, "--export: an archive takes the zooms 0 to %d, not %d",
                 MBTILES_ZOOM_MAX, part->z);
        return -EINVAL;
    }
    const int64_t side = INT64_C(1) << part->z;
    if (part->x < 0 || part->y < 0 || part->x + part->width > side ||
        part->y + part->height > side) {
        snprintf(why, TILE_PLAN_WHY,
                 "--export: an archive takes the window of web maps, 0 <= x, y < 2^z, which the "
                 "tiles of zoom %d leave; without --bbox they are all of it",
                 part->z);
        return -EINVAL;
    }
    return 0;
}

/* The tiles of the last zoom tell best what is covered. */
int plan_archive(struct archive_metadata *out, const struct tile_plan *plan,
                 char why[TILE_PLAN_WHY])
{
    const struct tile_part *first = &plan->part[0], *last = &plan->part[plan->part_count - 1];
    const struct layer *layer = &layers[first->layer];
    const char *world = first->world->config.name;

    for (size_t i = 0; i < plan->part_count; i++)
        if (check_part(&plan->part[i], first, why))
            return -EINVAL;
    snprintf(out->name, sizeof out->name, "%s %s%s", world, layer->name,
             first->scale == 2 ? " @2x" : "");
    snprintf(out->description, sizeof out->description,
             "Layer %s of the world %s, an endless seeded terrain", layer->name, world);
    out->about = (struct mbtiles_about){
        .name = out->name,
        .description = out->description,
        .zoom_min = first->z,
        .zoom_max = last->z,
        .version = FARLANDS_GENERATOR,
        .fingerprint = first->world->fingerprint,
        .encoding = layer->encoding,
    };
    mbtiles_window(&out->about, last->z, last->x, last->y, last->x + last->width,
                   last->y + last->height);
    return 0;
}
