/* A tile's file: read whole and checked, written whole or not at all. Knows nothing of quotas. */
#ifndef FARLANDS_CACHE_TILE_FILE_H
#define FARLANDS_CACHE_TILE_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include "server/core/blob.h"

/* How files are read here; zeroed to begin with, atomic, learnt by trying. */
struct tile_reader {
    bool no_waitless; /* the system cannot open or read without waiting */
    bool atime;       /* files that are not ours: O_NOATIME is refused */
};

/*
 * The PNG of SIZE x SIZE pixels that is NAME below DIRECTORY: 0 and one reference in *OUT; -ENOENT;
 * -EILSEQ where it is torn, rotten or something else; or the error of reading it. With WAIT false
 * it never waits for the disk: -EAGAIN where it would have to. *TOUCH, -1 but with 0, is the open
 * file where it was last used long ago: touch and close it. Any thread.
 */
int tile_file_read(struct blob **out, struct tile_reader *reader, int directory, const char *name,
                   uint32_t size, bool wait, int *touch);

/* Write PNG as the new file NAME. Returns 0 or a negative code; on error it is not there. */
int tile_file_write(int directory, const char *name, const struct blob *png);

#endif
