/* A tile's file: read and verified as a whole, written as a whole or not at all. Knows no quota. */
#ifndef FARLANDS_CACHE_TILE_FILE_H
#define FARLANDS_CACHE_TILE_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include "server/core/blob.h"

/* Features that the system lacks, as found by trying. Zero-initialize it; members are atomic. */
struct tile_reader {
    bool no_nowait;  /* it cannot open or read without waiting */
    bool no_noatime; /* it refuses O_NOATIME: the files belong to another user */
};

/*
 * Read NAME below DIRECTORY, the picture, PNG or WebP, of the tile with the key NAME. Returns 0 and
 * one reference in *OUT; -ENOENT; -EILSEQ if it is damaged or something else, also another tile; or
 * the error of reading it. If WAIT is false it never waits for the disk: -EAGAIN if it would have
 * to. *TOUCH is -1, or, if the file was last used long ago, its descriptor: the caller sets the
 * file's times and closes it. Any thread.
 */
int tile_file_read(struct blob **out, struct tile_reader *reader, int directory, const char *name,
                   bool wait, int *touch);

/* Write PNG as the new file NAME. Returns 0, -EEXIST or another negative code; on error no file is
 * left behind. Any thread. */
int tile_file_write(int directory, const char *name, const struct blob *png);

#endif
