/* Describes a tile plan as the metadata of an archive. Pure. */
#ifndef FARLANDS_PRERENDER_ARCHIVE_METADATA_H
#define FARLANDS_PRERENDER_ARCHIVE_METADATA_H

#include "server/prerender/tile_plan.h"
#include "server/prerender/tileset.h"

struct archive_metadata {
    char name[WORLD_SEEDED_NAME_MAX + LAYER_NAME_MAX + 8];
    char attribution[WORLD_SEEDED_NAME_MAX + 32];
    char description[WORLD_SEEDED_NAME_MAX + LAYER_NAME_MAX + WORLD_ABOUT_MAX + 64];
    struct tileset tileset; /* points to the texts above and into the plan's world */
};

/*
 * Returns 0; -EINVAL with a message in WHY if the plan does not fit one archive: one layer of one
 * world at one scale in one format, with all tiles in 0 <= x, y < 2^z and zooms from 0 to
 * TILESET_ZOOM_MAX.
 */
int archive_metadata_of(struct archive_metadata *out, const struct tile_plan *plan,
                        char why[TILE_PLAN_WHY]);

#endif
