/*
 * Goes through all that a disk cache put into its folder, and through nothing
 * else: {fingerprint}/{layer}/{z}/{x}/{y}[@2x].png, and temporaries. Other names are not even
 * looked at, links are not followed. Memory does not depend on how much there is.
 */
#ifndef FARLANDS_CACHE_TILE_WALK_H
#define FARLANDS_CACHE_TILE_WALK_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "server/world/world.h"

#define TEMPORARY_PREFIX ".new-"

/* A folder being gone through. */
struct walk_folder {
    int parent, fd; /* itself, and where NAME is it */
    const char *name;
    uint64_t size;                      /* as the file system has it */
    uint64_t entries;                   /* of ours, when it was entered */
    uint64_t left;                      /* of those, after the visits */
    char fingerprint[FINGERPRINT_TEXT]; /* that it belongs to */
};

struct walk {
    /* False: stop now. */
    bool (*go_on)(void *context);
    /* A temporary in the top folder. */
    void (*temporary)(void *context, int directory, const char *name, const struct stat *status);
    /* A fingerprint's folder: whether to go in. */
    bool (*fingerprint)(void *context, const char *fingerprint);
    /* A tile's file. True where it has been deleted. */
    bool (*tile)(void *context, const struct walk_folder *directory, const char *name,
                 const struct stat *status);
    /* A folder has been gone through. True where it has been deleted, which it may be if nothing is
     * left. */
    bool (*leave)(void *context, const struct walk_folder *directory);
    void *context;
};

/*
 * Walk below the folder FD. Returns 0; -ECANCELED where it was stopped; or why not everything
 * could be seen: -EIO, -EMFILE, ... What vanishes meanwhile or may not be read is passed over.
 */
int tile_walk(int fd, const struct walk *walk);

/* The same with temporaries alone: the top folder is read, no other. */
int tile_walk_top(int fd, const struct walk *walk);

#endif
