/* Describes a tile plan in an archive's metadata. Pure. */
#ifndef FARLANDS_PRERENDER_ARCHIVE_METADATA_H
#define FARLANDS_PRERENDER_ARCHIVE_METADATA_H

#include "server/prerender/tile_plan.h"
#include "server/prerender/tileset.h"

struct archive_metadata {
    char name[WORLD_SEEDED_NAME_MAX + LAYER_NAME_MAX + 8];
    char attribution[WORLD_SEEDED_NAME_MAX + 32];
    char description[WORLD_SEEDED_NAME_MAX + LAYER_NAME_MAX + WORLD_ABOUT_MAX + 64];
    struct tileset tileset; /* points to these texts and into the plan's world */
};

/*
 * Returns 0; -EINVAL with a message in WHY if the plan does not fit one archive. An archive takes
 * one layer of one world at one scale in one format, zooms from 0 to TILESET_ZOOM_MAX, and only
 * tiles with 0 <= x, y < 2^z.
 */
int archive_metadata_of(struct archive_metadata *out, const struct tile_plan *plan,
                        char why[TILE_PLAN_WHY]);

#endif
