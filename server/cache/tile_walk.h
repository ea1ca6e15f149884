/*
 * Depth-first walk over a disk cache's own files:
 * {fingerprint}/{layer}/{z}/{x}/{y}[@2x][+border].{png,webp}, and temporary files. Ignores other
 * names, and doesn't follow symbolic links. Memory use doesn't depend on the number of files.
 */
#ifndef FARLANDS_CACHE_TILE_WALK_H
#define FARLANDS_CACHE_TILE_WALK_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "server/world/world.h"

/* A temporary file lies directly in the cache's directory. Its name is PREFIX, 16 hex digits that
 * identify the process (quota_nonce), "-", a number. */
#define TEMPORARY_PREFIX ".new-"

/* A directory during the walk: NAME in the directory PARENT. */
struct walk_directory {
    int parent, fd; /* FD is closed before leave is called */
    const char *name;
    uint64_t size;    /* st_size, for leave */
    uint64_t entries; /* the cache's own, when the directory was read */
    uint64_t left;    /* of ENTRIES, not deleted by callbacks */
};

/* Callbacks, called on the walking thread with CONTEXT. */
struct walk {
    /* Called for each entry. False cancels the walk. */
    bool (*go_on)(void *context);
    /* A temporary file NAME in DIRECTORY. */
    void (*temporary)(void *context, int directory, const char *name, const struct stat *status);
    /* Called before entering FINGERPRINT's directory. NULL: no directory is entered. */
    void (*fingerprint)(void *context, const char *fingerprint);
    /* A tile's file. Returns true if the callback has deleted it. */
    bool (*tile)(void *context, const struct walk_directory *directory, const char *name,
                 const struct stat *status);
    /* A directory has been read to its end. Returns true if the callback has deleted it. */
    bool (*leave)(void *context, const struct walk_directory *directory);
    void *context;
};

/*
 * Walk the cache's directory FD. Entries that vanish during the walk, and directories that may not
 * be read, are skipped. Returns 0; -ECANCELED if go_on returned false; or -EIO, -EMFILE, ... if a
 * directory could not be read to its end.
 */
int tile_walk(int fd, const struct walk *walk);

/* True if NAME may be a fingerprint: 16 lower-case hex digits. */
bool tile_walk_is_fingerprint(const char *name);

/* True if NAME begins like a temporary file's. */
bool tile_walk_is_temporary(const char *name);

#endif
