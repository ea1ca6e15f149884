/*
 * The compressed directories of a PMTiles archive, which say where each tile is. A reader's first
 * request gets the root, so the root must end within the archive's first 16 KiB. If there are too
 * many tiles for that, the root lists leaves, which list the tiles.
 */
#ifndef FARLANDS_PRERENDER_PMTILES_DIRECTORIES_H
#define FARLANDS_PRERENDER_PMTILES_DIRECTORIES_H

#include "server/core/blob.h"

/* RUN tiles from ID on have the same LENGTH bytes, at OFFSET. */
struct pmtiles_entry {
    uint64_t id, offset;
    uint32_t run, length;
};

struct pmtiles_directories {
    struct blob *root, *leaves; /* LEAVES: NULL if there are none */
};

/* Make the directories of COUNT ENTRIES, at least one, sorted by id; the root will be at OFFSET.
 * The leaves are as small as the root's size allows. Returns 0; or -ENOMEM, with nothing in OUT. */
int pmtiles_directories_make(struct pmtiles_directories *out, const struct pmtiles_entry *entries,
                             size_t count, size_t offset);

/* Free both and set them to NULL. */
void pmtiles_directories_free(struct pmtiles_directories *directories);

#endif
