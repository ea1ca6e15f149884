/*
 * The directories of a PMTiles archive: which tile is where. They are compressed. A reader gets the
 * root in its first request, so the root must end within the archive's first 16 KiB; if there are
 * too many tiles for that, the root lists leaves, which list the tiles.
 */
#ifndef FARLANDS_PRERENDER_PMTILES_DIRECTORIES_H
#define FARLANDS_PRERENDER_PMTILES_DIRECTORIES_H

#include "server/core/blob.h"

/* RUN tiles from ID on with the same LENGTH bytes at OFFSET. */
struct pmtiles_entry {
    uint64_t id, offset;
    uint32_t run, length;
};

struct pmtiles_directories {
    struct blob *root, *leaves; /* LEAVES may be NULL */
};

/* The directories of COUNT ENTRIES, in the order of their ids, if the root begins at OFFSET: with
 * the smallest leaves of which the root has room for all. Returns 0, or -ENOMEM, with nothing in
 * OUT. */
int pmtiles_directories_make(struct pmtiles_directories *out, const struct pmtiles_entry *entries,
                             size_t count, size_t offset);

/* Free both. Nothing is in DIRECTORIES then. */
void pmtiles_directories_free(struct pmtiles_directories *directories);

#endif
