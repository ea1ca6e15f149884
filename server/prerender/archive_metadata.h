/* A plan as an archive can hold it, and what the archive says of itself. Pure. */
#ifndef FARLANDS_PRERENDER_ARCHIVE_METADATA_H
#define FARLANDS_PRERENDER_ARCHIVE_METADATA_H

#include "server/prerender/mbtiles.h"
#include "server/prerender/tile_plan.h"

struct archive_metadata {
    char name[WORLD_SEEDED_NAME_MAX + 64], description[WORLD_SEEDED_NAME_MAX + 128];
    struct mbtiles_about about; /* points to those, and to the plan's world */
};

/* Returns 0; -EINVAL with what is wrong, and what is accepted, in WHY: an archive has one layer of
 * one world and no tiles outside the window of web maps. */
int plan_archive(struct archive_metadata *out, const struct tile_plan *plan,
                 char why[TILE_PLAN_WHY]);

#endif
